//! Rules about the remotes that commands of git use (M27).

use protocol::rule::evidence::RemoteUse;
use protocol::{Rule, RuleAction};

use super::{CompiledPattern, CompiledRule};
use crate::patterns::RemoteAddress;

impl CompiledRule {
    /// The address that the rule is about, if it is about a remote.
    pub(crate) fn remote_address(&self) -> Option<&RemoteAddress> {
        match &self.pattern {
            CompiledPattern::Remote(address) => Some(address),
            CompiledPattern::Everything
            | CompiledPattern::Exactly(_)
            | CompiledPattern::Argument(_)
            | CompiledPattern::Cache(_)
            | CompiledPattern::Some { .. } => None,
        }
    }

    /// Whether the rule lets commands use a remote, and may do so.
    pub(in crate::rules) fn allows_remote(&self, remote: &RemoteUse) -> bool {
        self.trusted && self.names_remote(remote)
    }

    pub(super) fn names_remote(&self, remote: &RemoteUse) -> bool {
        let address = self.remote_address();
        remote.kind.permission() == self.permission()
            && address.is_some_and(|address| address.as_str() == remote.address)
    }
}

impl CompiledPattern {
    /// A pattern for uses of a remote. What looks at a command to ask about it or to deny it has to see more than the
    /// uses that are understood.
    pub(super) fn new_remote(rule: &Rule) -> Result<Self, String> {
        let permission = &rule.permission;
        if rule.action != RuleAction::Allow {
            let command = permission.replace('.', " ");
            return Err(format!(
                "a rule for `{permission}` can only allow; to ask or deny, name the command: `bash` with `{command}*`"
            ));
        }
        let Some(pattern) = &rule.pattern else {
            return Err(format!(
                "a rule for `{permission}` needs the address of the remote as its pattern"
            ));
        };
        RemoteAddress::parse(pattern).map(Self::Remote)
    }
}
