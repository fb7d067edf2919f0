//! Actions of a call that no copy of files brings back, as far as the facts of the call tell; listed before an undo.

use protocol::Capability;
use protocol::rule::evidence::Evidence;

use crate::shell::list_has_word;
use crate::watchdogs::NETWORK_PROGRAMS;

/// An action that cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IrreversibleAction {
    /// The cause or the thing itself: `git push`, `/etc/hosts`, `what it sent to docs.rs`.
    pub what: String,
    /// Reason why it stays, one plain sentence.
    pub reason: &'static str,
}

const SENT_REASON: &str = "What it sent to another machine stays there.";
const READ_REASON: &str = "Others read what it sent there.";
const OUTSIDE_REASON: &str = "It lies outside the workspace, where no copy was taken.";

/// Programs with the words that make them change something on another machine.
const SENDING_COMMANDS: [(&str, &str); 7] = [
    ("git", "push send-email"),
    ("hg gem docker podman", "push"),
    ("svn", "commit"),
    ("npm", "publish unpublish"),
    ("pnpm yarn", "publish"),
    ("cargo", "publish yank"),
    ("twine", "upload"),
];
/// Programs that change something on another machine with any arguments.
const SENDING_PROGRAMS: &str = "gh glab kubectl helm terraform aws gcloud az psql mysql";

/// Lists the actions of a call that cannot be undone, each once.
pub fn list_irreversible_actions(evidence: &Evidence) -> Vec<IrreversibleAction> {
    let mut actions: Vec<IrreversibleAction> = Vec::new();
    let mut add = |what: String, reason| {
        if !actions.iter().any(|one| one.what == what) {
            actions.push(IrreversibleAction { what, reason });
        }
    };
    if let Some(server) = &evidence.sent_to_others {
        add(format!("what it sent to {server}"), READ_REASON);
    }
    // A dry run changes nothing outside of it, and a host that was not reached was sent nothing.
    if let Some(dry_run) = &evidence.dry_run {
        for host in &dry_run.reached {
            add(format!("what it sent to {host}"), SENT_REASON);
        }
        return actions;
    }
    for fact in &evidence.facts {
        match fact.capability {
            Capability::FsWrite | Capability::FsDelete if !fact.inside => {
                add(fact.real.clone(), OUTSIDE_REASON);
            }
            Capability::NetFetch if !fact.real.is_empty() => add(fact.real.clone(), SENT_REASON),
            Capability::FsRead
            | Capability::FsWrite
            | Capability::FsDelete
            | Capability::NetFetch
            | Capability::ShellRun => {}
        }
    }
    for command in &evidence.commands {
        for words in command.plain.iter().chain(&command.may_run) {
            if let Some(what) = find_sending_command(words) {
                add(what, SENT_REASON);
            }
        }
    }
    actions
}

/// The program and the word that make a command one that sends.
fn find_sending_command(words: &[String]) -> Option<String> {
    let program = words.first()?.rsplit('/').next()?;
    if list_has_word(NETWORK_PROGRAMS, program) || list_has_word(SENDING_PROGRAMS, program) {
        return Some(program.to_owned());
    }
    let mut commands = SENDING_COMMANDS.iter();
    let (_, sending) = commands.find(|(programs, _)| list_has_word(programs, program))?;
    let is_given = |word: &&str| words[1..].iter().any(|given| given == word);
    let word = sending.split(' ').find(is_given)?;
    Some(format!("{program} {word}"))
}

#[cfg(test)]
mod tests {
    use protocol::ResolvedAccess;
    use protocol::rule::evidence::{CommandEvidence, DryRunEvidence};

    use super::*;

    #[test]
    fn what_leaves_the_workspace_stays() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let outside = ResolvedAccess {
            inside: false,
            ..ResolvedAccess::new_inside(Capability::FsWrite, "/etc/hosts")
        };
        let evidence = Evidence {
            facts: vec![
                ResolvedAccess::new_inside(Capability::FsWrite, "src/a.rs"),
                outside,
                ResolvedAccess::new_inside(Capability::NetFetch, "api.example.com"),
                ResolvedAccess::new_inside(Capability::FsRead, "b"),
            ],
            commands: vec![CommandEvidence {
                plain: vec![
                    words("git -C x push origin main"),
                    words("git status"),
                    words("cargo test"),
                ],
                may_run: vec![words("/usr/bin/curl -d @a https://x"), words("git push")],
                ..CommandEvidence::default()
            }],
            ..Evidence::default()
        };
        let found: Vec<(String, &str)> = list_irreversible_actions(&evidence)
            .into_iter()
            .map(|one| (one.what, one.reason))
            .collect();
        let expected = [
            ("/etc/hosts", OUTSIDE_REASON),
            ("api.example.com", SENT_REASON),
            ("git push", SENT_REASON),
            ("curl", SENT_REASON),
        ]
        .map(|(what, reason)| (what.to_owned(), reason));
        assert_eq!(found, expected);
        assert_eq!(list_irreversible_actions(&Evidence::default()), []);
        let dry_run = DryRunEvidence {
            reached: vec!["api.example.com".to_owned()],
            ..DryRunEvidence::default()
        };
        let sealed = Evidence {
            dry_run: Some(dry_run),
            ..evidence
        };
        let sent = IrreversibleAction {
            what: "what it sent to api.example.com".to_owned(),
            reason: SENT_REASON,
        };
        assert_eq!(list_irreversible_actions(&sealed), [sent]);
        let message = Evidence {
            sent_to_others: Some("chat".to_owned()),
            ..Evidence::default()
        };
        let sent = IrreversibleAction {
            what: "what it sent to chat".to_owned(),
            reason: READ_REASON,
        };
        assert_eq!(list_irreversible_actions(&message), [sent]);
    }
}
