//! `record rescue`: saves what can be read of a damaged record. No engine is opened: it would refuse the record.

use std::path::{Path, PathBuf};

use agent::{EngineConfig, Rescued, RescuedRecord};
use protocol::text::display_text::format_count;
use serde_json::json;

use super::absolute_path;
use crate::args::RescueArgs;
use crate::exit::{CliError, CliResult};
use crate::output::OutputWriter;

/// Ranges of lost positions that are listed at most.
const LOST_LISTED_MAX: usize = 10;

/// Saves the record in a file of its own, or in its place.
pub(super) fn rescue_record(
    data_dir: Option<PathBuf>,
    args: &RescueArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let data_dir = EngineConfig::resolve_data_dir(data_dir).map_err(CliError::config_error)?;
    let saved = match (args.replace, &args.out) {
        (true, _) => agent::replace_damaged_record(&data_dir),
        (false, None) => agent::rescue_record(&data_dir, None),
        (false, Some(file)) => {
            agent::rescue_record(&data_dir, Some(absolute_path("new record", file)?))
        }
    };
    let RescuedRecord {
        rescued,
        file,
        damaged,
    } = saved.map_err(CliError::config_error)?;
    let answer = json!({
        "file": file,
        "damaged": damaged,
        "events": rescued.events,
        "sessions": rescued.sessions,
        "lost": rescued.lost.iter().map(|lost| [lost.start(), lost.end()]).collect::<Vec<_>>(),
    });
    out.write_answer(&answer, |out| {
        out.write_line(&format!(
            "Saved {} of {} in {}.",
            format_count(rescued.events, "event"),
            format_count(rescued.sessions as u64, "session"),
            file.display()
        ))?;
        out.write_line(&describe_lost(&rescued))?;
        out.write_line(&describe_next_step(damaged.as_deref()))
    })
}

fn describe_lost(rescued: &Rescued) -> String {
    if rescued.lost.is_empty() {
        return "Nothing was unreadable.".to_owned();
    }
    let ranges =
        rescued
            .lost
            .iter()
            .take(LOST_LISTED_MAX)
            .map(|lost| match lost.start() == lost.end() {
                true => lost.start().to_string(),
                false => format!("{} to {}", lost.start(), lost.end()),
            });
    let ranges = ranges.collect::<Vec<_>>().join(", ");
    let more = match rescued.lost.len() > LOST_LISTED_MAX {
        true => ", …",
        false => "",
    };
    format!(
        "Up to {} could not be read, at these positions: {ranges}{more}.",
        format_count(rescued.lost_count(), "event")
    )
}

fn describe_next_step(damaged: Option<&Path>) -> String {
    match damaged {
        Some(damaged) => format!("The damaged record is kept as {}.", damaged.display()),
        None => "To go on with what was saved: countersign record rescue --replace".to_owned(),
    }
}
