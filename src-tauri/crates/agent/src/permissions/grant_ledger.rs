//! The ledger of grants: one file for each in the data folder, so that no two approvals write the same file, whichever
//! processes share the folder, and so that a revocation takes effect everywhere at once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use policy::RuleSet;
use policy::grants::grant_rule_scope;
use policy::path::Os;
use policy::rules::CompiledRule;
use protocol::rule::grants::{GrantOrigin, GrantScope};
use protocol::{At, Digest, GrantId, Rule, RuleAction, SessionId, UserError};
use serde::{Deserialize, Serialize};

/// A grant as stored on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredGrant {
    pub id: GrantId,
    pub lasts: GrantScope,
    /// Workspace that the grant holds in; none for everywhere.
    pub workspace: Option<String>,
    pub permission: String,
    /// Description of the call for a person, if the grant is for one call.
    pub pattern: Option<String>,
    /// Digest of the only call that the grant is for; none if it is for any matching call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exactly: Option<Digest>,
    /// Reason to show to a person; none if the grant's scope is self-explanatory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the grant is for the reading verb that its permission names: it speaks where no rule does (M26).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_verb: bool,
    pub action: RuleAction,
    pub since: At,
    pub until_ms: Option<i64>,
    pub max_uses: Option<u32>,
    pub made_by: GrantOrigin,
    pub revoked: Option<At>,
}

impl StoredGrant {
    /// Returns the grant as a rule.
    pub fn to_rule(&self) -> Rule {
        Rule {
            permission: self.permission.clone(),
            pattern: self.pattern.clone(),
            action: self.action,
            reason: self.reason.clone(),
            scope: grant_rule_scope(self.lasts),
            file: None,
            line: None,
            expires_ms: self.until_ms,
            max_uses: self.max_uses,
            grant: Some(self.id.clone()),
        }
    }

    /// Compiles the grant's rule for matching.
    pub fn compile_rule(&self) -> Result<CompiledRule, String> {
        match &self.exactly {
            Some(call) => Ok(CompiledRule::for_exact_call(self.to_rule(), call.clone())),
            None => CompiledRule::new(self.to_rule(), Os::CURRENT, true),
        }
    }

    /// Returns the session that the grant ends with, if it ends with one.
    pub fn session_id(&self) -> Option<&SessionId> {
        match self.lasts {
            GrantScope::Session => Some(&self.made_by.session),
            GrantScope::Project | GrantScope::Everywhere => None,
        }
    }

    /// Returns a short description of the grant's scope.
    pub fn describe(&self) -> String {
        let tool = match self.permission.as_str() {
            "bash" => String::new(),
            other => format!("{other} "),
        };
        let words = match &self.pattern {
            Some(pattern) => format!("{tool}{pattern}"),
            None => self.permission.clone(),
        };
        match &self.reason {
            Some(reason) => format!("{words} ({reason})"),
            None => words,
        }
    }

    /// Whether the grant applies in a workspace, to a session of this lineage.
    pub fn holds_for(&self, root: &str, lineage: &[SessionId]) -> bool {
        self.revoked.is_none()
            && match self.lasts {
                GrantScope::Session => lineage.contains(&self.made_by.session),
                GrantScope::Project => self.workspace.as_deref() == Some(root),
                GrantScope::Everywhere => true,
            }
    }
}

/// Saves a grant to disk; once this returns no crash loses it.
pub(crate) fn save_grant(data_dir: &Path, granted: &StoredGrant) -> Result<(), UserError> {
    let text = serde_json::to_vec_pretty(granted).map_err(|error| {
        UserError::new("The grant cannot be written.", "Report this.").with_source(&error)
    })?;
    Ok(runtime::write_atomic(
        &grant_path(data_dir, &granted.id),
        &text,
        0o600,
    )?)
}

/// Revokes a grant. Revoking it twice changes nothing.
pub(crate) fn mark_revoked(
    data_dir: &Path,
    id: &GrantId,
    now: At,
) -> Result<StoredGrant, UserError> {
    let mut granted = load_grant(data_dir, id)?.ok_or_else(|| {
        UserError::new(
            format!("There is no grant {id}."),
            "Look at the list of grants.",
        )
    })?;
    if granted.revoked.is_none() {
        granted.revoked = Some(now);
        save_grant(data_dir, &granted)?;
    }
    Ok(granted)
}

/// Removes the grants of sessions that held no longer than these.
pub(crate) fn remove_session_grants(
    data_dir: &Path,
    sessions: &BTreeSet<SessionId>,
) -> Result<(), UserError> {
    let (all, _) = load_grants(data_dir);
    let own = all
        .iter()
        .filter(|one| one.lasts == GrantScope::Session && sessions.contains(&one.made_by.session));
    for granted in own {
        runtime::remove_if_exists(&grant_path(data_dir, &granted.id))?;
    }
    Ok(())
}

/// Whether a grant is not revoked, as stored on disk at this moment.
pub(crate) fn is_in_force(data_dir: &Path, id: &GrantId) -> bool {
    matches!(load_grant(data_dir, id), Ok(Some(granted)) if granted.revoked.is_none())
}

/// Returns every grant, the newest first, and the errors of those that cannot be read.
pub(crate) fn load_grants(data_dir: &Path) -> (Vec<StoredGrant>, Vec<UserError>) {
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    match runtime::list_file_names(&grants_dir(data_dir)) {
        Err(error) => faults.push(error.into()),
        Ok(names) => {
            for name in names {
                match read_grant(&grants_dir(data_dir).join(name)) {
                    Ok(found) => all.extend(found),
                    Err(fault) => faults.push(fault),
                }
            }
        }
    }
    all.sort_by_key(|granted: &StoredGrant| std::cmp::Reverse(granted.since));
    (all, faults)
}

