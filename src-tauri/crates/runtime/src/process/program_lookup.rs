//! Finds the file of a program by its name: in the absolute folders of `PATH`, and nowhere else.

use std::path::{Path, PathBuf};

/// Extensions that a program's name may be written without.
const EXTENSIONS: &[&str] = match cfg!(windows) {
    true => &["", ".exe", ".cmd", ".bat"],
    false => &[""],
};

/// Returns the file of a program that is named as on `PATH`, or by its whole path; `None` where there is none. A
/// relative folder of `PATH` would depend on the folder in which something is started, and is skipped.
pub fn find_program(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    find_in_folders(command, &folders)
}

fn find_in_folders(command: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let is_path = Path::new(command).is_absolute();
    if command.is_empty() || (!is_path && command.contains(['/', '\\'])) {
        return None;
    }
    if is_path {
        let file = PathBuf::from(command);
        return is_executable(&file).then_some(file);
    }
    let folders = folders.iter().filter(|folder| folder.is_absolute());
    let mut files = folders.flat_map(|folder| {
        let names = EXTENSIONS.iter().map(|ending| format!("{command}{ending}"));
        names.map(|name| folder.join(name))
    });
    files.find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let stat = std::fs::metadata(file);
    stat.is_ok_and(|stat| stat.is_file() && stat.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.extension().is_some() && file.is_file()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_is_found_where_path_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        for (at, mode) in [(&one, 0o644), (&two, 0o755)] {
            fs::create_dir(at).unwrap();
            fs::write(at.join("serve"), "").unwrap();
            fs::set_permissions(at.join("serve"), fs::Permissions::from_mode(mode)).unwrap();
        }
        let folders = [PathBuf::from("."), one, two.clone()];
        let serve = two.join("serve");
        for (command, file) in [
            ("serve", Some(&serve)),
            (serve.to_str().unwrap(), Some(&serve)),
            ("two/serve", None),
            ("./serve", None),
            ("none", None),
            ("", None),
            (two.to_str().unwrap(), None),
        ] {
            assert_eq!(
                find_in_folders(command, &folders).as_ref(),
                file,
                "{command}"
            );
        }
        // A relative folder is passed over, whatever is there.
        let here = [PathBuf::from("src")];
        assert_eq!(find_in_folders("lib.rs", &here), None);
    }
}
