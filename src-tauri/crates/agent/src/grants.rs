//! What each answer on a card would grant: one line each, duration first.

use protocol::event::{Grant, Reach};
use protocol::preview::UndoOutlook;
use protocol::{Plan, Preview};

/// The lines for a call with this preview.
pub fn grants(preview: &Preview, plan: &Plan, undo: &UndoOutlook) -> Vec<Grant> {
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
                Reach::Once,
                "Submit",
                format!("gives the agent {many}, word for word."),
            ),
            line(
                Reach::Nothing,
                "Skip",
                "tells the agent that you chose not to answer.".to_owned(),
            ),
        ];
    }
    let undoable = match undo {
        UndoOutlook::NotNeeded => String::new(),
        UndoOutlook::Secured => " A copy is taken first, so it can be undone.".to_owned(),
        UndoOutlook::Unsecured { reason } => format!(" It cannot be undone: {reason}"),
    };
    let allow = match (preview, plan) {
        (Preview::Command(_), _) => "runs exactly this command, once.".to_owned(),
        (_, Plan::Write(changes)) => match changes.as_slice() {
            [one] if one.before.is_none() => "creates this file with this content.".to_owned(),
            [_] => "writes the checked hunks to the file and tells the agent which were left out."
                .to_owned(),
            many => format!("writes the checked hunks to {} files.", many.len()),
        },
        (_, Plan::Remove(removal)) => match removal.files {
            1 => "removes this file and nothing else.".to_owned(),
            files => format!("removes these {files} files and nothing else."),
        },
        (_, Plan::None) => "lets this one call run.".to_owned(),
    };
    let kept = match plan {
        Plan::None => "does not run it.",
        Plan::Write(_) => "leaves the file as it is.",
        Plan::Remove(_) => "keeps everything.",
    };
    vec![
        line(Reach::Once, "Allow", format!("{allow}{undoable}")),
        line(
            Reach::Nothing,
            "Reject",
            format!("{kept} The agent is told, and goes on or stops, as you choose."),
        ),
    ]
}
