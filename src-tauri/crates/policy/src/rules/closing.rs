//! Which files a search must not look into, and a sealed copy must not show. Both ask about every file of a workspace, so the
//! many that no rule could mean are told apart by one quick look, and only the others are judged.

use globset::{GlobSet, GlobSetBuilder};
use protocol::{Action, At, Capability, Fact, ToolMode, Verdict};

use super::{CompiledRule, RuleSet, Seen, Subject};
use crate::limits::PATTERNS_AT_ONCE_MAX;
use crate::path::{Folded, Os};
use crate::pattern::{PathPattern, joined};

/// The tools whose reading closes a file.
const TOOLS: [&str; 2] = ["read", "grep"];

impl RuleSet {
    /// Whether a search must not look into a file: a rule denies reading it, or wants to be asked about that very place.
    /// A search is one call over many files, so what it would read is judged file by file.
    pub fn closes(&self, path: &str, now: At) -> bool {
        let closing = self.closing.get_or_init(|| Closing::of(self));
        closing.may_close(path, self.root.as_deref()) && self.really_closes(path, now)
    }

    /// Whether [`RuleSet::closes`] says the same of a file at every time: no rule that could speak of it ends or is used up.
    pub fn closes_for_good(&self) -> bool {
        let ends =
            |rule: &&CompiledRule| rule.rule.expires_ms.is_some() || rule.rule.max_uses.is_some();
        !self.of_reading().iter().any(ends)
    }

    /// The rules that could speak of reading a file.
    fn of_reading(&self) -> Vec<&CompiledRule> {
        let any = Fact::inside(Capability::FsRead, "");
        let mut at: Vec<usize> = TOOLS
            .iter()
            .flat_map(|tool| self.index.of(&reading(tool, &any)))
            .collect();
        at.sort_unstable();
        at.dedup();
        at.into_iter().filter_map(|at| self.rules.get(at)).collect()
    }

    fn really_closes(&self, path: &str, now: At) -> bool {
        let fact = Fact::inside(Capability::FsRead, path);
        TOOLS.into_iter().any(|tool| {
            let said = self.said(&reading(tool, &fact), now, Verdict::Allow);
            let speaks = said.traces.iter().find(|trace| trace.won);
            speaks.is_some_and(|trace| match trace.rule.action {
                Action::Deny => true,
                Action::Ask => trace.rule.pattern.is_some(),
                Action::Allow => false,
            })
        })
    }
}

fn reading<'a>(tool: &'a str, fact: &'a Fact) -> Subject<'a> {
    Subject {
        tool,
        mode: Some(ToolMode::Read),
        seen: Seen::Path(fact),
        tightens: false,
        below: false,
        maybe: false,
        exactly: None,
        arguments: None,
    }
}

/// Whether there is a file that a rule closes. To be asked about everything is no word on a very place, and who is refused one
/// call reads no file there that others could not.
fn may_close_at_all(rule: &CompiledRule) -> bool {
    let closes = match rule.rule.action {
        Action::Allow => false,
        Action::Ask => rule.rule.pattern.is_some(),
        Action::Deny => true,
    };
    closes && rule.exactly().is_none()
}

/// The files that may be closed: too many, never too few.
#[derive(Debug, Clone)]
pub(super) enum Closing {
    /// Any of them.
    Any,
    /// Those that one of these patterns covers.
    Some(Vec<Patterns>),
}

/// Patterns of one system, all of which are looked for at once.
#[derive(Debug, Clone)]
pub(super) struct Patterns {
    os: Os,
    set: GlobSet,
    /// One of them begins at a root.
    any_absolute: bool,
}

impl Closing {
    fn of(rules: &RuleSet) -> Self {
        let reading = rules.of_reading().into_iter();
        let stricter = reading
            .filter(|rule| may_close_at_all(rule))
            .map(CompiledRule::path);
        let all: Option<Vec<&PathPattern>> = stricter
            .chain(rules.protections.of_reading().map(Some))
            .collect();
        let patterns = all.filter(|all| all.len() <= PATTERNS_AT_ONCE_MAX);
        patterns
            .and_then(|all| {
                let systems = [Os::Linux, Os::Macos, Os::Windows];
                systems
                    .map(|os| Patterns::of(os, &all))
                    .into_iter()
                    .collect()
            })
            .map_or(Self::Any, Self::Some)
    }

