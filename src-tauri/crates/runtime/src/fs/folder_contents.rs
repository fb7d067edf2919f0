//! All that is in a folder of the app: what it takes, and how it is removed. No link is followed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::fs::atomic::ignore_not_found;

/// Visits every file below a folder, with its path in the folder and its length in bytes. A link counts as the file that
/// it is. Returns the folders that cannot be read, by their paths in the folder; a folder that is not there holds
/// nothing.
pub fn visit_files(folder: &Path, visit: &mut dyn FnMut(&Path, u64)) -> Vec<PathBuf> {
    let mut unreadable = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let entries = match fs::read_dir(folder.join(&below)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => {
                unreadable.push(below);
                continue;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            let path = below.join(entry.file_name());
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(path),
                Ok(meta) => visit(&path, meta.len()),
                // It was removed meanwhile.
                Err(_) => {}
            }
        }
    }
    unreadable
}

/// Lists all names in a folder of the app, hidden ones too, sorted; `None` if there is no such folder.
///
/// # Errors
/// The folder cannot be read, or is none.
pub fn list_all_names(folder: &Path) -> Result<Option<Vec<OsString>>, FileError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries.at(folder)?,
    };
    let names: io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.file_name())).collect();
    let mut names = names.at(folder)?;
    names.sort();
    Ok(Some(names))
}

/// Returns where the link at a path leads; `None` if there is no link.
pub fn read_link_target(path: &Path) -> Option<PathBuf> {
    fs::read_link(path).ok()
}

/// Removes a folder of the app if it is empty; succeeds if there is none.
///
/// # Errors
/// Something is in it, or any other error reported by the system.
pub fn remove_empty_folder(folder: &Path) -> Result<(), FileError> {
    ignore_not_found(fs::remove_dir(folder)).at(folder)
}

/// Removes a file or a folder of the app with everything in it; succeeds if there is none. Of a link the link alone is
/// removed.
///
/// # Errors
/// Any error reported by the system; some of it may be removed then.
pub fn remove_tree(path: &Path) -> Result<(), FileError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).at(path),
        Ok(meta) if meta.is_dir() => remove_folder(path).at(path),
        Ok(_) => ignore_not_found(fs::remove_file(path)).at(path),
    }
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        // The layer of a command has folders that nobody may enter.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_for_owner(folder)?;
            fs::remove_dir_all(folder)
        }
        removed => ignore_not_found(removed),
    }
}

/// Lets the owner enter and change a folder and those below it.
#[cfg(unix)]
fn open_for_owner(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "fails on other systems")]
fn open_for_owner(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_visited_and_hidden_names_are_listed() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("a/b")).unwrap();
        fs::write(home.path().join("a/b/one"), "1").unwrap();
        fs::write(home.path().join(".two"), "22").unwrap();
        let mut found = Vec::new();
        let unreadable = visit_files(home.path(), &mut |path, bytes| {
            found.push((path.to_owned(), bytes));
        });
        found.sort();
        assert_eq!(
            found,
            [(PathBuf::from(".two"), 2), (PathBuf::from("a/b/one"), 1)]
        );
        assert!(unreadable.is_empty());
        let names = list_all_names(home.path()).unwrap().unwrap();
        assert_eq!(names, [".two", "a"]);

        let missing = home.path().join("missing");
        assert!(visit_files(&missing, &mut |_, _| panic!("there is nothing")).is_empty());
        assert_eq!(list_all_names(&missing), Ok(None));
        assert_eq!(remove_tree(&missing), Ok(()));
    }

    #[cfg(unix)]
    #[test]
    fn what_links_lead_to_stays() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir_all(at("own/closed")).unwrap();
        fs::create_dir(at("other")).unwrap();
        fs::write(at("other/file"), "other's").unwrap();
        fs::write(at("own/closed/file"), "own").unwrap();
        symlink(at("other"), at("own/closed/link")).unwrap();
        symlink(at("other"), at("link")).unwrap();
        let mut bytes = 0;
        visit_files(&at("link/../own"), &mut |path, length| {
            assert!(!path.ends_with("other/file"));
            bytes += u64::from(path.ends_with("file")) * length;
        });
        assert_eq!(bytes, 3);
        assert_eq!(read_link_target(&at("link")), Some(at("other")));
        fs::set_permissions(at("own/closed"), fs::Permissions::from_mode(0o000)).unwrap();

        remove_tree(&at("own")).unwrap();
        remove_tree(&at("link")).unwrap();
        assert!(!at("own").exists() && !at("link").exists());
        assert_eq!(fs::read_to_string(at("other/file")).unwrap(), "other's");
    }
}
