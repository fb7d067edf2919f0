//! Reads a room from standard input, enters it and runs its command. The input stays open as long as somebody wants the
//! command to run: when it closes, the room ends.
#![allow(
    clippy::print_stderr,
    reason = "where there is no room yet, there is nowhere else to say what is wrong"
)]

use std::process::ExitCode;

/// What the program ends with where the room could not be entered; what is wrong stands in the room's file.
const NOT_ENTERED: u8 = 125;

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn main() -> ExitCode {
    let mut line = String::new();
    if let Err(error) = std::io::stdin().read_line(&mut line) {
        return unheard(&error.to_string());
    }
    let room: sandbox::Room = match serde_json::from_str(&line) {
        Ok(room) => room,
        Err(error) => return unheard(&error.to_string()),
    };
    match sandbox::enter(&room) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("countersign-room: {error}");
            ExitCode::from(NOT_ENTERED)
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn unheard(why: &str) -> ExitCode {
    eprintln!("countersign-room: what stands on standard input is no room: {why}");
    ExitCode::from(NOT_ENTERED)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn main() -> ExitCode {
    eprintln!("countersign-room: there is no such room on this system");
    ExitCode::from(NOT_ENTERED)
}