    fn may_close(&self, path: &str, root: Option<&str>) -> bool {
        let Self::Some(patterns) = self else {
            return true;
        };
        // Such a path has more than one spelling, and each of them counts.
        let is_plain = !path.contains('\\') && !path.contains("//");
        !is_plain
            || patterns
                .iter()
                .any(|patterns| patterns.may_cover(path, root))
    }
}

impl Patterns {
    /// Those of a system; none where one of them covers everything.
    fn of(os: Os, all: &[&PathPattern]) -> Option<Self> {
        let mut set = GlobSetBuilder::new();
        let mut any_absolute = false;
        for pattern in all.iter().filter(|pattern| pattern.os() == os) {
            // What is the path itself holds what lies below it as well.
            let [_, below] = pattern.broad_forms()?;
            set.add(below);
            any_absolute |= pattern.is_absolute();
        }
        let set = set.build().ok()?;
        Some(Self {
            os,
            set,
            any_absolute,
        })
    }

    fn may_cover(&self, path: &str, root: Option<&str>) -> bool {
        let covers = |path: &str| {
            let folded = Folded::of(self.os, path);
            let path = folded.as_str().trim_start_matches('/');
            self.set.is_match(format!("{path}/."))
        };
        let at_root = || root.is_some_and(|root| covers(&joined(root, path)));
        !self.set.is_empty() && (covers(path) || self.any_absolute && at_root())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::RuleScope;

    use super::*;
    use crate::rules_file::{self, Source};

    const PERMISSIONS: [&str; 9] = [
        "*",
        "read",
        "grep",
        "re*",
        "fs.read",
        "fs.write",
        "mode:read",
        "bash",
        "net.fetch",
    ];
    const PATTERNS: [&str; 14] = [
        "*",
        "**",
        "",
        "src/**",
        "*.pem",
        "SRC/A.pem",
        "a.pem",
        "/home/me/project/src/a.pem",
        "/etc/**",
        "~/keys/**",
        ".env.*",
        ".env.local",
        "src\\\\a.pem",
        "ge\u{e4}ndert",
    ];
    const NAMES: [&str; 12] = [
        "src",
        "SRC",
        "a.pem",
        "A.pem",
        "home/me/project",
        "keys",
        ".env",
        ".env.local",
        "x\\y",
        "",
        "gea\u{308}ndert",
        "etc",
    ];

    proptest! {
        /// The quick look changes nothing of what is closed.
        #[test]
        fn no_file_is_missed(
            picks in proptest::collection::vec((0..PERMISSIONS.len(), 0..PATTERNS.len(), 0..3_usize), 0..6),
            names in proptest::collection::vec(0..NAMES.len(), 1..4),
            system in 0..3_usize,
            rooted: bool,
        ) {
            let os = [Os::Linux, Os::Macos, Os::Windows][system];
            let mut set = RuleSet::builtin();
            if rooted {
                set = set.with_root("/home/me/project");
            }
            for (permission, pattern, action) in picks {
                let pattern = match PATTERNS[pattern] {
                    "" => String::new(),
                    some => format!("pattern = '''{some}'''\n"),
                };
                let text = format!(
                    "[[rule]]\npermission = '{}'\naction = '{}'\n{pattern}",
                    PERMISSIONS[permission], ["allow", "ask", "deny"][action],
                );
                let source = Source { os, ..Source::new("r", RuleScope::User) };
                set.extend(rules_file::read(&text, &source).into_iter().flat_map(|file| file.rules));
            }
            let path = names.iter().map(|at| NAMES[*at]).collect::<Vec<_>>().join("/");
            prop_assert_eq!(set.closes(&path, 0), set.really_closes(&path, 0), "{}", path);
        }
    }

    #[test]
    fn a_new_rule_is_looked_for_at_once() {
        let mut set = RuleSet::builtin();
        assert!(set.closes("deep/.env", 0) && !set.closes("deep/notes", 0));
        let text = "[[rule]]\npermission = 'read'\npattern = 'deep/notes'\naction = 'deny'\n";
        set.add(rules_file::read(text, &Source::new("r", RuleScope::User)).unwrap());
        assert!(set.closes("deep/notes", 0) && set.closes_for_good());
        let text = format!("{text}max_uses = 2\n");
        set.add(rules_file::read(&text, &Source::new("r", RuleScope::User)).unwrap());
        assert!(!set.closes_for_good());
    }
}
