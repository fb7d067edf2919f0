//! The desktop app's entry.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    countersign_desktop::run()
}
