//! Retention of long outputs once their session is not active: they are packed, and removed by age and by size.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::At;

use crate::fs::at_path::AtPath as _;
use crate::fs::atomic::{remove_if_exists, replace_private_file};
use crate::fs::session_folder::try_lock_session;
use crate::limits::{
    COMPRESS_OUTPUTS_AFTER_MS, COMPRESSION_LEVEL, OUTPUTS_SCANNED_MAX, REMOVED_LIST_BYTES_MAX,
};
use crate::{FileError, RetentionLimits, SessionFolder, read_text_within, write_atomic};

/// Extension of an output.
const PLAIN_EXTENSION: &str = ".txt";
/// Extension that is added to a packed output, which is one frame of zstd.
const PACKED_EXTENSION: &str = ".zst";
/// Extension that is added while a packed output is being written.
const PARTIAL_EXTENSION: &str = ".part";
/// The list of outputs that were removed: a name and a time in milliseconds since 1970 a line.
const REMOVED_LIST_NAME: &str = "removed.list";

/// The result of a sweep over the outputs of all sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutputSweep {
    /// Outputs that were packed.
    pub packed: u64,
    /// Outputs that were removed.
    pub removed: u64,
    /// Bytes that all outputs take now.
    pub bytes: u64,
}

/// One output on disk.
#[derive(Debug)]
struct StoredOutput {
    /// The file's path as it was written, without the extension that packing adds.
    plain_path: PathBuf,
    at: At,
    bytes: u64,
}

/// Packs the outputs of sessions that are not active, and removes those that are too old or, the oldest first, exceed
/// the size limit. Active sessions keep all of theirs. Folders that cannot be read are skipped until the next time.
///
/// # Errors
/// The folder of sessions cannot be listed.
pub fn sweep_outputs(
    data_dir: &Path,
    keep: &RetentionLimits,
    now: At,
) -> Result<OutputSweep, FileError> {
    let sessions = data_dir.join("sessions");
    let mut swept = OutputSweep::default();
    let mut left: Vec<StoredOutput> = Vec::new();
    for folder in list_session_folders(&sessions)? {
        match sweep_folder(&folder, keep.since, now, &mut swept) {
            Ok(outputs) => left.extend(outputs),
            Err(error) => {
                tracing::warn!(%error, folder = %folder.display(), "outputs are still there");
            }
        }
    }
    left.sort_by_key(|output| std::cmp::Reverse(output.at));
    let mut too_much: BTreeMap<PathBuf, Vec<StoredOutput>> = BTreeMap::new();
    for output in left {
        swept.bytes += output.bytes;
        if swept.bytes > keep.bytes_max {
            let folder = output.plain_path.parent().unwrap_or(&sessions).to_owned();
            too_much.entry(folder).or_default().push(output);
        }
    }
    for (folder, outputs) in too_much {
        let bytes: u64 = outputs.iter().map(|output| output.bytes).sum();
        let removed = try_lock_session(&folder).and_then(|held| match held {
            None => Ok(false),
            Some(_held) => remove_outputs(&folder, &outputs, now).map(|()| true),
        });
        match removed {
            Ok(true) => {
                swept.removed += outputs.len() as u64;
                swept.bytes -= bytes;
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, folder = %folder.display(), "outputs are still there");
            }
        }
    }
    Ok(swept)
}

fn list_session_folders(sessions: &Path) -> Result<Vec<PathBuf>, FileError> {
    let listed = match fs::read_dir(sessions) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.at(sessions)?,
    };
    let folders = listed.filter_map(Result::ok).map(|entry| entry.path());
    Ok(folders
        .filter(|path| path.is_dir() && !path.is_symlink())
        .collect())
}

/// Sweeps one session's folder by age; returns the outputs that are left. An active session is left alone.
fn sweep_folder(
    folder: &Path,
    since: At,
    now: At,
    swept: &mut OutputSweep,
) -> Result<Vec<StoredOutput>, FileError> {
    let Some(_held) = try_lock_session(folder)? else {
        return Ok(Vec::new());
    };
    let (old, mut left): (Vec<_>, Vec<_>) = list_outputs(folder)?
        .into_iter()
        .partition(|output| output.at < since);
    remove_outputs(folder, &old, now)?;
    swept.removed += old.len() as u64;
    for output in &mut left {
        if now - output.at > COMPRESS_OUTPUTS_AFTER_MS && output.plain_path.exists() {
            output.bytes = compress_output(output)?;
            swept.packed += 1;
        }
    }
    Ok(left)
}

