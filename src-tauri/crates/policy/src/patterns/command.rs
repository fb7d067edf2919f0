//! A command pattern: words, of which the last may end in `*` for "then the end, or more words".

use protocol::RuleAction;

use crate::limits::PATTERN_READINGS_MAX;
use crate::path::Os;

/// A sign of a word in a pattern. A glob library would not know a quoted `*` from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternChar {
    Literal(char),
    /// `?`
    AnyChar,
    /// `*`
    AnyText,
}

/// A command pattern, ready to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// The patterns that the braces expand to, each parsed by itself.
    readings: Vec<PatternReading>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PatternReading {
    words: Vec<Vec<PatternChar>>,
    /// More words may follow.
    open: bool,
    /// The last word may go on, where the pattern is read broadly: `rm*` also means `rmdir`.
    glued: bool,
}

/// How far a pattern reaches.
#[derive(Debug, Clone, Copy)]
enum PatternReach {
    /// As far as an allow: the words as they are.
    Narrow,
    /// As far as a deny: the program may lie anywhere and is spelled as the system allows, and the last word may go on.
    Broad(Os),
}

/// The program that a pattern names, in lower case and without its folder: the index finds rules by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProgramName {
    /// This very name.
    Exact(String),
    /// A name with this beginning.
    Prefix(String),
    /// Any program.
    Any,
}

impl CommandPattern {
    /// Programs that the pattern may match in a rule with this action.
    pub(crate) fn program_names(&self, action: RuleAction, os: Os) -> Vec<ProgramName> {
        let readings = self.readings.iter();
        readings
            .map(|reading| reading.program_name(action, os))
            .collect()
    }

    /// Parses a pattern. Words are written as for a shell: quotes and backslashes make their content literal. `git
    /// status*` and `git status *` mean: these words, then the end or more words. Within a word `*` is any text, `?`
    /// any one character and `{a,b}` either.
    pub fn new(pattern: &str) -> Self {
        Self {
            readings: expand_braces(pattern)
                .iter()
                .map(|text| PatternReading::new(text))
                .collect(),
        }
    }

    /// Returns the pattern with a last word that may not go on: `rm*` does not mean `rmdir`, however it is matched.
    #[must_use]
    pub fn with_whole_words(mut self) -> Self {
        for reading in &mut self.readings {
            reading.glued = false;
        }
        self
    }

    /// Whether an allow with this pattern matches: these words, and more words where the pattern has an open end. A
    /// program that is named by a path must be spelled out, path included: `./gradlew test*`.
    pub fn allows(&self, words: &[String]) -> bool {
        let is_pathed = words.first().is_some_and(|program| program.contains('/'));
        self.readings
            .iter()
            .filter(|reading| !is_pathed || reading.spells_out_program())
            .any(|reading| reading.matches_words(words, PatternReach::Narrow))
    }

    /// Whether a deny with this pattern matches: as in an allow, but the program may lie anywhere, and the last word
    /// may go on. On Windows case does not count in a program's name, and its extension may be left out.
    pub fn covers(&self, words: &[String], os: Os) -> bool {
        self.readings
            .iter()
            .any(|reading| reading.matches_words(words, PatternReach::Broad(os)))
    }

    /// Whether an allow can match at all: its program must be a bare name, or a path that is spelled out.
    pub fn can_allow(&self) -> bool {
        self.readings.iter().any(|reading| {
            reading.spells_out_program()
                || reading.words.first().is_none_or(|word| {
                    !word.contains(&PatternChar::Literal('/')) && !word.is_empty()
                })
        })
    }
}

impl PatternReading {
    fn new(text: &str) -> Self {
        let (mut words, glued) = split_pattern(text);
        // `*` by itself at the end stands for any more words.
        let mut open = glued;
        if words
            .last()
            .is_some_and(|last| last == &[PatternChar::AnyText])
        {
            words.pop();
            open = true;
        }
        Self { words, open, glued }
    }

    fn program_name(&self, action: RuleAction, os: Os) -> ProgramName {
        let base = program_base(self.words.first().map_or(&[], Vec::as_slice), os);
        let mut name = String::new();
        for sign in base {
            match sign {
                PatternChar::Literal(letter) => name.push(letter.to_ascii_lowercase()),
                PatternChar::AnyChar | PatternChar::AnyText => return ProgramName::Any,
            }
        }
        let goes_on = action != RuleAction::Allow && self.glued && self.words.len() == 1;
        match (name.is_empty(), goes_on) {
            (true, _) => ProgramName::Any,
            (false, true) => ProgramName::Prefix(name),
            (false, false) => ProgramName::Exact(name),
        }
    }

