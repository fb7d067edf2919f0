//! Rules that keep what commands write in a cache of the home folder (M28).

use protocol::{Rule, RuleAction};

use super::{CompiledPattern, CompiledRule};

/// The permission by which a rule keeps what commands write in a cache of the home folder.
pub(crate) const HOME_KEEP: &str = "home.keep";

impl CompiledRule {
    /// The cache that the rule is about, if it is about one.
    pub(crate) fn cache(&self) -> Option<&str> {
        match &self.pattern {
            CompiledPattern::Cache(folder) => Some(folder),
            CompiledPattern::Everything
            | CompiledPattern::Exactly(_)
            | CompiledPattern::Argument(_)
            | CompiledPattern::Remote(_)
            | CompiledPattern::Some { .. } => None,
        }
    }

    /// Whether the rule keeps what commands write in a cache, and may do so.
    pub(in crate::rules) fn keeps_cache(&self, folder: &str) -> bool {
        self.trusted && self.cache() == Some(folder)
    }
}

impl CompiledPattern {
    /// A pattern for a cache of the home folder, whole and as it is listed.
    pub(super) fn new_cache(rule: &Rule) -> Result<Self, String> {
        if rule.action != RuleAction::Allow {
            return Err(format!(
                "a rule for `{HOME_KEEP}` can only allow; without one everything is thrown away"
            ));
        }
        if rule.max_uses.is_some() {
            return Err(format!(
                "the uses of a rule for `{HOME_KEEP}` are not counted"
            ));
        }
        let folder = rule.pattern.as_deref().unwrap_or_default();
        let below = folder.strip_prefix("~/").unwrap_or_default();
        let is_plain =
            |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['*', '?', '[', '{']);
        match below.split('/').all(is_plain) {
            true => Ok(Self::Cache(folder.to_owned())),
            false => Err(format!(
                "a rule for `{HOME_KEEP}` needs a cache of the home folder as its pattern, such as `~/.npm/_cacache`"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::RuleScope;

    use super::*;
    use crate::path::Os;

    #[test]
    fn only_a_trusted_rule_for_the_very_cache_keeps_it() {
        let keeps = |folder: &str, trusted: bool| {
            let rule = Rule {
                permission: HOME_KEEP.to_owned(),
                pattern: Some("~/.npm/_cacache".to_owned()),
                action: RuleAction::Allow,
                reason: None,
                scope: RuleScope::Project,
                file: None,
                line: None,
                expires_ms: None,
                max_uses: None,
                grant: None,
            };
            let rule = CompiledRule::new(rule, Os::Linux, trusted).unwrap();
            rule.keeps_cache(folder)
        };
        assert!(keeps("~/.npm/_cacache", true));
        assert!(!keeps("~/.npm/_cacache", false));
        assert!(!keeps("~/.npm", true));
        assert!(!keeps("~/.npm/_cacache/tmp", true));
    }
}
