//! A path pattern: a glob, or a folder with everything below it.

use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

use super::command::expand_braces;
use super::overlap::may_overlap;
use crate::path::{CaseFolded, Os};

/// A path pattern, ready to match.
#[derive(Debug, Clone)]
pub struct PathPattern {
    os: Os,
    /// The pattern as it is matched: without `./` and a slash at its end.
    bare: String,
    glob: Glob,
    /// Compiled when first needed: compiling is expensive, and rules are read with every run.
    narrow: OnceLock<GlobMatcher>,
    broad: OnceLock<Option<GlobSet>>,
    /// The literal beginning, case-folded: a path without it cannot match.
    start: String,
    /// Whether the pattern names a home folder, `~/x`; then `bare` is the rest, wherever the home folder lies.
    is_home: bool,
    is_literal: bool,
}

/// A path in the forms that patterns are matched with.
#[derive(Debug, Clone, Copy)]
pub struct PathForms<'a> {
    /// Inside the workspace relative to its root, else absolute.
    pub real: &'a str,
    /// The root of the workspace, absolute, if it is known.
    pub root: Option<&'a str>,
    /// Whether `real` is inside.
    pub inside: bool,
}

impl PathPattern {
    /// Reads a pattern; the error is one sentence.
    pub fn new(pattern: &str, os: Os) -> Result<Self, String> {
        let slashed = match os {
            Os::Windows => pattern.replace('\\', "/"),
            Os::Linux | Os::Macos => pattern.to_owned(),
        };
        let mut bare = slashed.as_str();
        bare = bare.strip_prefix("{workspace}/").unwrap_or(bare);
        while let Some(rest) = bare.strip_prefix("./") {
            bare = rest;
        }
        let is_home = bare.starts_with("~/") || bare.starts_with("$HOME/");
        if is_home {
            bare = bare.split_once('/').map_or(bare, |(_, rest)| rest);
        }
        let bare = match bare.trim_end_matches('/') {
            "" | "." if pattern.starts_with('/') => "/",
            "" | "." | "{workspace}" => "**",
            trimmed => trimmed,
        };
        let glob = build_glob(bare)
            .map_err(|what| format!("the pattern `{pattern}` is not a glob: {what}"))?;
        let literal = bare.split(['*', '?', '[', '{', '\\']).next();
        Ok(Self {
            os,
            glob,
            narrow: OnceLock::new(),
            broad: OnceLock::new(),
            start: CaseFolded::new(os, literal.unwrap_or_default())
                .as_str()
                .trim_matches('/')
                .to_owned(),
            is_home,
            is_literal: !bare.contains(['*', '?', '[', '{', '\\']),
            bare: bare.to_owned(),
        })
    }

    /// Compiles the globs at once, for a pattern that is shared.
    pub fn compile(&self) {
        self.broad.get_or_init(|| self.compile_broad());
    }

    /// Whether an allow with this pattern matches: from the root of the workspace on, in exactly this spelling. An
    /// absolute pattern is matched with the absolute path.
    pub fn allows(&self, forms: &PathForms<'_>) -> bool {
        if self.is_home || !forms.inside {
            return false;
        }
        match (is_absolute(&self.bare), forms.root) {
            (false, _) => self.matches_exactly(forms.real),
            // A path in a granted folder beside the workspace has no other name.
            (true, _) if is_absolute(forms.real) => self.matches_exactly(forms.real),
            (true, Some(root)) => self.matches_exactly(&join_root(root, forms.real)),
            (true, None) => false,
        }
    }

    /// Whether an allow with this pattern matches a path outside the workspace: only an absolute pattern, in exactly
    /// this spelling.
    pub fn allows_outside(&self, real: &str) -> bool {
        !self.is_home && is_absolute(&self.bare) && is_absolute(real) && self.matches_exactly(real)
    }