    /// Whether nothing of its program's name is left open.
    fn spells_out_program(&self) -> bool {
        let program = self.words.first().filter(|word| !word.is_empty());
        program.is_some_and(|word| {
            word.iter()
                .all(|sign| matches!(sign, PatternChar::Literal(_)))
        })
    }

    fn matches_words(&self, words: &[String], reach: PatternReach) -> bool {
        if words.len() < self.words.len() || (!self.open && words.len() > self.words.len()) {
            return false;
        }
        let last = self.words.len().saturating_sub(1);
        self.words
            .iter()
            .zip(words)
            .enumerate()
            .all(|(at, (mine, theirs))| {
                let goes_on = self.glued && at == last;
                match reach {
                    PatternReach::Narrow => matches_word(mine, &text_chars(theirs), false),
                    PatternReach::Broad(os) if at == 0 => {
                        matches_program(mine, theirs, goes_on, os)
                    }
                    PatternReach::Broad(_) => matches_word(mine, &text_chars(theirs), goes_on),
                }
            })
    }
}

/// The program's base name against the pattern's: where it lies does not matter to a deny.
fn matches_program(mine: &[PatternChar], theirs: &str, goes_on: bool, os: Os) -> bool {
    let base = program_base(mine, os);
    // A folder of the workspace is no place where a bare name is looked up.
    let is_rooted = matches!(mine.first(), Some(PatternChar::Literal('/' | '~' | '$')));
    if base.is_empty() && !is_rooted && !theirs.contains('/') {
        return false;
    }
    let their_base = theirs.rsplit('/').next().unwrap_or(theirs);
    if os != Os::Windows {
        return matches_word(base, &text_chars(their_base), goes_on);
    }
    let lower: Vec<PatternChar> = base
        .iter()
        .map(|sign| match sign {
            PatternChar::Literal(c) => PatternChar::Literal(c.to_ascii_lowercase()),
            PatternChar::AnyChar | PatternChar::AnyText => *sign,
        })
        .collect();
    let their_lower = their_base.to_ascii_lowercase();
    let bare = [".exe", ".cmd", ".bat", ".com"]
        .iter()
        .find_map(|ending| their_lower.strip_suffix(ending));
    std::iter::once(their_lower.as_str())
        .chain(bare)
        .any(|name| matches_word(&lower, &text_chars(name), goes_on))
}

/// A program's name in a pattern without its folder.
fn program_base(word: &[PatternChar], os: Os) -> &[PatternChar] {
    let divides = |sign: &PatternChar| match sign {
        PatternChar::Literal('/') => true,
        PatternChar::Literal('\\') => os == Os::Windows,
        PatternChar::Literal(_) | PatternChar::AnyChar | PatternChar::AnyText => false,
    };
    word.rsplit(divides).next().unwrap_or(word)
}

fn text_chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

/// Whether a word fits, `*` and `?` within it included; `goes_on` lets any text follow.
fn matches_word(mine: &[PatternChar], theirs: &[char], goes_on: bool) -> bool {
    let (mut at, mut seen) = (0, 0);
    // Where the last `*` stood, and up to where it has eaten: the only place that must ever be gone back to.
    let mut star: Option<(usize, usize)> = None;
    loop {
        if at == mine.len() && (goes_on || seen == theirs.len()) {
            return true;
        }
        let fits = match (mine.get(at), theirs.get(seen)) {
            (Some(PatternChar::AnyText), _) => {
                star = Some((at, seen));
                at += 1;
                continue;
            }
            (Some(PatternChar::AnyChar), Some(_)) => true,
            (Some(PatternChar::Literal(c)), Some(theirs)) => c == theirs,
            _ => false,
        };
        match (fits, star) {
            (true, _) => (at, seen) = (at + 1, seen + 1),
            (false, Some((star_at, eaten))) if eaten < theirs.len() => {
                star = Some((star_at, eaten + 1));
                (at, seen) = (star_at + 1, eaten + 1);
            }
            (false, _) => return false,
        }
    }
}

