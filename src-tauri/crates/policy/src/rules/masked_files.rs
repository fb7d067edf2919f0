//! Files that a search must not look into, and a sandbox must not show. Both check every file of a workspace, so the
//! many that no rule could mean are ruled out by one quick look, and only the others are judged.

use protocol::{At, Capability, ResolvedAccess, RuleAction, ToolMode, Verdict};

use super::{CompiledRule, RuleSet, Subject, SubjectKind};
use crate::limits::PATTERNS_AT_ONCE_MAX;
use crate::path::Os;
use crate::patterns::{PathForms, PathPattern, PathPatternSet};

/// The tools whose reading closes a file.
const READ_TOOLS: [&str; 2] = ["read", "grep"];

impl RuleSet {
    /// Whether a search must not look into a file: a rule denies reading it, or asks about that very place. A search is
    /// one call over many files, so its reads are judged file by file.
    pub fn masks_path(&self, path: &str, now: At) -> bool {
        let closing = self
            .masked_files
            .get_or_init(|| MaskedFiles::from_rules(self));
        closing.may_mask(path, self.root.as_deref()) && self.evaluate_mask(path, now)
    }

    /// Whether [`RuleSet::masks_path`] gives the same for a file at every time: no rule that could speak of the file
    /// expires or is used up.
    pub fn has_stable_masks(&self) -> bool {
        let ends =
            |rule: &&CompiledRule| rule.rule.expires_ms.is_some() || rule.rule.max_uses.is_some();
        !self.rules_on_reading().iter().any(ends)
    }

    /// The rules that could speak of reading a file.
    fn rules_on_reading(&self) -> Vec<&CompiledRule> {
        let any = ResolvedAccess::new_inside(Capability::FsRead, "");
        let mut at: Vec<usize> = READ_TOOLS
            .iter()
            .flat_map(|tool| self.index.find_for_subject(&read_subject(tool, &any)))
            .collect();
        at.sort_unstable();
        at.dedup();
        at.into_iter().filter_map(|at| self.rules.get(at)).collect()
    }

    fn evaluate_mask(&self, path: &str, now: At) -> bool {
        let fact = ResolvedAccess::new_inside(Capability::FsRead, path);
        READ_TOOLS.into_iter().any(|tool| {
            let decision = self.evaluate_subject(&read_subject(tool, &fact), now, Verdict::Allow);
            let speaks = decision.traces.iter().find(|trace| trace.won);
            speaks.is_some_and(|trace| match trace.rule.action {
                RuleAction::Deny => true,
                RuleAction::Ask => trace.rule.pattern.is_some(),
                RuleAction::Allow => false,
            })
        })
    }
}

fn read_subject<'a>(tool: &'a str, fact: &'a ResolvedAccess) -> Subject<'a> {
    Subject {
        mode: Some(ToolMode::Read),
        ..Subject::new(tool, SubjectKind::Path(fact))
    }
}

/// Whether a rule may close a file to searches. An ask about everything is not about a very place, and a rule for
/// exactly one call does not bar other calls from reading the file.
fn can_mask(rule: &CompiledRule) -> bool {
    let closes = match rule.rule.action {
        RuleAction::Allow => false,
        RuleAction::Ask => rule.rule.pattern.is_some(),
        RuleAction::Deny => true,
    };
    closes && rule.exact_digest().is_none()
}

/// Files that may be closed: too many, never too few.
#[derive(Debug, Clone)]
pub(super) enum MaskedFiles {
    /// Any file.
    Any,
    /// Files that one of these patterns covers.
    Some(Vec<PathPatternSet>),
}

impl MaskedFiles {
    fn from_rules(rules: &RuleSet) -> Self {
        let reading = rules.rules_on_reading().into_iter();
        let stricter = reading
            .filter(|rule| can_mask(rule))
            .map(CompiledRule::mask_pattern);
        let all: Option<Vec<&PathPattern>> = stricter
            .chain(rules.protections.read_patterns().map(Some))
            .collect();
        let patterns = all.filter(|all| all.len() <= PATTERNS_AT_ONCE_MAX);
        patterns
            .and_then(|all| {
                let systems = [Os::Linux, Os::Macos, Os::Windows];
                systems
                    .map(|os| PathPatternSet::from_patterns(os, &all))
                    .into_iter()
                    .collect()
            })
            .map_or(Self::Any, Self::Some)
    }

    fn may_mask(&self, path: &str, root: Option<&str>) -> bool {
        let Self::Some(patterns) = self else {
            return true;
        };
        let forms = PathForms {
            real: path,
            root,
            inside: true,
        };
        // Such a path has more than one spelling, and each of them counts.
        let is_plain = !path.contains('\\') && !path.contains("//");
        !is_plain || patterns.iter().any(|patterns| patterns.may_cover(&forms))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::RuleScope;

    use super::*;
    use crate::rules_file::{self, RulesFileSource};

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
        /// The quick look leaves the set of closed files unchanged.
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
                let source = RulesFileSource { os, ..RulesFileSource::new("r", RuleScope::User) };
                set.extend(rules_file::parse_rules_file(&text, &source).into_iter().flat_map(|file| file.rules));
            }
            let path = names.iter().map(|at| NAMES[*at]).collect::<Vec<_>>().join("/");
            prop_assert_eq!(set.masks_path(&path, 0), set.evaluate_mask(&path, 0), "{}", path);
        }
    }

    #[test]
    fn a_new_rule_is_looked_for_at_once() {
        let mut set = RuleSet::builtin();
        assert!(set.masks_path("deep/.env", 0) && !set.masks_path("deep/notes", 0));
        let text = "[[rule]]\npermission = 'read'\npattern = 'deep/notes'\naction = 'deny'\n";
        set.add(
            rules_file::parse_rules_file(text, &RulesFileSource::new("r", RuleScope::User))
                .unwrap(),
        );
        assert!(set.masks_path("deep/notes", 0) && set.has_stable_masks());
        let text = format!("{text}max_uses = 2\n");
        set.add(
            rules_file::parse_rules_file(&text, &RulesFileSource::new("r", RuleScope::User))
                .unwrap(),
        );
        assert!(!set.has_stable_masks());
    }
}
