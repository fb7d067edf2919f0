//! Makes a small workspace from given files, for the demo.

use std::fs;
use std::path::{Path, PathBuf};

use protocol::UserError;

/// Writes `files` (path and content) into a new folder below `parent` whose name begins with `name`, and returns its
/// path. An earlier sample is left as it is: a session may still use it.
pub fn create_sample_workspace(
    parent: &Path,
    name: &str,
    files: &[(&str, &str)],
) -> Result<PathBuf, UserError> {
    let failed = |path: &Path, error: std::io::Error| {
        UserError::new(
            format!(
                "The sample workspace cannot be made: {} cannot be written.",
                path.display()
            ),
            "Check that the folder is writable and the disk has room.",
        )
        .with_source(&error)
    };
    fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
    let mut root = parent.join(name);
    for number in 2.. {
        match fs::create_dir(&root) {
            Ok(()) => break,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                root = parent.join(format!("{name}-{number}"));
            }
            Err(error) => return Err(failed(&root, error)),
        }
    }
    for (path, content) in files {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        }
        fs::write(&path, content).map_err(|error| failed(&path, error))?;
    }
    Ok(root)
}
