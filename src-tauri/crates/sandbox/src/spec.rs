//! The specification of a sandbox: written as one line of JSON by the caller that wants a command run, read by the
//! sandbox program.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The only argument of the sandbox program on Linux, where the sandbox will be an [unprivileged](SandboxSpec::bare)
/// one.
pub const UNPRIVILEGED_ARG: &str = "bare";

/// Names by which programs in a sandbox reach the sandbox itself.
pub const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A sandbox and the command in it. All paths are absolute and lead through no link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxSpec {
    /// The folder that the command works in; it keeps its path.
    pub workspace: PathBuf,
    /// Folder in which the command starts: the workspace, or a folder in it.
    pub folder: PathBuf,
    /// Folders that keep the changes of the command, so that the workspace itself stays as it is. `None` if the
    /// workspace is changed for real.
    pub layers: Option<WorkspaceLayers>,
    /// A folder for temporary files, where unprivileged processes may not create namespaces: the sandbox is closed by
    /// Landlock and denied calls then, and nothing is masked or read-only in the workspace. `None` if the sandbox has
    /// namespaces for everything, and a `/tmp` of its own. A sandbox with layers or a proxy needs those.
    pub bare: Option<PathBuf>,
    /// Folders outside the workspace that the command may change in layers of their own, which nobody carries out. One
    /// over which no layer can lie stays read-only. They need namespaces.
    pub private: Vec<PrivateFolder>,
    /// Paths in the workspace and in private folders that are read-only: hooks, start-up files. It may be the workspace
    /// itself: then the report also names what the command finds not writable there when it checks.
    pub read_only: Vec<PathBuf>,
    /// Files and folders that cannot be opened, changed or removed in the sandbox, wherever they lie: secrets, sockets,
    /// the app's own data. One that does not exist is left out.
    pub masked: Vec<PathBuf>,
    /// Masked files that git has with the content that they have here. A command of git that compares the work tree reads
    /// them all the same: whoever may run git could read that content from its objects.
    pub readable_by_git: Vec<PathBuf>,
    /// Places of which the report names the files that the command reads.
    pub watched_reads: WatchedReads,
    /// Limits on the command.
    pub limits: SandboxLimits,
    /// Whether programs find a proxy in the sandbox. Nothing serves it until the caller takes its port: the standard
    /// input of the program is then the other end of a `SandboxConnection`, and not a pipe.
    pub proxy: bool,
    /// Whether the command's standard input is handed over; otherwise it is empty. This needs a `SandboxConnection` as
    /// a proxy does, and namespaces.
    pub input: bool,
    /// The program, which is looked up by the `PATH` of the environment where it is no path, and its arguments.
    pub command: Vec<String>,
    /// The whole environment of the command, except for the variables that lead to the proxy. Hosts in its `no_proxy`
    /// are requested without the proxy; only the sandbox itself, if it is not set.
    pub environment: Vec<(String, String)>,
    /// Report file of the sandbox program, see [`crate::SandboxReport`]. It lies outside the workspace.
    pub told: PathBuf,
}

/// Folders for the changes of a command, outside the workspace: two on the same disk, both empty at first; or one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceLayers {
    /// Created, changed and deleted entries, in the format of overlayfs; or a copy of the whole workspace.
    pub upper: PathBuf,
    /// Work folder of the kernel. `None` if `upper` is a copy, and stands in the place of the workspace.
    pub work: Option<PathBuf>,
}

/// A folder that the command may change in a layer, so that the folder itself stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrivateFolder {
    /// The folder; it keeps its path.
    pub path: PathBuf,
    /// Created, changed and deleted entries, in the format of overlayfs: a folder that is empty at first.
    pub upper: PathBuf,
    /// Work folder of the kernel, empty and on the same disk.
    pub work: PathBuf,
}

