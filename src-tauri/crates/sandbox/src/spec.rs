//! The specification of a sandbox: written as one line of JSON by the caller that wants a command run, read by the
//! sandbox program.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The only argument of the sandbox program on Linux, where the sandbox will be an [unprivileged](SandboxSpec::bare)
/// one.
pub const UNPRIVILEGED_ARG: &str = "bare";

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
    /// Paths in the workspace and in private folders that are read-only: hooks, start-up files.
    pub read_only: Vec<PathBuf>,
    /// Files and folders that cannot be opened, changed or removed in the sandbox, wherever they lie: secrets, sockets,
    /// the app's own data. One that does not exist is left out.
    pub masked: Vec<PathBuf>,
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
