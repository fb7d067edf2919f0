//! How long copies for undo and long outputs are kept: by age and by what they take on disk, the newest first.

use std::sync::Arc;

use protocol::history::Collected;
use protocol::op::Receipt;
use protocol::{At, Fault, Settings};
use runtime::Keep;

use crate::desk::Shared;
use crate::undo::on_history;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Drops copies that are too old or too many, and outputs. Their calls stay on record; an undo of them is then refused by name.
pub(crate) async fn run(shared: &Arc<Shared>) -> Result<Collected, Fault> {
    sweep_outputs(shared);
    let keep = keep(&shared.settings(), shared.config.clock.now());
    on_history(shared, move |history| history.collect(&keep)).await
}

/// The same, as the person asked for it.
pub(crate) async fn receipt(shared: &Arc<Shared>) -> Result<Receipt, Fault> {
    Ok(Receipt {
        collected: Some(run(shared).await?),
        ..Receipt::default()
    })
}

/// Packs and removes long outputs of sessions that are not at work, in the background. A process that only does one thing
/// does so once a day.
pub(crate) fn sweep_outputs(shared: &Arc<Shared>) {
    let config = &shared.config;
    let (data_dir, now) = (config.data_dir.clone(), config.clock.now());
    let keep = outputs_kept(&shared.settings(), now);
    let (is_short, stamp) = (!config.takes_up, data_dir.join("sessions").join(SWEPT));
    tokio::task::spawn_blocking(move || {
        let last = runtime::read_text(&stamp).ok().flatten();
        let last: At = last.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        if is_short && now - last < DAY_MS {
            return;
        }
        let swept = runtime::outputs::sweep(&data_dir, &keep, now);
        let noted = runtime::write_atomic(&stamp, now.to_string().as_bytes(), 0o600);
        if let Err(error) = swept.map(drop).and(noted) {
            tracing::warn!(%error, "old outputs are still there");
        }
    });
}

/// The file that holds when outputs were swept last, in milliseconds.
const SWEPT: &str = "swept";

fn outputs_kept(settings: &Settings, now: At) -> Keep {
    Keep {
        since: now - i64::from(settings.outputs_keep_days) * DAY_MS,
        bytes_max: settings.outputs_bytes_max,
    }
}

fn keep(settings: &Settings, now: At) -> Keep {
    Keep {
        since: now - i64::from(settings.undo_keep_days) * DAY_MS,
        bytes_max: settings.undo_bytes_max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_say_how_long() {
        let settings = Settings {
            undo_keep_days: 10,
            undo_bytes_max: 100,
            outputs_keep_days: 5,
            outputs_bytes_max: 50,
            ..Settings::default()
        };
        let expected = Keep {
            since: 10 * DAY_MS,
            bytes_max: 100,
        };
        assert_eq!(keep(&settings, 20 * DAY_MS), expected);
        let expected = Keep {
            since: 15 * DAY_MS,
            bytes_max: 50,
        };
        assert_eq!(outputs_kept(&settings, 20 * DAY_MS), expected);
    }
}