    fn matches_exactly(&self, path: &str) -> bool {
        if self.is_literal {
            return path
                .strip_prefix(self.bare.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        }
        if self.os == Os::Linux && !path.starts_with(self.exact_start()) {
            return false;
        }
        self.narrow
            .get_or_init(|| self.glob.compile_matcher())
            .is_match(path)
    }

    fn exact_start(&self) -> &str {
        self.bare
            .split(['*', '?', '[', '{', '\\'])
            .next()
            .unwrap_or_default()
    }

    /// Whether a deny with this pattern matches: at any depth, in any spelling that the system takes for the same path,
    /// with everything below a match.
    pub fn covers(&self, forms: &PathForms<'_>) -> bool {
        let real = CaseFolded::new(self.os, forms.real);
        if self.covers_path(real.as_str()) {
            return true;
        }
        let absolute = forms
            .root
            .filter(|_| forms.inside && is_absolute(&self.bare));
        absolute.is_some_and(|root| {
            self.covers_path(CaseFolded::new(self.os, &join_root(root, forms.real)).as_str())
        })
    }

    fn covers_path(&self, path: &str) -> bool {
        if !self.start.is_empty() && !path.contains(&self.start) {
            return false;
        }
        let path = path.trim_start_matches('/');
        let Some(broad) = self.broad.get_or_init(|| self.compile_broad()) else {
            // A pattern that is too large to be read broadly stands for everything.
            return true;
        };
        // A deny on something below a folder also holds for the folder: taking the folder takes it along.
        broad.is_match(path) || broad.is_match(format!("{path}/."))
    }

    /// Whether a word that the shell completes may come to name a path that the pattern covers.
    pub(crate) fn may_overlap(&self, word: &str) -> bool {
        let word = CaseFolded::new(self.os, word);
        let bare = CaseFolded::new(self.os, &self.bare);
        expand_braces(bare.as_str())
            .iter()
            .any(|pattern| may_overlap(word.as_str(), pattern))
    }

    /// Whether a path that a deny with this pattern covers may lie below a folder. A deny holds at any depth, so a
    /// relative pattern may cover a path below any folder; a home folder is not in a workspace.
    pub fn may_cover_below(&self, forms: &PathForms<'_>) -> bool {
        match is_absolute(&self.bare) {
            false => !self.is_home,
            true if is_absolute(forms.real) => self.passes_through(forms.real),
            true => forms
                .root
                .is_none_or(|root| self.passes_through(&join_root(root, forms.real))),
        }
    }

    /// Whether the literal beginning of an absolute pattern leads into or through a folder, or the folder lies in it.
    fn passes_through(&self, folder: &str) -> bool {
        let folder = CaseFolded::new(self.os, folder);
        // The last name of the beginning may be a part of one.
        let start = match (self.is_literal, self.exact_start().rsplit_once('/')) {
            (false, Some((whole, _))) => whole,
            _ => self.exact_start(),
        };
        let start = CaseFolded::new(self.os, start);
        let names = |text: &str| {
            let names = text.split('/').filter(|name| !name.is_empty());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        let (folder, start) = (names(folder.as_str()), names(start.as_str()));
        folder.iter().zip(&start).all(|(a, b)| a == b)
    }

    fn compile_broad(&self) -> Option<GlobSet> {
        let mut set = GlobSetBuilder::new();
        for form in self.broad_globs()? {
            set.add(form);
        }
        set.build().ok()
    }

    /// Globs that [`PathPattern::covers`] matches against a path without its leading slash, and against the same path
    /// with `/.` appended; none if the pattern is too large for globs and matches everything.
    pub(crate) fn broad_globs(&self) -> Option<[Glob; 2]> {
        let folded = CaseFolded::new(self.os, self.bare.trim_start_matches('/'));
        let bare = folded.as_str();
        let form = |glob: String| build_glob(&glob).ok();
        Some([form(format!("**/{bare}"))?, form(format!("**/{bare}/**"))?])
    }

    /// Whether the pattern begins at a root, and not in the workspace.
    pub(crate) fn is_absolute(&self) -> bool {
        is_absolute(&self.bare)
    }

    /// The system whose path rules apply.
    pub(crate) fn os(&self) -> Os {
        self.os
    }

    /// Whether a path that the pattern covers may lie below a folder that is to be removed: its literal beginning leads
    /// through the folder.
    pub fn may_cover_in_removed(&self, forms: &PathForms<'_>) -> bool {
        if forms.real.is_empty() {
            return forms.inside;
        }
        let real = CaseFolded::new(self.os, forms.real);
        let path: Vec<&str> = real.as_str().split('/').collect();
        let names = self.leading_names();
        let start: Vec<&str> = names.iter().map(String::as_str).collect();
        (1..=start.len()).any(|count| path.ends_with(&start[..count]))
    }

    /// The folded names with which the pattern begins, as far as they are whole.
    pub(crate) fn leading_names(&self) -> Vec<String> {
        let folded = CaseFolded::new(self.os, self.exact_start().trim_start_matches('/'));
        let mut names: Vec<String> = folded.as_str().split('/').map(str::to_owned).collect();
        // The last name may be a part of one, unless nothing is left open.
        if !self.is_literal {
            names.pop();
        }
        names
    }

    /// Whether this pattern is itself about what another one covers: `.env.local` is about `.env.*`, `**` is not.
    pub fn targets_paths_of(&self, other: &Self) -> bool {
        let spelled = self.bare.trim_start_matches("**/").replace(['*', '?'], "_");
        let named = spelled.chars().any(char::is_alphanumeric);
        named
            && other.covers(&PathForms {
                real: &spelled,
                root: None,
                inside: true,
            })
    }
}

fn build_glob(glob: &str) -> Result<Glob, String> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map_err(|error| error.kind().to_string())
}

/// Whether a path begins at a root, and not in the workspace.
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_drive(path)
}

fn is_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
}

