//! Rights to files and folders that a command widens to everyone, or takes away from their owner.

use std::fmt::Write as _;

use protocol::{CapturedEffects, EffectStep, Node};

use crate::fs::workspace::display_path;

/// The right of everyone else to write.
const OTHERS_WRITE: u32 = 0o002;
/// The right of the owner to read.
const OWNER_READ: u32 = 0o400;

/// Describes, in one sentence each, rights that everyone gets and that the owner loses by what a command did.
pub fn describe_changed_rights(captured: &CapturedEffects) -> Vec<String> {
    let list = |is_meant: &dyn Fn(u32, u32) -> bool| -> Option<String> {
        let changed = |step: &&EffectStep| {
            let modes = mode_of(&step.before).zip(mode_of(&step.after));
            modes.is_some_and(|(before, after)| is_meant(before, after))
        };
        let mut paths = captured.steps.iter().filter(changed);
        let mut named = format!("`{}`", display_path(&paths.next()?.path));
        let more = paths.count();
        if more > 0 {
            let _ = write!(named, " and {more} more");
        }
        Some(named)
    };
    let widened = list(&|before, after| before & OTHERS_WRITE == 0 && after & OTHERS_WRITE != 0);
    let taken = list(&|before, after| before & OWNER_READ != 0 && after & OWNER_READ == 0);
    let widened =
        widened.map(|paths| format!("It lets everyone on this machine write to {paths}."));
    let taken = taken.map(|paths| format!("It takes away the right to read {paths}."));
    widened.into_iter().chain(taken).collect()
}

fn mode_of(node: &Node) -> Option<u32> {
    match node {
        Node::File { mode, .. } | Node::Folder { mode, .. } => Some(*mode),
        Node::Absent | Node::Link { .. } => None,
    }
}
