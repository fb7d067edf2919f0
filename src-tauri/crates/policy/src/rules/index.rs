//! Index of the rules that could speak of a subject: found by what they name, so that ten thousand of them cost no more
//! than a few. The index may give too many rules, never too few; whether one really matches is checked afterwards.

use std::collections::HashMap;

use protocol::rule::evidence::RemoteUseKind;
use protocol::{Capability, ToolMode};

use super::subject::{Subject, SubjectKind};
use super::{NET_READ, mode_permission};
use crate::patterns::ProgramName;

/// Endings that a program's name may have and go without, where case does not count.
const EXECUTABLE_ENDINGS: [&str; 4] = [".exe", ".cmd", ".bat", ".com"];

/// Indices of rules, by what they name.
#[derive(Debug, Clone, Default)]
pub(super) struct RuleIndex {
    by_permission: HashMap<String, RuleBucket>,
    /// Rules that name a family of tools.
    families: RuleBucket,
}

/// The rules of one permission.
#[derive(Debug, Clone, Default)]
struct RuleBucket {
    /// Rules whose pattern means everything.
    everything: Vec<usize>,
    /// Rules with a pattern of paths or hosts.
    places: Vec<usize>,
    /// Rules with a pattern of commands, all of them.
    commands: Vec<usize>,
    /// Rules with a pattern of commands, by the name of the program.
    by_word: HashMap<String, Vec<usize>>,
    /// By the beginning of its name, where any text may follow.
    by_start: HashMap<String, Vec<usize>>,
    /// The length of the longest of these, in bytes.
    start_bytes_max: usize,
    /// Rules with a pattern of commands that leaves the program open.
    open: Vec<usize>,
}

/// The subjects that a rule's pattern is about.
pub(super) struct RuleTopic {
    /// Whether the pattern means everything.
    pub everything: bool,
    /// Whether the pattern names paths or hosts.
    pub places: bool,
    /// Programs of the commands that the pattern names, if it names commands.
    pub heads: Option<Vec<ProgramName>>,
}

impl RuleIndex {
    /// Adds the rule of this place.
    pub fn add(&mut self, at: usize, permission: &str, about: RuleTopic) {
        let bucket = match permission != "*" && permission.ends_with('*') {
            true => &mut self.families,
            false => self.by_permission.entry(permission.to_owned()).or_default(),
        };
        bucket.add(at, about);
    }

    /// Finds the rules that could speak of a subject, in the order in which they were read.
    pub fn find_for_subject(&self, subject: &Subject<'_>) -> Vec<usize> {
        if let SubjectKind::Response(_) = subject.seen {
            let mut positions = Vec::new();
            if let Some(bucket) = self.by_permission.get(NET_READ) {
                bucket.find(&subject.seen, &mut positions);
            }
            positions.sort_unstable();
            return positions;
        }
        let touches: Vec<Capability> = subject.capability().into_iter().collect();
        self.collect_sorted(subject.tool, subject.mode, &touches, |bucket, positions| {
            bucket.find(&subject.seen, positions);
        })
    }

    /// The rules with a pattern of paths or hosts that could speak of a call, in the order in which they were read.
    pub fn find_place_rules(&self, tool: &str, touches: &[Capability]) -> Vec<usize> {
        self.collect_sorted(tool, None, touches, |bucket, positions| {
            positions.extend(&bucket.places)
        })
    }

    /// The rules for everything that could speak of a call.
    pub fn find_catch_all_rules(
        &self,
        tool: &str,
        mode: Option<ToolMode>,
        touches: &[Capability],
    ) -> Vec<usize> {
        self.collect_sorted(tool, mode, touches, |bucket, positions| {
            positions.extend(&bucket.everything)
        })
    }

    /// All rules that could speak of a call.
    pub fn find_all(
        &self,
        tool: &str,
        mode: Option<ToolMode>,
        touches: &[Capability],
    ) -> Vec<usize> {
        self.collect_sorted(tool, mode, touches, RuleBucket::collect_all)
    }