pub(crate) fn join_root(root: &str, real: &str) -> String {
    let root = root.replace('\\', "/");
    match real.is_empty() {
        true => root,
        false => format!("{}/{real}", root.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(real: &str) -> PathForms<'_> {
        PathForms {
            real,
            root: Some("/home/me/project"),
            inside: !real.starts_with('/'),
        }
    }

    #[test]
    fn s002_80_paths_by_glob() {
        for (pattern, path, allows, covers) in [
            ("src/**", "src/a/b.rs", true, true),
            ("./src/**", "src/a/b.rs", true, true),
            ("src", "src/a/b.rs", true, true),
            ("src/", "src/a/b.rs", true, true),
            ("src", "srcs/a.rs", false, false),
            ("src/**", "srcs/a.rs", false, false),
            ("src/**", "lib/src/a.rs", false, true),
            ("*.rs", "a.rs", true, true),
            ("*.rs", "src/a.rs", false, true),
            ("**/*.rs", "src/a.rs", true, true),
            ("**/*.rs", "a.rs", true, true),
            (".env", "deep/down/.env", false, true),
            (".env*", ".env.local", true, true),
            ("secret*", "secrets/key", false, true),
            ("secrets/**", "secrets", false, true),
            ("secrets/**", "a/secrets/key", false, true),
            ("logs/*.txt", "logs/a/b.txt", false, false),
            ("/home/me/project/src/**", "src/a", true, true),
            ("/home/me/project/secret", "secret/a", true, true),
            ("/etc/**", "/etc/passwd", false, true),
            ("/etc/**", "etc/passwd", false, true),
            ("~/.ssh/**", ".ssh/id", false, true),
            ("~/.ssh/**", "~/.ssh/id", false, true),
            ("**", "a/b", true, true),
            ("{a,b}/*.c", "b/x.c", true, true),
        ] {
            let read = PathPattern::new(pattern, Os::Linux).unwrap();
            assert_eq!(read.allows(&at(path)), allows, "{pattern} allows {path}");
            assert_eq!(read.covers(&at(path)), covers, "{pattern} covers {path}");
        }
    }

    #[test]
    fn case_hides_nothing_where_it_does_not_count() {
        for (os, path, covers) in [
            (Os::Linux, ".ENV", false),
            (Os::Macos, ".ENV", true),
            (Os::Windows, ".Env", true),
            (Os::Macos, ".e\u{200c}nv", true),
        ] {
            let read = PathPattern::new(".env", os).unwrap();
            assert_eq!(read.covers(&at(path)), covers, "{path} on {os:?}");
        }
        let accents = PathPattern::new("geh\u{e4}lter/**", Os::Macos).unwrap();
        assert!(accents.covers(&at("Geha\u{308}lter/a")));
        let windows = PathPattern::new("src\\**", Os::Windows).unwrap();
        assert!(windows.allows(&at("src/a")) && !windows.allows(&at("SRC/a")));
    }

    #[test]
    fn what_lies_below_a_folder_goes_with_it() {
        for (pattern, path, below) in [
            (".git/hooks/**", ".git", true),
            (".git/hooks/**", "sub/.git", true),
            (".git/hooks/**", "src", false),
            (".git/hooks/**", "", true),
            ("*.pem", "src", false),
            (".ssh/id_rsa", ".ssh", true),
        ] {
            let read = PathPattern::new(pattern, Os::Linux).unwrap();
            assert_eq!(
                read.may_cover_in_removed(&at(path)),
                below,
                "{pattern} below {path}"
            );
        }
    }

    #[test]
    fn what_may_lie_below_a_folder() {
        for (pattern, path, below) in [
            (".env*", "", true),
            (".env*", "src", true),
            ("secrets/**", "src", true),
            ("~/.ssh/**", "src", false),
            ("/etc/**", "src", false),
            ("/etc/**", "/", true),
            ("/etc/ssl/x", "/etc", true),
            ("/etc/**", "/etc/ssl", true),
            ("/home/me/project/src/x", "src", true),
            ("/home/me/project/src*/x", "src", true),
            ("/home/me/project/lib/x", "src", false),
        ] {
            let read = PathPattern::new(pattern, Os::Linux).unwrap();
            assert_eq!(
                read.may_cover_below(&at(path)),
                below,
                "{pattern} below {path}"
            );
        }
    }

    #[test]
    fn a_pattern_is_about_what_it_names() {
        let env = PathPattern::new(".env*", Os::Linux).unwrap();
        for (pattern, about) in [
            (".env", true),
            (".env.local", true),
            ("config/.env*", true),
            ("**/.env", true),
            ("**", false),
            ("*", false),
            ("src/**", false),
            (".e*", false),
        ] {
            let read = PathPattern::new(pattern, Os::Linux).unwrap();
            assert_eq!(read.targets_paths_of(&env), about, "{pattern}");
        }
    }
}
