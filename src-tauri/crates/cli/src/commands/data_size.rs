//! `data size`: what the data folder takes, part by part, and what makes room.

use std::path::Path;

use agent::{DataFolderSize, DataPart, PartSize, format_byte_size, measure_data_folder};
use protocol::UserError;
use protocol::text::display_text::format_count;
use serde_json::json;

use crate::exit::{CliError, CliResult};
use crate::output::{OutputWriter, TextStyle};
use crate::table::{self, TableCell, new_cell};

/// Shows what a data folder takes.
pub(super) fn show_size(data_dir: &Path, out: &mut OutputWriter) -> CliResult {
    let size = measure_data_folder(data_dir);
    let parts = size.parts.iter().map(|part| {
        json!({
            "part": part.part,
            "files": part.files,
            "bytes": part.bytes,
            "room": describe_room(part.part),
        })
    });
    let unreadable = size.unreadable.iter().map(|path| path.display());
    let answer = json!({
        "folder": data_dir.display().to_string(),
        "bytes": size.bytes(),
        "parts": parts.collect::<Vec<_>>(),
        "unreadable": unreadable.map(|path| path.to_string()).collect::<Vec<_>>(),
    });
    out.write_answer(&answer, |out| write_parts(data_dir, &size, out))
}

fn write_parts(
    data_dir: &Path,
    size: &DataFolderSize,
    out: &mut OutputWriter,
) -> Result<(), CliError> {
    let rows: Vec<_> = size.parts.iter().map(format_row).collect();
    // What makes room is to be read whole.
    table::write_rows(out, &rows, None)?;
    out.write_line(&format!(
        "{} takes {}.",
        data_dir.display(),
        format_byte_size(size.bytes())
    ))?;
    if !size.unreadable.is_empty() {
        let count = format_count(size.unreadable.len() as u64, "folder");
        out.write_warning(&UserError::new(
            format!("{count} in it could not be read, so it takes more."),
            "See `unreadable` in: countersign data size --json",
        ));
    }
    Ok(())
}

fn format_row(size: &PartSize) -> Vec<TableCell> {
    vec![
        new_cell(TextStyle::Strong, part_title(size.part)),
        new_cell(TextStyle::Plain, &format_byte_size(size.bytes)),
        new_cell(TextStyle::Faint, describe_room(size.part)),
    ]
}

/// Returns the name of a part for people.
fn part_title(part: DataPart) -> &'static str {
    match part {
        DataPart::Record => "record",
        DataPart::EarlierRecords => "damaged records",
        DataPart::Undo => "copies for undo",
        DataPart::Outputs => "long outputs",
        DataPart::Sandboxes => "sandboxes",
        DataPart::Demo => "demo",
        DataPart::Settings => "settings and rules",
        DataPart::Approvals => "approvals",
        DataPart::Other => "other",
    }
}

/// Says what makes room in a part.
fn describe_room(part: DataPart) -> &'static str {
    match part {
        DataPart::Record => {
            "`countersign sessions delete` makes room in it for new sessions; `data backup` and then `data restore --replace` make it smaller"
        }
        DataPart::EarlierRecords => {
            "kept by `countersign record rescue`; remove these files once you miss nothing"
        }
        DataPart::Undo => {
            "`countersign history gc` drops what is beyond the settings `undo_keep_days` and `undo_bytes_max`"
        }
        DataPart::Outputs => {
            "`countersign sessions close` drops those of a session; the settings `outputs_keep_days` and `outputs_bytes_max` all others, once a day"
        }
        DataPart::Sandboxes => "goes by itself once its commands are over",
        DataPart::Demo => "remove the folder `demo`, unless you want to undo something in it",
        DataPart::Settings => "yours",
        DataPart::Approvals => {
            "goes with its servers, grants, and agents: `countersign servers remove`, `policy grants`, `disconnect`"
        }
        DataPart::Other => "not put there by Countersign",
    }
}