/// Places whose content is somebody's own, although a command may read it: the report names what it reads there.
///
/// Of the folders and exceptions that a path lies in, the deepest decides. A hidden entry of a folder, `.config` in a
/// home, is never reported: programs keep their settings and state there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchedReads {
    /// The folders, with everything below them.
    pub folders: Vec<PathBuf>,
    /// Files and folders that are not reported. The workspace and the private folders never are.
    pub except: Vec<PathBuf>,
}

impl WatchedReads {
    /// Returns whether reading a file at this path is reported.
    pub fn covers_file(&self, path: &Path) -> bool {
        let Some(folder) = find_deepest(&self.folders, path) else {
            return false;
        };
        let is_hidden = path
            .strip_prefix(folder)
            .ok()
            .and_then(|below| below.iter().next())
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let exception = find_deepest(&self.except, path);
        !is_hidden && exception.is_none_or(|exception| !exception.starts_with(folder))
    }

    /// Returns whether listing a folder is reported: not on the way to an exception, where programs look for their
    /// settings from folder to folder.
    pub fn covers_folder(&self, path: &Path) -> bool {
        let is_on_way = self
            .except
            .iter()
            .any(|exception| exception.starts_with(path));
        !is_on_way && self.covers_file(path)
    }
}

/// Returns the deepest of these places that a path lies in, or is.
fn find_deepest<'a>(places: &'a [PathBuf], path: &Path) -> Option<&'a Path> {
    let above = places.iter().filter(|place| path.starts_with(place));
    above
        .max_by_key(|place| place.as_os_str().len())
        .map(PathBuf::as_path)
}

/// Resource limits of a command. The command learns of a limit by the error of the call that met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxLimits {
    /// Processes and threads at one time.
    pub processes: u32,
    /// Data memory of one process, in bytes.
    pub memory_bytes: u64,
    /// Memory of all processes and of the files in memory together, in bytes: the sandbox ends when it takes more.
    /// Where no control group can be created the memory is checked a few times a second, and only where the sandbox has
    /// namespaces is it limited at all.
    pub total_memory_bytes: u64,
    /// Length of one file that the command writes, in bytes.
    pub file_bytes: u64,
    /// Size of the private `/tmp`, in bytes of memory.
    pub tmp_bytes: u64,
    /// Open files of one process.
    pub open_files: u64,
}

impl Default for SandboxLimits {
    /// Limits that suffice for a build of a large project, and end a program that runs wild.
    fn default() -> Self {
        const GIB: u64 = 1024 * 1024 * 1024;
        Self {
            processes: 4_096,
            memory_bytes: 16 * GIB,
            total_memory_bytes: 16 * GIB,
            file_bytes: 8 * GIB,
            tmp_bytes: 2 * GIB,
            open_files: 65_536,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_place_decides_whether_a_read_is_reported() {
        let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect();
        let watched = WatchedReads {
            folders: paths(&["/home", "/home/me", "/mnt"]),
            except: paths(&["/home/me/code/app", "/home/me/go"]),
        };
        for (path, is_file_reported, is_folder_reported) in [
            ("/home/me/notes.txt", true, true),
            ("/home/me/code/other/a.rs", true, true),
            ("/home/me/code/application", true, true),
            ("/home/me/code/app/a.rs", false, false),
            ("/home/me/code/app", false, false),
            ("/home/me/code", true, false),
            ("/home/me", true, false),
            ("/home/me/go/pkg/mod/x.go", false, false),
            ("/home/me/.config/tool/config", false, false),
            ("/home/me/code/.hidden", true, true),
            ("/home/other/a", true, true),
            ("/home/.snapshots/a", false, false),
            ("/mnt/disk/a", true, true),
            ("/usr/share/a", false, false),
        ] {
            let path = Path::new(path);
            assert_eq!(watched.covers_file(path), is_file_reported, "{path:?}");
            assert_eq!(watched.covers_folder(path), is_folder_reported, "{path:?}");
        }
    }
}