/// The words of a pattern, and whether it ends in a `*` that is glued to its last word.
fn split_pattern(text: &str) -> (Vec<Vec<PatternChar>>, bool) {
    let mut words = Vec::new();
    let mut word: Option<Vec<PatternChar>> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                let next = chars.next().unwrap_or('\\');
                word.get_or_insert_default()
                    .push(PatternChar::Literal(next));
            }
            (Some(_), _) => word.get_or_insert_default().push(PatternChar::Literal(c)),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            (None, '*') => word.get_or_insert_default().push(PatternChar::AnyText),
            (None, '?') => word.get_or_insert_default().push(PatternChar::AnyChar),
            (None, _) => word.get_or_insert_default().push(PatternChar::Literal(c)),
        }
    }
    words.extend(word.take());
    let glued = words.last_mut().is_some_and(|last| {
        let ends = last.len() > 1 && last.last() == Some(&PatternChar::AnyText);
        if ends {
            while last.len() > 1 && last.last() == Some(&PatternChar::AnyText) {
                last.pop();
            }
        }
        ends
    });
    (words, glued)
}

/// Expands braces that hold a comma, as a shell does; `{}` and `{x}` stay as they are.
pub fn expand_braces(pattern: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(text) = open.pop() {
        let braces = text.match_indices('{').find_map(|(start, _)| {
            let escaped = text[..start].ends_with('\\');
            let end = start + text[start..].find('}')?;
            let inside = &text[start + 1..end];
            (!escaped && inside.contains(',') && !inside.contains('{')).then_some((start, end))
        });
        match braces {
            Some((start, end)) if done.len() + open.len() < PATTERN_READINGS_MAX => {
                for choice in text[start + 1..end].split(',').rev() {
                    open.push(format!("{}{choice}{}", &text[..start], &text[end + 1..]));
                }
            }
            Some(_) | None => done.push(text),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn s002_80_commands_by_words() {
        for (pattern, command, allows, covers) in [
            ("ls*", "ls", true, true),
            ("ls*", "ls -l", true, true),
            ("ls*", "lsof", false, true),
            ("ls *", "lsof", false, false),
            ("ls *", "ls", true, true),
            ("git status*", "git status -s", true, true),
            ("git status*", "git stash", false, false),
            ("git status", "git status -s", false, false),
            ("git * main", "git push main", true, true),
            ("git * main", "git push origin main", false, false),
            ("*", "anything at all", true, true),
            ("rm -r*", "rm -rf x", false, true),
            ("mkfs*", "mkfs.ext4 /dev/sda", false, true),
            ("/bin/rm*", "rm x", false, true),
            ("/bin/rm*", "/bin/rm x", true, true),
            ("/opt/tools/**", "rm x", false, true),
            ("secrets/**", "rm x", false, false),
            ("secrets/**", "secrets/rm x", false, true),
            ("./gradlew test*", "./gradlew test", true, true),
            ("./gradlew test*", "./gradlew test --info", true, true),
            ("./gradlew test*", "gradlew test", false, true),
            ("./gradlew test*", "./../gradlew test", false, true),
            ("gradlew test*", "./gradlew test", false, true),
            ("./grad?ew test*", "./gradlew test", false, true),
            ("./*", "./gradlew test", false, true),
            ("* test", "./gradlew test", false, true),
            ("npm run test:*", "npm run test:unit", false, true),
            (
                "git log --author=*x -n 1",
                "git log --author=max -n 1",
                true,
                true,
            ),
            ("git {status,diff}*", "git diff x", true, true),
            ("git {status,diff}*", "git push", false, false),
            ("find . -name {}", "find . -name {}", true, true),
            ("grep '*' x", "grep * x", true, true),
            ("grep '*' x", "grep a x", false, false),
            ("grep \\* x", "grep a x", false, false),
            ("git  status", "git status", true, true),
            ("l?", "ls", true, true),
            ("l?", "lsx", false, false),
            ("echo \"\"", "echo ", true, true),
        ] {
            let read = CommandPattern::new(pattern);
            assert_eq!(
                read.allows(&words(command)),
                allows,
                "{pattern} allows {command}"
            );
            assert_eq!(
                read.covers(&words(command), Os::Linux),
                covers,
                "{pattern} covers {command}"
            );
        }
        let whole = CommandPattern::new("rm*").with_whole_words();
        assert!(!whole.covers(&words("rmdir x"), Os::Linux));
        assert!(whole.covers(&words("rm x"), Os::Linux));
        let rm = CommandPattern::new("rm*");
        assert!(
            rm.covers(&words("RM.EXE x"), Os::Windows) && !rm.covers(&words("RM x"), Os::Linux)
        );
    }

    #[test]
    fn many_braces_are_not_many_readings() {
        let pattern = "{a,b}".repeat(40);
        assert!(CommandPattern::new(&pattern).readings.len() <= PATTERN_READINGS_MAX + 1);
    }
}