    fn collect_sorted(
        &self,
        tool: &str,
        mode: Option<ToolMode>,
        touches: &[Capability],
        find: impl Fn(&RuleBucket, &mut Vec<usize>),
    ) -> Vec<usize> {
        let mut names = vec!["*", tool];
        names.extend(mode.map(mode_permission));
        names.extend(touches.iter().map(|capability| capability.as_str()));
        if touches.contains(&Capability::FsDelete) {
            names.push(Capability::FsWrite.as_str());
        }
        if touches.contains(&Capability::ShellRun) {
            names.extend(RemoteUseKind::ALL.map(RemoteUseKind::permission));
        }
        names.sort_unstable();
        names.dedup();
        let buckets = names
            .iter()
            .filter_map(|name| self.by_permission.get(*name));
        let mut positions = Vec::new();
        for bucket in buckets.chain([&self.families]) {
            find(bucket, &mut positions);
        }
        positions.sort_unstable();
        positions.dedup();
        positions
    }
}

impl RuleBucket {
    fn add(&mut self, at: usize, about: RuleTopic) {
        if about.everything {
            self.everything.push(at);
        }
        if about.places {
            self.places.push(at);
        }
        let Some(heads) = about.heads else { return };
        self.commands.push(at);
        for head in heads {
            match head {
                ProgramName::Exact(word) => self.by_word.entry(word).or_default().push(at),
                ProgramName::Prefix(start) => {
                    self.start_bytes_max = self.start_bytes_max.max(start.len());
                    self.by_start.entry(start).or_default().push(at);
                }
                ProgramName::Any => self.open.push(at),
            }
        }
    }

    fn find(&self, subject: &SubjectKind<'_>, indexes: &mut Vec<usize>) {
        match subject {
            SubjectKind::WholeCall { .. } => self.collect_all(indexes),
            SubjectKind::Path(_)
            | SubjectKind::Effect(_)
            | SubjectKind::Host(_)
            | SubjectKind::Response(_) => {
                indexes.extend(&self.everything);
                indexes.extend(&self.places);
            }
            SubjectKind::Command { words, .. } => {
                indexes.extend(&self.everything);
                indexes.extend(&self.open);
                if let Some(program) = words.first() {
                    self.find_program(program, indexes);
                }
            }
        }
    }

    fn find_program(&self, program: &str, indexes: &mut Vec<usize>) {
        let base = crate::shell::program_base_name(program).to_ascii_lowercase();
        let bare = EXECUTABLE_ENDINGS
            .iter()
            .find_map(|ending| base.strip_suffix(ending));
        for name in std::iter::once(base.as_str()).chain(bare) {
            indexes.extend(self.by_word.get(name).into_iter().flatten());
        }
        // Whatever begins the name without its ending begins the name.
        let ends = base
            .char_indices()
            .map(|(at, letter)| at + letter.len_utf8());
        for end in ends.take_while(|end| *end <= self.start_bytes_max) {
            indexes.extend(self.by_start.get(&base[..end]).into_iter().flatten());
        }
    }

