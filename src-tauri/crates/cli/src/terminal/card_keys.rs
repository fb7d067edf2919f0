//! The keys of a card: only the answers that the engine would accept.

use protocol::event::GrantReach;
use protocol::view::effects::Assurance;
use protocol::{CallView, Preview};

/// One key of a card.
pub(super) struct CardKey {
    pub key: char,
    /// Name of the key's action.
    pub label: &'static str,
    /// Effect of the key.
    pub description: String,
}

/// Returns the keys of a card, the answers first; `others` is the number of other cards that wait.
pub(super) fn list_card_keys(view: &CallView, others: usize) -> Vec<CardKey> {
    let mut keys = Vec::new();
    let mut add = |key, word, does: String| {
        keys.push(CardKey {
            key,
            label: word,
            description: does,
        })
    };
    if let Preview::Form { .. } = view.preview {
        return keys;
    }
    let grants = view
        .pending
        .as_ref()
        .map_or(&[][..], |pending| &pending.grants);
    let of = |reaches: &[GrantReach]| {
        let grant = grants.iter().find(|grant| reaches.contains(&grant.reach));
        grant.map(|grant| grant.text.clone()).unwrap_or_default()
    };
    let (yes, no) = answer_labels(view);
    add('y', yes, of(&[GrantReach::Once, GrantReach::Session]));
    if can_grant(view) {
        add('a', "always…", of(&[GrantReach::Always]));
    }
    add('n', no, of(&[GrantReach::Nothing]));
    if can_dry_run(view) {
        let does = "runs it in a sandbox and shows what it would change.";
        add('p', "dry run", does.to_owned());
    }
    add(
        'e',
        "edit",
        "changes its arguments in your editor.".to_owned(),
    );
    add(
        'm',
        "message",
        "rejects it and tells the agent why.".to_owned(),
    );
    add(
        'd',
        "details",
        "shows all of it, and every gate that it passed.".to_owned(),
    );
    if others > 0 {
        add('l', "later", "goes on to the next card.".to_owned());
    }
    add('q', "stop", "rejects it and ends the turn.".to_owned());
    keys
}

/// Returns the labels of the two answers.
pub(super) fn answer_labels(view: &CallView) -> (&'static str, &'static str) {
    match &view.preview {
        Preview::Plan { .. } => ("accept", "keep planning"),
        Preview::Response(_) => ("let it read", "keep it back"),
        Preview::Effects(effects)
            if effects.effects.assurance == Assurance::Speculative
                && !effects.command.delegated
                && !effects.effects.changes.is_empty() =>
        {
            ("commit", "discard")
        }
        _ => ("allow", "reject"),
    }
}

/// Whether an answer can carry a grant.
pub(super) fn can_grant(view: &CallView) -> bool {
    let grants = view
        .pending
        .as_ref()
        .map_or(&[][..], |pending| &pending.grants);
    grants.iter().any(|grant| grant.reach == GrantReach::Always)
}

/// Whether the call can be previewed in a dry run: only where this machine guarantees that it changes nothing real.
pub(super) fn can_dry_run(view: &CallView) -> bool {
    match &view.preview {
        Preview::Command(command) => command.assurance == Some(Assurance::Speculative),
        _ => false,
    }
}
