//! Answers to permission requests: options are chosen by their kind, and none that the agent would remember is chosen.

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, SelectedPermissionOutcome,
};

/// Answer to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PermissionAnswer {
    /// The call may run, this once.
    Allow,
    /// The call may not run.
    Reject,
    /// The turn was stopped.
    Cancel,
}

impl PermissionAnswer {
    /// Returns the outcome for the agent, with one of its options. What would let the agent run such calls again without
    /// asking is never chosen: that decision is the person's rules'. Where there is no fitting option, the request is
    /// cancelled.
    pub fn to_outcome(self, options: &[PermissionOption]) -> RequestPermissionOutcome {
        let kinds: &[PermissionOptionKind] = match self {
            Self::Allow => &[PermissionOptionKind::AllowOnce],
            Self::Reject => &[PermissionOptionKind::RejectOnce],
            Self::Cancel => &[],
        };
        let option = options.iter().find(|option| kinds.contains(&option.kind));
        match option {
            Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
                option.option_id.clone(),
            )),
            None => RequestPermissionOutcome::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(id: &str, kind: PermissionOptionKind) -> PermissionOption {
        PermissionOption::new(id.to_owned(), id.to_owned(), kind)
    }

    fn chosen(answer: PermissionAnswer, options: &[PermissionOption]) -> Option<String> {
        match answer.to_outcome(options) {
            RequestPermissionOutcome::Selected(selected) => Some(selected.option_id.0.to_string()),
            _ => None,
        }
    }

    #[test]
    fn options_are_chosen_by_kind_and_nothing_is_remembered() {
        use PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
        let all = [
            option("always", AllowAlways),
            option("never", RejectAlways),
            option("no", RejectOnce),
            option("yes", AllowOnce),
        ];
        assert_eq!(
            chosen(PermissionAnswer::Allow, &all).as_deref(),
            Some("yes")
        );
        assert_eq!(
            chosen(PermissionAnswer::Reject, &all).as_deref(),
            Some("no")
        );
        assert_eq!(chosen(PermissionAnswer::Cancel, &all), None);
        assert_eq!(chosen(PermissionAnswer::Allow, &all[..2]), None);
        assert_eq!(chosen(PermissionAnswer::Reject, &all[..2]), None);
    }
}
