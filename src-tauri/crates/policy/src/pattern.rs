//! Patterns of rules: paths by glob or folder, commands by words. Deny reads them broadly, allow narrowly.

use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};

/// A path pattern, ready to match.
#[derive(Debug, Clone)]
pub struct PathPattern {
    glob: Glob,
    /// Made when it is first needed: that is the dear part, and rules are read with every run.
    matcher: OnceLock<GlobMatcher>,
    /// `src` and `src/` also mean everything below.
    below: Option<String>,
}

impl PathPattern {
    /// Reads a pattern; the error is one sentence.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let bare = pattern.trim_end_matches('/');
        let glob = GlobBuilder::new(bare)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| format!("the pattern `{pattern}` is not a glob: {}", error.kind()))?;
        let is_literal = !bare.contains(['*', '?', '[', '{']);
        Ok(Self {
            glob,
            matcher: OnceLock::new(),
            below: is_literal.then(|| format!("{bare}/")),
        })
    }

    fn matcher(&self) -> &GlobMatcher {
        self.matcher.get_or_init(|| self.glob.compile_matcher())
    }

    /// Whether it matches from the root of the workspace on.
    pub fn matches_anchored(&self, path: &str) -> bool {
        self.matcher().is_match(path)
            || self
                .below
                .as_ref()
                .is_some_and(|below| path.starts_with(below))
    }

    /// Whether it matches at any depth: what a deny means.
    pub fn matches_anywhere(&self, path: &str) -> bool {
        std::iter::once(path)
            .chain(path.match_indices('/').map(|(at, _)| &path[at + 1..]))
            .any(|tail| self.matches_anchored(tail))
            // A deny on something below a folder also holds for the folder: taking the folder takes it along.
            || self.matcher().is_match(format!("{path}/."))
    }
}

/// A command pattern, ready to match: words, of which the last may end in `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    words: Vec<String>,
    open: bool,
}

impl CommandPattern {
    /// Reads a pattern. `git status*` and `git status *` mean: these words, then the end or more words.
    pub fn new(pattern: &str) -> Self {
        let trimmed = pattern.trim();
        let (fixed, open) = match trimmed.strip_suffix('*') {
            Some(fixed) => (fixed, true),
            None => (trimmed, false),
        };
        Self {
            words: fixed.split_whitespace().map(str::to_owned).collect(),
            open,
        }
    }

    /// Whether the words of one simple command fit. `*` as a whole word within the pattern stands for any one word.
    pub fn matches(&self, words: &[String]) -> bool {
        let fits = |(mine, theirs): (&String, &String)| mine == "*" || mine == theirs;
        words.len() >= self.words.len()
            && (self.open || words.len() == self.words.len())
            && self.words.iter().zip(words).all(fits)
    }
}

/// How many characters stand before the first wildcard: how specific a pattern is.
pub fn literal_prefix_chars(pattern: &str) -> usize {
    pattern
        .chars()
        .take_while(|c| !matches!(c, '*' | '?' | '[' | '{'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn commands() {
        for (pattern, command, fits) in [
            ("ls*", "ls", true),
            ("ls*", "ls -l", true),
            ("ls*", "lsof", false),
            ("git status*", "git status -s", true),
            ("git status*", "git stash", false),
            ("git status", "git status -s", false),
            ("git * main", "git push main", true),
            ("*", "anything at all", true),
        ] {
            assert_eq!(
                CommandPattern::new(pattern).matches(&words(command)),
                fits,
                "{pattern} on {command}"
            );
        }
    }

    #[test]
    fn paths() {
        for (pattern, path, anchored, anywhere) in [
            ("src/**", "src/a/b.rs", true, true),
            ("src", "src/a/b.rs", true, true),
            ("src", "srcs/a.rs", false, false),
            ("*.rs", "a.rs", true, true),
            ("*.rs", "src/a.rs", false, true),
            (".env", "deep/down/.env", false, true),
            (".env*", ".env.local", true, true),
            ("secrets/**", "secrets", false, true),
            ("secrets/**", "a/secrets/key", false, true),
        ] {
            let read = PathPattern::new(pattern).unwrap();
            assert_eq!(
                read.matches_anchored(path),
                anchored,
                "anchored {pattern} on {path}"
            );
            assert_eq!(
                read.matches_anywhere(path),
                anywhere,
                "anywhere {pattern} on {path}"
            );
        }
    }
}
