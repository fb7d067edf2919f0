//! The program of the sealed room on a machine where no layer can lie over a workspace, not even as a copy.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    let room = serde_json::from_str::<sandbox::Room>(&line);
    match (read, room) {
        (Ok(_), Ok(room)) if room.layers.is_none() => match sandbox::enter(&room) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(125),
        },
        _ => ExitCode::from(125),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::from(125)
}
