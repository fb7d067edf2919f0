//! The half of `run --screenshot`, `run --film`, and `dist --check` that lives in the virtual display: this program started again.

use std::path::Path;

use crate::failure::Failure;
use crate::{film, screenshots};

/// Runs the half inside the display: `in-display play APP DIR THEME`, `in-display film APP FILE`, or `in-display show APP`.
pub fn run_inside_display(own: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = own.iter().map(String::as_str).collect();
    match words[..] {
        ["play", app, dir, theme] => {
            screenshots::with_window(Path::new(app), &[screenshots::UNATTENDED_FLAG], |app| {
                screenshots::capture_demo(app, Path::new(dir), theme)
            })
        }
        ["film", app, file] => {
            screenshots::with_window(Path::new(app), &[screenshots::UNATTENDED_FLAG], |app| {
                film::film_demo(app, Path::new(file))
            })
        }
        ["show", app] => {
            screenshots::with_window(Path::new(app), &[], |_| screenshots::wait_until_drawn())
        }
        _ => Err(Failure::new(
            "`in-display` is for this program itself.",
            "Use `cargo xtask run --screenshot DIR`.",
        )),
    }
}
