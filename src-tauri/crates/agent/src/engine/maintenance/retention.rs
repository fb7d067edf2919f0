//! The retention of copies for undo and long outputs: by age and by size on disk, keeping the newest.

use std::sync::Arc;

use protocol::history::CollectionReceipt;
use protocol::op::OpReceipt;
use protocol::{At, Settings, UserError};
use runtime::RetentionLimits;

use crate::session::engine_state::EngineState;
use crate::undo::with_history;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Removes copies that are too old or too many, and outputs. Their calls stay on record; an undo of them is then
/// refused with an error that says so.
pub(crate) async fn run_retention(
    engine: &Arc<EngineState>,
) -> Result<CollectionReceipt, UserError> {
    sweep_outputs(engine);
    let keep = undo_retention(&engine.settings(), engine.now());
    with_history(engine, move |history| history.collect_garbage(&keep)).await
}

/// Runs retention on request of the person, and returns its receipt.
pub(crate) async fn collect_receipt(engine: &Arc<EngineState>) -> Result<OpReceipt, UserError> {
    Ok(OpReceipt {
        collected: Some(run_retention(engine).await?),
        ..OpReceipt::default()
    })
}

/// Compresses and removes long outputs of idle sessions, in the background. A process that only runs one command does
/// so once a day.
pub(crate) fn sweep_outputs(engine: &Arc<EngineState>) {
    let config = &engine.config;
    let (data_dir, now) = (config.data_dir.clone(), config.clock.now());
    let keep = output_retention(&engine.settings(), now);
    let (is_short, stamp) = (
        !config.recovers,
        data_dir.join("sessions").join(SWEPT_MARKER),
    );
    tokio::task::spawn_blocking(move || {
        let last = runtime::read_text(&stamp).ok().flatten();
        let last: At = last.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        if is_short && now - last < DAY_MS {
            return;
        }
        let swept = runtime::fs::output_retention::sweep_outputs(&data_dir, &keep, now);
        let noted = runtime::write_atomic(&stamp, now.to_string().as_bytes(), 0o600);
        if let Err(error) = swept.map(drop).and(noted) {
            tracing::warn!(%error, "old outputs are still there");
        }
    });
}

/// File with the time of the last sweep of outputs, in milliseconds.
const SWEPT_MARKER: &str = "swept";

fn output_retention(settings: &Settings, now: At) -> RetentionLimits {
    RetentionLimits {
        since: now - i64::from(settings.outputs_keep_days) * DAY_MS,
        bytes_max: settings.outputs_bytes_max,
    }
}

fn undo_retention(settings: &Settings, now: At) -> RetentionLimits {
    RetentionLimits {
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
        let expected = RetentionLimits {
            since: 10 * DAY_MS,
            bytes_max: 100,
        };
        assert_eq!(undo_retention(&settings, 20 * DAY_MS), expected);
        let expected = RetentionLimits {
            since: 15 * DAY_MS,
            bytes_max: 50,
        };
        assert_eq!(output_retention(&settings, 20 * DAY_MS), expected);
    }
}
