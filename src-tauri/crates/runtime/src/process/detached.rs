//! Starting a program that goes on when this one ends.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts a program without input and output, in a process group of its own and in the root folder, so that it holds
/// nothing of whoever started this one.
///
/// # Errors
/// The program cannot be started.
pub fn start_detached<S: AsRef<OsStr>>(
    program: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> io::Result<()> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(root) = program.ancestors().last().filter(|root| root.is_absolute()) {
        command.current_dir(root);
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    // Without that it stays in the system's list after its end for as long as this process lives.
    std::thread::spawn(move || child.wait());
    Ok(())
}