    fn collect_all(&self, indexes: &mut Vec<usize>) {
        indexes.extend(&self.everything);
        indexes.extend(&self.places);
        indexes.extend(&self.commands);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::{ResolvedAccess, RuleScope};

    use super::*;
    use crate::RuleSet;
    use crate::facts::CallFacts;
    use crate::path::Os;
    use crate::rules_file::{self, RulesFileSource};

    const PATTERNS: [&str; 26] = [
        "git status*",
        "git*",
        "g*",
        "g?t *",
        "*",
        "* push",
        "./gradlew test*",
        "gradlew",
        "/usr/bin/git*",
        "/usr/bin/*",
        "bin/*",
        "{git,npm} test*",
        "'git' x",
        "GIT*",
        "git.exe x",
        "rm -r*",
        "r*m x",
        "\"\"",
        "src/**",
        "*.pem",
        ".env*",
        "/etc/**",
        "docs.rs",
        "*.example.com",
        "e\u{e9}*",
        "\\\\x",
    ];
    const PERMISSIONS: [&str; 10] = [
        "*",
        "bash",
        "shell.run",
        "fs.read",
        "fs.write",
        "net.fetch",
        "mode:local",
        "read",
        "re*",
        "web_fetch",
    ];
    const COMMANDS: [&str; 18] = [
        "git status",
        "git x",
        "GIT x",
        "git.exe x",
        "Git.EXE push",
        "gitk x",
        "/usr/bin/git status",
        "./gradlew test",
        "sub/gradlew",
        "npm test",
        "rm -rf x",
        "rmdir x",
        "timeout 5 git push",
        "cat .env src/a.pem /etc/x",
        "curl https://docs.rs/x http://a.example.com",
        "e\u{e9}y x",
        "echo $(git push)",
        "'' x",
    ];

    proptest! {
        /// No rule that matches is missed, whatever the rules are.
        #[test]
        fn none_that_fits_is_missed(
            picks in proptest::collection::vec((0..PERMISSIONS.len(), 0..PATTERNS.len(), 0..3_usize), 1..12),
            command in 0..COMMANDS.len(),
            windows: bool,
        ) {
            let os = if windows { Os::Windows } else { Os::Linux };
            let rules: Vec<_> = picks
                .iter()
                .filter_map(|(permission, pattern, action)| {
                    let action = ["allow", "ask", "deny"][*action];
                    let text = format!(
                        "[[rule]]\npermission = '{}'\npattern = '''{}'''\naction = '{action}'\n",
                        PERMISSIONS[*permission], PATTERNS[*pattern]
                    );
                    let source = RulesFileSource { os, ..RulesFileSource::new("r", RuleScope::User) };
                    rules_file::parse_rules_file(&text, &source).ok()
                })
                .flat_map(|file| file.rules)
                .collect();
            let mut set = RuleSet::default();
            set.extend(rules);
            let facts = CallFacts::from_iter([
                ResolvedAccess::new_inside(Capability::ShellRun, COMMANDS[command]),
                ResolvedAccess::new_inside(Capability::FsRead, "src/.env"),
                ResolvedAccess::new_inside(Capability::NetFetch, "a.example.com"),
            ]);
            for subject in Subject::from_facts("bash", Some(ToolMode::Local), &facts) {
                let found = set.index.find_for_subject(&subject);
                for (at, rule) in set.rules.iter().enumerate() {
                    let fits = rule.permission_rank(&subject).is_some() && rule.matches_subject(&subject, None);
                    prop_assert!(
                        !fits || found.contains(&at),
                        "{:?} is missed for {:?}", rule.rule, subject.seen
                    );
                }
            }
        }
    }

    /// Of ten thousand rules a call looks at those that name what it does, and at a few that leave it open.
    #[test]
    fn ten_thousand_rules_are_not_ten_thousand_looks() {
        let rule = |pattern: &str, action: &str| {
            format!(
                "[[rule]]\npermission = \"bash\"\npattern = \"{pattern}\"\naction = \"{action}\"\n"
            )
        };
        let mut text: String = (0..4_998)
            .map(|n| {
                rule(&format!("tool-{n} run*"), "allow") + &rule(&format!("prog-{n}*"), "deny")
            })
            .collect();
        text += &rule("git status*", "allow");
        text += &rule("gi*", "ask");
        text += &rule("* --force", "deny");
        let mut set = RuleSet::default();
        set.add(
            rules_file::parse_rules_file(&text, &RulesFileSource::new("r", RuleScope::User))
                .unwrap(),
        );
        assert_eq!(set.len(), 9_999);
        let facts = CallFacts::from_iter([
            ResolvedAccess::new_inside(Capability::ShellRun, "timeout 5 git status && cat x"),
            ResolvedAccess {
                derived: true,
                ..ResolvedAccess::new_inside(Capability::FsRead, "x")
            },
        ]);
        for subject in Subject::from_facts("bash", Some(ToolMode::Local), &facts) {
            let looks = set.index.find_for_subject(&subject).len();
            assert!(looks <= 3, "{looks} looks for {:?}", subject.seen);
        }
        let long = "x".repeat(1_000_000);
        let facts = CallFacts::from_iter([ResolvedAccess::new_inside(Capability::ShellRun, long)]);
        for subject in Subject::from_facts("bash", None, &facts) {
            assert!(set.index.find_for_subject(&subject).len() <= 3);
        }
    }
}
