//! Backup of a data folder in one file, and its restoration. Keys are not in it: they are in the system's keychain.

use std::path::{Path, PathBuf};

use protocol::text::timestamp::format_timestamp;
use protocol::{At, UserError};
use record::Record;
use runtime::{ArchiveContents, FileLock, ScratchFolder};
use serde::{Deserialize, Serialize};

use crate::engine::maintenance::folder_use::{claim_data_folder, share_data_folder};
use crate::engine::maintenance::record_check::{RECORD_NAME, check_record_exists, record_path};

/// First entry of a backup.
const MANIFEST_NAME: &str = "countersign-backup.json";
/// Format of the backups that this version makes. Older ones are restored too.
const FORMAT: u32 = 1;
/// Folders and files in the data folder that are of no use elsewhere: layers of running commands.
const LEFT_OUT: [&str; 2] = ["sandboxes", "in-use"];

/// What a backup says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupManifest {
    /// Format of the backup.
    pub format: u32,
    /// Version of the app that made it.
    pub version: String,
    /// When it was made.
    pub at: At,
}

/// A data folder that was restored.
#[derive(Debug)]
pub struct RestoredBackup {
    /// What the backup says of itself.
    pub manifest: BackupManifest,
    /// Number of files.
    pub files: u64,
    /// Where the data folder is now that was there before.
    pub replaced: Option<PathBuf>,
}

/// Writes a backup of a data folder to a new file, while engines may work with the folder. Returns the number of files.
///
/// # Errors
/// The record is missing, damaged or newer, or the file exists or cannot be written.
pub fn back_up(data_dir: &Path, file: &Path, at: At) -> Result<u64, UserError> {
    if file.starts_with(data_dir) {
        return Err(UserError::new(
            "A backup in the data folder would be lost with it.",
            "Name a file elsewhere, on another disk if there is one.",
        ));
    }
    let _shared = share_data_folder(data_dir)?;
    check_record_exists(data_dir)?;
    let record = record_path(data_dir);
    // Before everything that the record names, so that nothing is missing that it names.
    let scratch = ScratchFolder::create_beside(file)?;
    let snapshot = scratch.path().join(RECORD_NAME);
    Record::write_snapshot(&record, &snapshot)?;
    let manifest = BackupManifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        at,
    };
    let manifest = serde_json::to_vec(&manifest).map_err(|error| {
        UserError::new("The backup cannot be described.", "").with_source(&error)
    })?;
    let files = runtime::write_archive(
        file,
        &ArchiveContents {
            folder: data_dir,
            leave_out: &is_left_out,
            others: &[(snapshot, PathBuf::from(RECORD_NAME))],
            manifest: (MANIFEST_NAME, &manifest),
        },
    )?;
    Ok(files)
}

/// Whether a path of the data folder is no part of a backup. The record's files are those of the snapshot.
fn is_left_out(path: &Path) -> bool {
    let is_record = path.to_string_lossy().starts_with(RECORD_NAME);
    let is_lock = path.extension().is_some_and(|end| end == "lock");
    is_record || is_lock || LEFT_OUT.iter().any(|other| path == Path::new(other))
}

/// Restores a backup as the data folder. What is there is kept beside it, if `replaces`.
///
/// # Errors
/// The file is no backup, damaged, or made by a newer version; an engine is open on the data folder; or there is
/// something in it that must not be replaced. Nothing is changed then.
pub fn restore_backup(
    data_dir: &Path,
    file: &Path,
    replaces: bool,
) -> Result<RestoredBackup, UserError> {
    let manifest = read_backup_manifest(file)?;
    let alone = claim_replaced(data_dir, replaces)?;
    if let Some(above) = data_dir.parent() {
        runtime::create_private_folder(above)?;
    }
    let scratch = ScratchFolder::create_beside(data_dir)?;
    let files = runtime::extract_archive(file, scratch.path())?;
    runtime::remove_if_exists(&scratch.path().join(MANIFEST_NAME))?;
    // Refuses a record that this version cannot read.
    drop(Record::open(
        &record_path(scratch.path()),
        Box::new(|_| {}),
    )?);
    // Some systems move no folder in which a file is open.
    drop(alone);
    let replaced = runtime::replace_folder(data_dir, scratch.path())?;
    scratch.keep();
    Ok(RestoredBackup {
        manifest,
        files: files - 1,
        replaced,
    })
}

fn read_backup_manifest(file: &Path) -> Result<BackupManifest, UserError> {
    let not_a_backup = || {
        UserError::new(
            format!("{} is not a backup of Countersign.", file.display()),
            "Name a file that `countersign data backup` made. Nothing was changed.",
        )
    };
    let manifest = runtime::read_manifest(file, MANIFEST_NAME)
        .map_err(|error| not_a_backup().with_source(&error))?
        .ok_or_else(not_a_backup)?;
    let manifest: BackupManifest =
        serde_json::from_slice(&manifest).map_err(|error| not_a_backup().with_source(&error))?;
    if manifest.format > FORMAT {
        return Err(UserError::new(
            format!(
                "The backup {} was made on {} by a newer version of Countersign, {}.",
                file.display(),
                format_timestamp(manifest.at),
                manifest.version
            ),
            "Install that version or a later one. Nothing was changed.",
        ));
    }
    Ok(manifest)
}

/// Makes sure that the data folder may be replaced, and by nobody else meanwhile. `None` if there is none.
fn claim_replaced(data_dir: &Path, replaces: bool) -> Result<Option<FileLock>, UserError> {
    if runtime::list_file_names(data_dir)?.is_empty() {
        return Ok(None);
    }
    if !replaces {
        return Err(UserError::new(
            format!(
                "There is something in the data folder {} already.",
                data_dir.display()
            ),
            "To restore the backup in its place and keep what is there beside it: --replace",
        ));
    }
    claim_data_folder(data_dir).map(Some)
}
