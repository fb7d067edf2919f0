//! A configuration file of another program: replaced or removed in one step, and only while it is what was read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::at_path::AtPath as _;
use super::atomic::{is_link, read_text, remove_if_exists, write_atomic};
use crate::FileError;

/// Mode of a file that was not there before: for its owner alone, as such files may hold keys.
const NEW_FILE_MODE: u32 = 0o600;

/// A file as it was read, which may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    path: PathBuf,
    text: Option<String>,
    mode: u32,
}

impl ConfigFile {
    /// Reads the file at `path`, through links.
    ///
    /// # Errors
    /// As [`read_text`]; also a link to a file that is not there.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let text = read_text(path)?;
        if text.is_none() && is_link(path) {
            let reason = "it is a link to a file that does not exist";
            return Err(FileError::from_display(path.display().to_string(), reason));
        }
        let mode = match text {
            Some(_) => read_mode(path).at(path)?,
            None => NEW_FILE_MODE,
        };
        Ok(Self {
            path: path.to_owned(),
            text,
            mode,
        })
    }

    /// Returns the path by which the file was read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the content; `None` if there is no such file.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Replaces the content. The mode stays, and a link stays a link. Returns the folders that had to be created, the
    /// outermost first.
    ///
    /// # Errors
    /// The file changed since it was read, may not be written, or cannot be.
    pub fn write(&self, text: &str) -> Result<Vec<PathBuf>, FileError> {
        self.check_writable()?;
        let mut created: Vec<PathBuf> = self
            .path
            .ancestors()
            .skip(1)
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .map(Path::to_owned)
            .collect();
        created.reverse();
        write_atomic(&self.path, text.as_bytes(), self.mode)?;
        Ok(created)
    }

    /// Removes the file, and then those of the folders `created` that are empty.
    ///
    /// # Errors
    /// The file changed since it was read, or cannot be removed.
    pub fn remove(&self, created: &[PathBuf]) -> Result<(), FileError> {
        self.check_writable()?;
        remove_if_exists(&self.path)?;
        for folder in created.iter().rev() {
            match fs::remove_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => break,
                removed => removed.at(folder)?,
            }
        }
        Ok(())
    }

    /// Checks that the file is still what was read, and that whoever runs this may write it. Replacing it would not
    /// need that right, but taking it away is how a person protects a file.
    fn check_writable(&self) -> Result<(), FileError> {
        if Self::read(&self.path)? != *self {
            return Err(FileError::Changed {
                path: self.path.display().to_string(),
            });
        }
        if self.text.is_none() {
            return Ok(());
        }
        if fs::metadata(&self.path)
            .at(&self.path)?
            .permissions()
            .readonly()
        {
            return Err(FileError::NoPermission {
                path: self.path.display().to_string(),
            });
        }
        let opened = fs::OpenOptions::new().write(true).open(&self.path);
        opened.at(&self.path).map(drop)
    }
}

#[cfg(unix)]
fn read_mode(path: &Path) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(path)?.mode() & 0o7777)
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "fails on other systems")]
fn read_mode(_path: &Path) -> io::Result<u32> {
    Ok(NEW_FILE_MODE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_created_with_its_folders_and_removed_with_them() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b/settings.json");
        let created = ConfigFile::read(&path).unwrap().write("{}").unwrap();
        assert_eq!(created, [home.path().join("a"), home.path().join("a/b")]);
        fs::write(home.path().join("a/other"), "").unwrap();
        let file = ConfigFile::read(&path).unwrap();
        assert_eq!(file.text(), Some("{}"));
        file.remove(&created).unwrap();
        assert!(!home.path().join("a/b").exists());
        assert!(
            home.path().join("a/other").exists(),
            "what is not empty stays"
        );
    }

    #[test]
    fn what_changed_since_it_was_read_is_not_touched() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("settings.json");
        let missing = ConfigFile::read(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        let file = ConfigFile::read(&path).unwrap();
        assert!(matches!(
            missing.write("ours"),
            Err(FileError::Changed { .. })
        ));
        fs::write(&path, "changed").unwrap();
        assert!(matches!(file.write("ours"), Err(FileError::Changed { .. })));
        assert!(matches!(file.remove(&[]), Err(FileError::Changed { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"changed");
    }

    #[cfg(unix)]
    #[test]
    fn mode_and_link_stay_and_what_is_read_only_is_an_error() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let home = tempfile::tempdir().unwrap();
        let (real, link) = (home.path().join("real"), home.path().join("link"));
        symlink(&real, &link).unwrap();
        assert!(ConfigFile::read(&link).is_err(), "it leads to nothing");
        fs::write(&real, "1").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        ConfigFile::read(&link).unwrap().write("2").unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), real);
        assert_eq!(fs::read(&real).unwrap(), b"2");
        assert_eq!(read_mode(&real).unwrap(), 0o640);
        fs::set_permissions(&real, fs::Permissions::from_mode(0o440)).unwrap();
        let refused = ConfigFile::read(&link).unwrap().write("3");
        assert!(matches!(refused, Err(FileError::NoPermission { .. })));
        assert_eq!(fs::read(&real).unwrap(), b"2");
    }
}