/// Lists the outputs in a folder. Files left by an interrupted packing are removed.
fn list_outputs(folder: &Path) -> Result<Vec<StoredOutput>, FileError> {
    let listed = fs::read_dir(folder).at(folder)?;
    let mut outputs: BTreeMap<PathBuf, StoredOutput> = BTreeMap::new();
    for entry in listed.filter_map(Result::ok).take(OUTPUTS_SCANNED_MAX) {
        let (path, name) = (entry.path(), entry.file_name());
        let Some(name) = name.to_str() else { continue };
        if name.ends_with(PARTIAL_EXTENSION) {
            fs::remove_file(&path).at(&path)?;
            continue;
        }
        let plain = name.strip_suffix(PACKED_EXTENSION).unwrap_or(name);
        let Ok(known) = entry.metadata() else {
            continue;
        };
        if !plain.ends_with(PLAIN_EXTENSION) || !known.is_file() {
            continue;
        }
        let (plain, at) = (folder.join(plain), known.modified().map_or(0, epoch_millis));
        let bytes = known.len();
        // Unpacked to be read: the packed one says how old it is.
        outputs
            .entry(plain.clone())
            .and_modify(|output| {
                (output.at, output.bytes) = (output.at.min(at), output.bytes + bytes)
            })
            .or_insert(StoredOutput {
                plain_path: plain,
                at,
                bytes,
            });
    }
    Ok(outputs.into_values().collect())
}

/// Packs an output that is not packed yet, and returns its length then. If this is interrupted, one of the two files is
/// complete.
fn compress_output(output: &StoredOutput) -> Result<u64, FileError> {
    let packed = with_extension(&output.plain_path, PACKED_EXTENSION);
    let packing = || -> io::Result<u64> {
        if !packed.exists() {
            let part = with_extension(&packed, PARTIAL_EXTENSION);
            let mut to = replace_private_file(&part)?;
            zstd::stream::copy_encode(File::open(&output.plain_path)?, &mut to, COMPRESSION_LEVEL)?;
            to.set_modified(UNIX_EPOCH + Duration::from_millis(output.at.max(0).unsigned_abs()))?;
            to.sync_all()?;
            fs::rename(&part, &packed)?;
        }
        fs::remove_file(&output.plain_path)?;
        Ok(fs::metadata(&packed)?.len())
    };
    packing().at(&output.plain_path)
}

/// Removes outputs of a folder, after recording the removal and its time.
fn remove_outputs(folder: &Path, outputs: &[StoredOutput], now: At) -> Result<(), FileError> {
    if outputs.is_empty() {
        return Ok(());
    }
    let list = folder.join(REMOVED_LIST_NAME);
    let mut text = read_text_within(&list, REMOVED_LIST_BYTES_MAX)?.unwrap_or_default();
    for output in outputs {
        let name = output
            .plain_path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        text += &format!("{name}\t{now}\n");
    }
    write_atomic(&list, text.as_bytes(), 0o600)?;
    for output in outputs {
        for path in [
            output.plain_path.clone(),
            with_extension(&output.plain_path, PACKED_EXTENSION),
        ] {
            remove_if_exists(&path)?;
        }
    }
    Ok(())
}

impl SessionFolder {
    /// Makes an output readable at its path again if it was packed; does nothing for any other path.
    ///
    /// # Errors
    /// The output was removed, with the day; or any error reported by the system.
    pub fn restore_output(&self, path: &Path) -> Result<(), FileError> {
        let is_ours =
            path.parent() == Some(self.path()) && path.to_string_lossy().ends_with(PLAIN_EXTENSION);
        if !is_ours || path.exists() {
            return Ok(());
        }
        let packed = with_extension(path, PACKED_EXTENSION);
        if packed.exists() {
            let part = with_extension(path, PARTIAL_EXTENSION);
            let unpacking = || -> io::Result<()> {
                let to = replace_private_file(&part)?;
                zstd::stream::copy_decode(File::open(&packed)?, &to)?;
                to.sync_all()?;
                fs::rename(&part, path)
            };
            return unpacking().at(path);
        }
        match self.find_removal_time(path)? {
            None => Ok(()),
            Some(at) => Err(FileError::OutputRemoved {
                path: path.display().to_string(),
                on: format_day(at),
            }),
        }
    }

    /// Returns when an output was removed; `None` if it never was.
    fn find_removal_time(&self, path: &Path) -> Result<Option<At>, FileError> {
        let list = read_text_within(&self.path().join(REMOVED_LIST_NAME), REMOVED_LIST_BYTES_MAX)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let at = |line: &str| {
            let (removed, at) = line.split_once('\t')?;
            (removed == name).then(|| at.parse().ok())?
        };
        Ok(list.and_then(|list| list.lines().rev().find_map(at)))
    }
}