/// Adds the grants in force to the rules, and returns the errors of those that cannot be read: any of them may be a denial,
/// so each is an error of the rules.
pub(crate) fn add_grants(
    rules: &mut RuleSet,
    data_dir: &Path,
    root: &str,
    lineage: &[SessionId],
) -> Vec<UserError> {
    let (all, mut faults) = load_grants(data_dir);
    let holding = all.iter().filter(|one| one.holds_for(root, lineage));
    for granted in holding {
        match granted.compile_rule() {
            _ if granted.is_verb => rules.add_verb_grant(granted.to_rule()),
            Ok(rule) => rules.extend([rule]),
            Err(what) => faults.push(UserError::new(
                format!("The grant {} cannot be read: {what}.", granted.id),
                REMOVE_HINT,
            )),
        }
    }
    faults
}

const REMOVE_HINT: &str =
    "Take it back in the list of grants, or remove its file. Until then every call asks.";

fn load_grant(data_dir: &Path, id: &GrantId) -> Result<Option<StoredGrant>, UserError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match id.as_str().chars().all(plain) && !id.as_str().is_empty() {
        true => read_grant(&grant_path(data_dir, id)),
        false => Ok(None),
    }
}

fn read_grant(file: &Path) -> Result<Option<StoredGrant>, UserError> {
    let Some(text) = runtime::read_text(file)? else {
        return Ok(None);
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        UserError::new(
            format!("The grant {} cannot be read: {error}.", file.display()),
            REMOVE_HINT,
        )
    })
}

fn grants_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("grants")
}

fn grant_path(data_dir: &Path, id: &GrantId) -> PathBuf {
    grants_dir(data_dir).join(format!("{id}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(id: &str, lasts: GrantScope) -> StoredGrant {
        StoredGrant {
            id: id.into(),
            lasts,
            workspace: (lasts != GrantScope::Everywhere).then(|| "/w".to_owned()),
            permission: "bash".to_owned(),
            pattern: Some("ls *".to_owned()),
            exactly: None,
            reason: None,
            is_verb: false,
            action: RuleAction::Allow,
            since: 1,
            until_ms: None,
            max_uses: None,
            made_by: GrantOrigin {
                session: "ses_1".into(),
                call: "call_1".into(),
            },
            revoked: None,
        }
    }

    #[test]
    fn each_holds_where_it_was_granted() {
        for (lasts, root, session, holds) in [
            (GrantScope::Session, "/w", "ses_1", true),
            (GrantScope::Session, "/w", "ses_2", false),
            (GrantScope::Project, "/w", "ses_2", true),
            (GrantScope::Project, "/v", "ses_1", false),
            (GrantScope::Everywhere, "/v", "ses_2", true),
        ] {
            let mut one = granted("grt_1", lasts);
            assert_eq!(one.holds_for(root, &[session.into()]), holds, "{lasts:?}");
            one.revoked = Some(2);
            assert!(!one.holds_for(root, &[session.into()]));
        }
    }

    /// A sub-agent's session has the grants and denials of its caller; a grant of its own is the person's decision on
    /// its own card, and does not apply to its callers (`S004-11`).
    #[test]
    fn a_child_has_what_its_parent_has_and_no_more() {
        let (parent, child) = (["ses_1".into()], ["ses_2".into(), "ses_1".into()]);
        for lasts in [
            GrantScope::Session,
            GrantScope::Project,
            GrantScope::Everywhere,
        ] {
            for (action, made_in) in [
                (RuleAction::Allow, "ses_1"),
                (RuleAction::Deny, "ses_1"),
                (RuleAction::Allow, "ses_3"),
                (RuleAction::Deny, "ses_3"),
                (RuleAction::Allow, "ses_2"),
                (RuleAction::Deny, "ses_2"),
            ] {
                let mut one = granted("grt_1", lasts);
                (one.action, one.made_by.session) = (action, made_in.into());
                let holds = |lineage| one.holds_for("/w", lineage);
                let own = lasts == GrantScope::Session && made_in == "ses_2";
                assert_eq!(holds(&child[..]), holds(&parent[..]) || own, "{one:?}");
                assert!(!own || !holds(&parent[..]));
            }
        }
    }

    #[test]
    fn approvals_at_the_same_time_lose_nothing() {
        let home = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let data_dir = home.path();
                scope.spawn(move || {
                    for number in 0..10 {
                        let id = format!("grt_{thread}_{number}");
                        save_grant(data_dir, &granted(&id, GrantScope::Everywhere)).unwrap();
                    }
                });
            }
        });
        let (all, faults) = load_grants(home.path());
        assert_eq!((all.len(), faults.len()), (40, 0));
    }

    #[test]
    fn what_cannot_be_read_is_a_fault_and_never_silently_gone() {
        let home = tempfile::tempdir().unwrap();
        save_grant(home.path(), &granted("grt_1", GrantScope::Everywhere)).unwrap();
        runtime::write_atomic(&home.path().join("grants/grt_2.json"), b"{", 0o600).unwrap();
        let mut rules = RuleSet::default();
        let faults = add_grants(&mut rules, home.path(), "/w", &[]);
        assert_eq!((rules.len(), faults.len()), (1, 1));
        let revoked = mark_revoked(home.path(), &"grt_1".into(), 5).unwrap();
        assert_eq!(revoked.revoked, Some(5));
        assert!(!is_in_force(home.path(), &"grt_1".into()));
        assert!(mark_revoked(home.path(), &"../grt_1".into(), 5).is_err());
        assert!(mark_revoked(home.path(), &"grt_9".into(), 5).is_err());
    }
}
