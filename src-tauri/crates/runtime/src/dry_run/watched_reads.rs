//! The places of which a dry run reports what its command reads: the person's own files, outside of the workspace.
//!
//! No word of a command line need name such a file: a script opens it. The sandbox lets it, since programs read their
//! libraries and settings everywhere; so what is somebody's own is told from what programs use by where it lies.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use sandbox::WatchedReads;

use crate::dry_run::secrets::homes::find_homes;
use crate::dry_run::secrets::masks::command_folders;
use crate::fs::repository_folders::find_repository_folders;
use crate::{FileError, Workspace};

/// Folders in which other disks and shared files lie.
const OTHER_DISKS: [&str; 4] = ["/mnt", "/media", "/run/media", "/srv"];

/// Folders of the root that belong to the system, or that every sandbox has for itself.
const SYSTEM_FOLDERS: [&str; 19] = [
    "bin", "boot", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc",
    "run", "sbin", "snap", "sys", "tmp", "usr", "var",
];

/// Variables that name folders of programs, beside those that end in `_HOME` or `_ROOT`.
const PROGRAM_VARIABLES: [&str; 8] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "NODE_PATH",
    "GOPATH",
    "GOROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// Finds the places for a workspace: the homes of the current user, other disks, and the folder of the root that the
/// workspace lies in; without programs, the workspace, and its repository.
///
/// # Errors
/// [`FileError::SandboxUnavailable`] where the home of the current user is not known.
pub(super) fn find_watched_reads(workspace: &Workspace) -> Result<WatchedReads, FileError> {
    let root = workspace.root();
    let homes = find_homes()?.ours.into_iter();
    let disks = OTHER_DISKS
        .iter()
        .filter_map(|disk| fs::canonicalize(disk).ok());
    let folders: Vec<PathBuf> = homes.chain(disks).chain(top_folder(root)).collect();
    let programs = command_folders(workspace, names_programs).into_iter();
    let programs = programs.flat_map(|folder| with_installation(folder, root));
    let repository = find_repository_folders(root).into_iter().flatten();
    let holds_watched = |place: &Path| folders.iter().any(|folder| folder.starts_with(place));
    let except = programs
        .chain(repository)
        .filter(|place| !holds_watched(place));
    Ok(WatchedReads {
        except: except.collect(),
        folders,
    })
}

/// Returns the folder of the root that a path lies in, unless it belongs to the system.
fn top_folder(path: &Path) -> Option<PathBuf> {
    let top = path.components().find_map(|part| match part {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    })?;
    let is_system = SYSTEM_FOLDERS.iter().any(|name| top == *name);
    (!is_system).then(|| Path::new("/").join(top))
}

fn names_programs(variable: &OsStr) -> bool {
    let name = variable.to_string_lossy();
    PROGRAM_VARIABLES.contains(&&*name) || name.ends_with("_HOME") || name.ends_with("_ROOT")
}

/// Returns a folder of programs, and where it is the `bin` of an installation that the workspace does not lie in, that.
fn with_installation(folder: PathBuf, workspace: &Path) -> Vec<PathBuf> {
    let is_bin = folder
        .file_name()
        .is_some_and(|name| name == "bin" || name == "sbin");
    let installation = folder
        .parent()
        .filter(|above| is_bin && !workspace.starts_with(above));
    let installation = installation.map(Path::to_owned);
    installation.into_iter().chain([folder]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_makes_its_folder_of_the_root_a_place_of_somebodys_own() {
        for (path, top) in [
            ("/home/me/code/app", Some("/home")),
            ("/data/app", Some("/data")),
            ("/usr/src/app", None),
            ("/tmp/app", None),
        ] {
            assert_eq!(
                top_folder(Path::new(path)),
                top.map(PathBuf::from),
                "{path}"
            );
        }
    }

    #[test]
    fn a_folder_of_programs_stands_for_its_installation() {
        let workspace = Path::new("/home/me/code/app");
        for (folder, expected) in [
            (
                "/home/me/miniconda3/bin",
                &["/home/me/miniconda3", "/home/me/miniconda3/bin"][..],
            ),
            ("/home/me/tools", &["/home/me/tools"]),
            ("/home/me/bin", &["/home/me/bin"]),
            ("/home/me/code/app/bin", &["/home/me/code/app/bin"]),
        ] {
            let found = with_installation(PathBuf::from(folder), workspace);
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{folder}");
        }
    }

    #[test]
    fn the_repository_around_a_workspace_is_excepted() {
        let disk = tempfile::tempdir().unwrap();
        let work_tree = fs::canonicalize(disk.path()).unwrap().join("work");
        for folder in [".git/objects", "part"] {
            fs::create_dir_all(work_tree.join(folder)).unwrap();
        }
        let workspace = Workspace::open(&work_tree.join("part")).unwrap();
        let watched = find_watched_reads(&workspace).unwrap();
        assert!(watched.except.contains(&work_tree), "{watched:?}");
        assert!(
            watched.except.contains(&work_tree.join(".git")),
            "{watched:?}"
        );
    }

    #[test]
    fn variables_of_programs_are_known_by_their_names() {
        for (name, names) in [
            ("PATH", true),
            ("JAVA_HOME", true),
            ("GOROOT", true),
            ("PYENV_ROOT", true),
            ("HOME", false),
            ("OLDPWD", false),
            ("XDG_DOCUMENTS_DIR", false),
        ] {
            assert_eq!(names_programs(OsStr::new(name)), names, "{name}");
        }
    }
}
