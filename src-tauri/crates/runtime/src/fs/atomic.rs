//! Files of the app: settings and rules, read whole and replaced in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::limits::TEXT_BYTES_MAX;

/// Reads the text at `path`; `None` if there is no such file.
///
/// # Errors
/// No permission, a folder, longer than 4 MiB, or not UTF-8.
pub fn read_text(path: &Path) -> Result<Option<String>, FileError> {
    read_text_within(path, TEXT_BYTES_MAX)
}

/// Reads a text as [`read_text`] does, with another limit.
///
/// # Errors
/// As [`read_text`], with this limit in bytes.
pub fn read_text_within(path: &Path, bytes_max: u64) -> Result<Option<String>, FileError> {
    let name = path.display().to_string();
    let meta = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.at(&name)?,
    };
    if meta.is_dir() {
        return Err(FileError::IsFolder { path: name });
    }
    if !meta.is_file() {
        return Err(FileError::Special { path: name });
    }
    let mut bytes = Vec::new();
    File::open(path)
        .at(&name)?
        .take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes)
        .at(&name)?;
    if bytes.len() as u64 > bytes_max {
        return Err(FileError::TooLarge {
            path: name,
            bytes: meta.len(),
            bytes_max,
        });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(FileError::from_display(
                name,
                format_args!("it is not UTF-8 from byte {at} on"),
            ))
        }
    }
}

/// Replaces `path` by `bytes` in one step: written beside it, synced, renamed. Readers see the old or the new content,
/// also after a crash. The file gets `mode` (Unix); a link stays a link. Missing folders are created for the owner
/// alone.
///
/// # Errors
/// Any error reported by the system about the folder or the disk.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    // A linked settings file is somebody's dotfiles: what it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    create_private_folder(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".countersign-")
        .tempfile_in(folder)
        .at(path)?;
    file.write_all(bytes).at(path)?;
    set_mode(file.as_file(), mode).at(path)?;
    file.as_file().sync_all().at(path)?;
    file.persist(&target)
        .map_err(|error| error.error)
        .at(path)?;
    sync_folder(folder).at(path)
}

/// Creates an empty file of the person's that does not exist yet; `false` if it does. If several callers try at once,
/// one succeeds.
///
/// # Errors
/// The file cannot be created.
pub fn create_exclusive(path: &Path) -> Result<bool, FileError> {
    match private_file_options().create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        created => created.at(path).map(|_| true),
    }
}

/// Opens or creates a file of the app that serves as a lock, for the owner alone.
///
/// # Errors
/// Any error reported by the system.
pub(crate) fn open_private_file(path: &Path) -> io::Result<File> {
    let mut options = private_file_options();
    options.create(true).truncate(false).open(path)
}

/// Creates a file for the owner alone; an existing one is replaced.
///
/// # Errors
/// Any error reported by the system.
pub(crate) fn replace_private_file(path: &Path) -> io::Result<File> {
    ignore_not_found(fs::remove_file(path))?;
    private_file_options().create_new(true).open(path)
}

/// Returns options to write a file that is for the owner alone if it is created.
fn private_file_options() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// Takes a removal as done if there was nothing to remove.
pub(crate) fn ignore_not_found(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a file of the app; succeeds if there is none.
///
/// # Errors
/// Any error reported by the system.
pub fn remove_if_exists(path: &Path) -> Result<(), FileError> {
    ignore_not_found(fs::remove_file(path)).at(path)
}

/// Whether a link stands at a path.
pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink())
}

/// Lists the names of the files in a folder of the app, sorted; empty if there is no such folder. Files that are being
/// written are left out.
///
/// # Errors
/// The folder cannot be read.
pub fn list_file_names(folder: &Path) -> Result<Vec<String>, FileError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.at(folder)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.at(folder)?.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with('.') {
            names.push(name.into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Creates `path` and missing folders above it, for the owner alone (0700).
///
/// # Errors
/// Any error reported by the system.
pub fn create_private_folder(path: &Path) -> Result<(), FileError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path).at(path)
}

#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "fails on other systems")]
fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "fails on other systems")]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_and_reads_back() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b/settings.toml");
        assert_eq!(read_text(&path), Ok(None));
        write_atomic(&path, b"one", 0o600).unwrap();
        write_atomic(&path, "zwei ü".as_bytes(), 0o600).unwrap();
        assert_eq!(read_text(&path), Ok(Some("zwei ü".to_owned())));
        let names: Vec<_> = fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["settings.toml"], "no temporary file is left");
    }

    #[cfg(unix)]
    #[test]
    fn keeps_the_mode_asked_for_and_follows_a_link() {
        use std::os::unix::fs::{MetadataExt, symlink};
        let home = tempfile::tempdir().unwrap();
        let (real, link) = (home.path().join("real"), home.path().join("link"));
        write_atomic(&real, b"1", 0o640).unwrap();
        symlink(&real, &link).unwrap();
        write_atomic(&link, b"2", 0o600).unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), real);
        assert_eq!(fs::read(&real).unwrap(), b"2");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o7777, 0o600);
    }

    #[test]
    fn bad_files_are_named() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("x");
        fs::write(&path, b"ab\xff").unwrap();
        let error = read_text(&path).unwrap_err().to_string();
        assert!(error.contains("/x`") && error.contains("byte 2"), "{error}");
        fs::write(&path, vec![b'a'; (TEXT_BYTES_MAX + 1) as usize]).unwrap();
        assert!(matches!(read_text(&path), Err(FileError::TooLarge { .. })));
        assert!(matches!(
            read_text(home.path()),
            Err(FileError::IsFolder { .. })
        ));
        assert!(
            matches!(write_atomic(home.path(), b"", 0o600), Err(error) if error.to_string().contains("`")),
            "a folder cannot be replaced"
        );
    }
}
