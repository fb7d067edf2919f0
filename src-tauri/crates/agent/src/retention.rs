//! How long copies for undo are kept: by age and by how much they take together, the newest first.

use std::collections::HashSet;
use std::sync::Arc;

use protocol::{Fault, Settings, UndoEntry, UndoId};

use crate::desk::Shared;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const PAGE: u32 = 500;

/// Drops copies that are too old or too many. Their calls stay on record; an undo of them is then refused by name.
pub(crate) async fn run(shared: &Arc<Shared>) -> Result<u64, Fault> {
    let mut entries = Vec::new();
    loop {
        let (page, more) = shared
            .record
            .undo_entries(u32::try_from(entries.len()).unwrap_or(u32::MAX), PAGE)?;
        entries.extend(page);
        if !more {
            break;
        }
    }
    let dropped = dropped(&entries, &shared.settings(), shared.config.clock.now());
    let history = shared.history.clone();
    tokio::task::spawn_blocking(move || history.collect(&|id| !dropped.contains(id)))
        .await
        .map_err(|_| Fault::new("Old copies could not be dropped.", "Open the app again."))?
}

/// The entries that go, of a list with the newest first. What is not on the list stays: it may be a moment old.
fn dropped(entries: &[UndoEntry], settings: &Settings, now: i64) -> HashSet<UndoId> {
    let oldest = now - i64::from(settings.undo_keep_days) * DAY_MS;
    let mut bytes = 0_u64;
    let fits = |entry: &&UndoEntry| {
        bytes = bytes.saturating_add(entry.bytes);
        entry.at >= oldest && bytes <= settings.undo_bytes_max
    };
    let kept = entries.iter().take_while(fits).count();
    entries[kept..]
        .iter()
        .map(|entry| entry.id.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::UndoState;

    fn entry(id: &str, at: i64, bytes: u64) -> UndoEntry {
        UndoEntry {
            id: id.into(),
            session: "s".into(),
            call: "c".into(),
            at,
            workspace: "/w".into(),
            title: "Deleted a".into(),
            paths: 1,
            bytes,
            shown: vec!["a".into()],
            state: UndoState::Applied,
        }
    }

    #[test]
    fn the_newest_are_kept_as_long_as_they_fit() {
        let settings = Settings {
            undo_keep_days: 10,
            undo_bytes_max: 100,
            ..Settings::default()
        };
        let now = 20 * DAY_MS;
        let entries = [
            entry("a", now, 60),
            entry("b", now - DAY_MS, 40),
            entry("c", now - 2 * DAY_MS, 1),
            entry("d", now - 11 * DAY_MS, 0),
        ];
        assert_eq!(
            dropped(&entries, &settings, now),
            HashSet::from(["c".into(), "d".into()])
        );
        let roomy = Settings {
            undo_bytes_max: 1_000,
            ..settings
        };
        assert_eq!(dropped(&entries, &roomy, now), HashSet::from(["d".into()]));
    }
}