/// Formats a day as `2026-11-23`, in UTC.
fn format_day(at: At) -> String {
    let time = jiff::Timestamp::from_millisecond(at).unwrap_or_default();
    time.strftime("%Y-%m-%d").to_string()
}

fn with_extension(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

fn epoch_millis(time: SystemTime) -> At {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    At::try_from(since.as_millis()).unwrap_or(At::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    const NOW: At = 1_000 * DAY_MS;

    struct Place {
        home: tempfile::TempDir,
        folder: SessionFolder,
    }

    impl Place {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            let folder = SessionFolder::open(home.path(), &"ses_1".into()).unwrap();
            Self { home, folder }
        }

        fn output(&self, call: &str, text: &str, days_old: i64) -> PathBuf {
            let path = self
                .folder
                .save_output(&call.into(), text.as_bytes())
                .unwrap();
            let at = u64::try_from(NOW - days_old * DAY_MS).unwrap();
            let file = File::options().write(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_millis(at))
                .unwrap();
            path
        }

        fn sweep(&self, days: i64, bytes_max: u64) -> OutputSweep {
            let keep = RetentionLimits {
                since: NOW - days * DAY_MS,
                bytes_max,
            };
            sweep_outputs(self.home.path(), &keep, NOW).unwrap()
        }
    }

    #[test]
    fn outputs_are_packed_and_can_be_read_again() {
        let place = Place::new();
        let text = "a line of output\n".repeat(10_000);
        let (old, new) = (
            place.output("call_1", &text, 5),
            place.output("call_2", "new", 0),
        );
        let swept = place.sweep(30, u64::MAX);
        assert_eq!((swept.packed, swept.removed), (1, 0));
        assert!(swept.bytes < 10_000, "{swept:?}");
        assert!(!old.exists() && new.exists());
        place.folder.restore_output(&old).unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), text);
        // Packing it again keeps how old it is.
        assert_eq!(place.sweep(30, u64::MAX).packed, 1);
        assert!(!old.exists());
        assert_eq!(place.sweep(4, u64::MAX).removed, 1);
    }

    #[test]
    fn outputs_are_removed_by_age_and_size_and_that_is_told() {
        let place = Place::new();
        let old = place.output("call_1", "old", 40);
        let (first, second) = (
            place.output("call_2", "12345", 0),
            place.output("call_3", "1234567", 1),
        );
        let swept = place.sweep(30, 8);
        assert_eq!((swept.removed, swept.bytes), (2, 5));
        assert!(!old.exists() && first.exists() && !second.exists());
        for removed in [&old, &second] {
            let error = place
                .folder
                .restore_output(removed)
                .unwrap_err()
                .to_string();
            assert!(error.contains("was removed on 1972-09-27"), "{error}");
        }
        place.folder.restore_output(&first).unwrap();
        let never = place.folder.path().join("call_9.txt");
        assert_eq!(place.folder.restore_output(&never), Ok(()), "it never was");
        // A later output of the same call stands there.
        let again = place.output("call_1", "again", 0);
        place.folder.restore_output(&again).unwrap();
    }

    #[test]
    fn a_session_at_work_keeps_its_outputs() {
        let place = Place::new();
        let old = place.output("call_1", "old", 400);
        let held = place.folder.try_lock().unwrap();
        assert_eq!(place.sweep(30, 0), OutputSweep::default());
        assert!(old.exists());
        drop(held);
        assert_eq!(place.sweep(30, 0).removed, 1);
    }

    /// Wherever packing or removing was interrupted, the output is complete or recorded as removed.
    #[test]
    fn what_was_cut_off_is_taken_up() {
        let place = Place::new();
        let path = place.output("call_1", "whole", 5);
        fs::write(
            with_extension(&with_extension(&path, PACKED_EXTENSION), PARTIAL_EXTENSION),
            "half",
        )
        .unwrap();
        fs::write(with_extension(&path, PARTIAL_EXTENSION), "half").unwrap();
        place.sweep(30, u64::MAX);
        let names = |folder: &SessionFolder| fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names(&place.folder), 1, "only the packed one");
        // Both are there: unpacked to be read, or cut off before the first was removed.
        place.folder.restore_output(&path).unwrap();
        place.sweep(30, u64::MAX);
        place.folder.restore_output(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        // Written down as removed and still there.
        fs::write(
            place.folder.path().join(REMOVED_LIST_NAME),
            "call_1.txt\t1\n",
        )
        .unwrap();
        place.folder.restore_output(&path).unwrap();
    }
}
