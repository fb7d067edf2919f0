//! The description of what each answer on a card grants: one line each, duration first.

use protocol::event::{Grant, GrantReach};
use protocol::rule::evidence::Confinement;
use protocol::rule::grants::GrantOffers;
use protocol::view::preview::UndoAvailability;
use protocol::{FileChange, Plan, Preview, RuleAction};

use crate::pipeline::prepare::PreparedCall;

/// Returns the lines for a call that is ready to run, with the grants that may be offered from now on. `verb` is the
/// permission that *Allow* grants for the session.
pub(crate) fn describe_grants(
    call: &PreparedCall,
    offers: &GrantOffers,
    verb: Option<&str>,
) -> Vec<Grant> {
    let PreparedCall {
        preview,
        plan,
        undo,
        new_roots: opens,
        ..
    } = call;
    let line = |reach, button: &str, text: String| Grant {
        reach,
        button: button.to_owned(),
        text,
    };
    if let Preview::Form { questions } = preview {
        let many = if questions.len() == 1 {
            "the answer"
        } else {
            "the answers"
        };
        return vec![
            line(
                GrantReach::Once,
                "Submit",
                format!("gives the agent {many}, word for word."),
            ),
            line(
                GrantReach::Nothing,
                "Skip",
                "tells the agent that you chose not to answer.".to_owned(),
            ),
        ];
    }
    if let Preview::Plan { .. } = preview {
        return vec![
            line(
                GrantReach::Once,
                "Accept",
                "ends the planning. Each call is then judged as any other: the plan allows none of them.".to_owned(),
            ),
            line(
                GrantReach::Nothing,
                "Keep planning",
                "changes nothing. The agent is told, with your note, and plans on.".to_owned(),
            ),
        ];
    }
    if let Preview::Response(_) = preview {
        return vec![
            line(
                GrantReach::Once,
                "Let it read",
                "gives the agent what came, marked as somebody else's words. It is not fetched again.".to_owned(),
            ),
            line(
                GrantReach::Nothing,
                "Keep it back",
                "gives the agent nothing of it. The agent is told that you kept it back.".to_owned(),
            ),
        ];
    }
    let undoable = match undo {
        UndoAvailability::NotNeeded => String::new(),
        UndoAvailability::Secured => " A copy is taken first, so it can be undone.".to_owned(),
        UndoAvailability::Captured | UndoAvailability::Snapshot if preview.is_delegated() => {
            " The agent runs it itself, outside any sandbox; what it changes in this folder can be undone. What it does elsewhere cannot be undone."
                .to_owned()
        }
        UndoAvailability::Captured => {
            " It runs in a sandbox; what it changes in the folder is committed afterwards and can be undone."
                .to_owned()
        }
        UndoAvailability::Snapshot if call.confinement == Confinement::Unconfined => {
            " It runs as you, outside any sandbox; what it changes in this folder can be undone. What it does elsewhere cannot be undone."
                .to_owned()
        }
        UndoAvailability::Snapshot => {
            " It runs for real in a sandbox; what it changes in this folder can be undone. What it does elsewhere cannot be undone."
                .to_owned()
        }
        UndoAvailability::Unsecured { reason } => format!(" It cannot be undone: {reason}"),
    };
    let allow = match (preview, plan) {
        _ if !opens.is_empty() => format!(
            "opens {} for reading in this session, to what requires it. The call is then judged as any other.",
            opens
                .iter()
                .map(|place| format!("`{place}`"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        (shown, _) if matches!(shown, Preview::Command(_)) || shown.is_delegated() => {
            "runs exactly this command, once.".to_owned()
        }
        (_, Plan::Write(changes)) => match changes.as_slice() {
            [one] if one.before.is_none() => "creates this file with this content.".to_owned(),
            [one] if one.after.is_none() => "removes this file and nothing else.".to_owned(),
            [_] => "writes the checked hunks to the file and tells the agent which were left out."
                .to_owned(),
            [gone, come] if come.from.as_ref() == Some(&gone.path) => {
                "moves this file, with the checked hunks.".to_owned()
            }
            many if many.iter().any(|one| one.after.is_none()) => format!(
                "does what is checked to {} files and tells the agent what was left out.",
                FileChange::count_files(many)
            ),
            many => format!("writes the checked hunks to {} files.", many.len()),
        },
        (_, Plan::Remove(removal)) => match removal.files {
            1 => "removes this file and nothing else.".to_owned(),
            files => format!("removes these {files} files and nothing else."),
        },
        (_, Plan::Effects(_)) => {
            "commits what is shown as it was captured; the command does not run again.".to_owned()
        }
        (_, Plan::None) => "lets this one call run.".to_owned(),
    };
    let rejection = match plan {
        Plan::None => "does not run it.",
        Plan::Write(changes) if FileChange::count_files(changes) > 1 => {
            "leaves the files as they are."
        }
        Plan::Write(_) => "leaves the file as it is.",
        Plan::Remove(_) => "keeps everything.",
        Plan::Effects(_) => "leaves everything as it is.",
    };
    let narrowest = offers
        .offers
        .iter()
        .find(|offer| offer.action == RuleAction::Allow);
    let always = narrowest.map(|offer| {
        let text = match offer.exactly {
            true => format!(
                "also holds for the rest of this session, for {}",
                offer.words
            ),
            false => format!(
                "also lets calls like it run, from {} on: you choose how widely and for how long.",
                offer.words
            ),
        };
        line(GrantReach::Always, "Always…", text)
    });
    let reach = match opens.is_empty() && verb.is_none() {
        true => GrantReach::Once,
        false => GrantReach::Session,
    };
    let further = verb.map_or_else(String::new, |permission| {
        format!(" Further calls of `{permission}` pass in this session where no rule speaks.")
    });
    let once = line(reach, "Allow", format!("{allow}{undoable}{further}"));
    let reject = line(
        GrantReach::Nothing,
        "Reject",
        format!("{rejection} The agent is told, and goes on or stops, as you choose."),
    );
    [Some(once), always, Some(reject)]
        .into_iter()
        .flatten()
        .collect()
}
