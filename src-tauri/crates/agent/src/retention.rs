//! How long copies for undo are kept: by age and by what they take on disk, the newest first.

use std::sync::Arc;

use protocol::history::Collected;
use protocol::op::Receipt;
use protocol::{At, Fault, Settings};
use runtime::Keep;

use crate::desk::Shared;
use crate::undo::on_history;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Drops copies that are too old or too many. Their calls stay on record; an undo of them is then refused by name.
pub(crate) async fn run(shared: &Arc<Shared>) -> Result<Collected, Fault> {
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
            ..Settings::default()
        };
        let expected = Keep {
            since: 10 * DAY_MS,
            bytes_max: 100,
        };
        assert_eq!(keep(&settings, 20 * DAY_MS), expected);
    }
}
