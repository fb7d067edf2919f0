//! `data`: size, backup, restoration, and erasure of the data folder. No engine is opened: a damaged folder is restored too.

use std::path::{Path, PathBuf};

use agent::{BackupManifest, EngineConfig, RestoredBackup};
use protocol::text::display_text::format_count;
use protocol::text::timestamp::format_timestamp;
use serde_json::json;

use super::{absolute_path, data_erase, data_size};
use crate::args::DataCommand;
use crate::exit::{CliError, CliResult};
use crate::output::OutputWriter;
use crate::table;

/// Runs a subcommand of `data`.
pub(super) fn run_data(
    data_dir: Option<PathBuf>,
    command: &DataCommand,
    out: &mut OutputWriter,
) -> CliResult {
    let data_dir = EngineConfig::resolve_data_dir(data_dir).map_err(CliError::config_error)?;
    match command {
        DataCommand::Size => data_size::show_size(&data_dir, out),
        DataCommand::Backup { file } => back_up(&data_dir, &absolute_path("backup", file)?, out),
        DataCommand::Restore { file, replace } => {
            let restored =
                agent::restore_backup(&data_dir, file, *replace).map_err(CliError::config_error)?;
            write_restored(&data_dir, &restored, out)
        }
        DataCommand::Erase { yes } => data_erase::erase(&data_dir, *yes, out),
    }
}

fn back_up(data_dir: &Path, file: &Path, out: &mut OutputWriter) -> CliResult {
    let files =
        agent::back_up(data_dir, file, table::current_time()).map_err(CliError::config_error)?;
    out.write_answer(&json!({ "file": file, "files": files }), |out| {
        out.write_line(&format!(
            "Backed up {} of {} to {}.",
            format_count(files, "file"),
            data_dir.display(),
            file.display()
        ))?;
        out.write_line("Keys are not in it; they are in the keychain of this machine.")
    })
}

fn write_restored(data_dir: &Path, restored: &RestoredBackup, out: &mut OutputWriter) -> CliResult {
    let RestoredBackup {
        manifest,
        files,
        replaced,
    } = restored;
    let BackupManifest { version, at, .. } = manifest;
    let answer = json!({
        "folder": data_dir,
        "files": files,
        "version": version,
        "at": format_timestamp(*at),
        "replaced": replaced,
    });
    out.write_answer(&answer, |out| {
        out.write_line(&format!(
            "Restored {} to {}, from a backup of {} by version {version}.",
            format_count(*files, "file"),
            data_dir.display(),
            format_timestamp(*at)
        ))?;
        match replaced {
            Some(replaced) => out.write_line(&format!(
                "What was there before is kept as {}.",
                replaced.display()
            )),
            None => Ok(()),
        }
    })
}
