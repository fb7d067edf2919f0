//! What a room is made of: written as one line of JSON by whoever wants a command run, read by the program that runs it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What the program of the room is told on Linux, as its only argument, where the room will be a [bare](Room::bare) one.
pub const UNPRIVILEGED_ARG: &str = "bare";

/// A room and the command in it. All paths are absolute and lead through no link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxSpec {
    /// The folder that the command works in; it keeps its path.
    pub workspace: PathBuf,
    /// Where it starts: the workspace, or a folder in it.
    pub folder: PathBuf,
    /// Where what the command changes is kept, so that the workspace itself stays as it is. None: it is changed for real.
    pub layers: Option<WorkspaceLayers>,
    /// A folder for temporary files, where nobody may make namespaces: what closes the room then is Landlock and the calls that
    /// are refused, and nothing is masked or kept from being written in the workspace. None: the room has names of its own for
    /// everything, and a `/tmp` of its own. A room with layers or a proxy needs those.
    pub bare: Option<PathBuf>,
    /// Paths in the workspace that can be read and not written: hooks, start-up files.
    pub read_only: Vec<PathBuf>,
    /// Files and folders that cannot be opened, changed or taken away in the room, wherever they lie: secrets, sockets, the
    /// app's own data. One that does not exist is left out.
    pub masked: Vec<PathBuf>,
    /// What the command may use.
    pub limits: SandboxLimits,
    /// Whether programs find a proxy in the room. It is nobody's until whoever asks for the room takes it: the standard input
    /// of the program is then the other end of an `SandboxConnection`, and not a pipe.
    pub proxy: bool,
    /// Whether the command's standard input is handed in; else it reads nothing. It needs an `SandboxConnection` as a proxy does, and names
    /// of its own.
    pub input: bool,
    /// The program, which is looked up by the `PATH` of the environment where it is no path, and its arguments.
    pub command: Vec<String>,
    /// All of its environment, but for what leads to the proxy. What `no_proxy` says in it is asked for without the proxy;
    /// the room itself, if it says nothing.
    pub environment: Vec<(String, String)>,
    /// The file in which the program says what became of it, see [`crate::Told`]. It lies outside the workspace.
    pub told: PathBuf,
}

/// Where the changes of a command go, outside the workspace: two folders on the same disk, both empty at first; or one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceLayers {
    /// What was added, changed and deleted, in the words of overlayfs; or a copy of the whole workspace.
    pub upper: PathBuf,
    /// Where the kernel prepares it. None: `upper` is a copy, and stands in the place of the workspace.
    pub work: Option<PathBuf>,
}

/// What a command may use. It is told about a limit by the error of the call that met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxLimits {
    /// Processes and threads at one time.
    pub processes: u32,
    /// Data memory of one process, in bytes.
    pub memory_bytes: u64,
    /// Memory of all processes and of the files in memory together, in bytes: the room ends when it takes more. Where no control group
    /// can be made it is looked at a few times a second, and only where the room has names of its own is it limited at all.
    pub room_memory_bytes: u64,
    /// Length of one file that it writes, in bytes.
    pub file_bytes: u64,
    /// The private `/tmp`, in bytes: it is memory.
    pub tmp_bytes: u64,
    /// Open files of one process.
    pub open_files: u64,
}

impl Default for SandboxLimits {
    /// Room enough for a build of a large project, and an end to a program that runs wild.
    fn default() -> Self {
        const GIB: u64 = 1024 * 1024 * 1024;
        Self {
            processes: 4_096,
            memory_bytes: 16 * GIB,
            room_memory_bytes: 16 * GIB,
            file_bytes: 8 * GIB,
            tmp_bytes: 2 * GIB,
            open_files: 65_536,
        }
    }
}
