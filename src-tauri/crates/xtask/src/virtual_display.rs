//! The virtual display: a screen without a monitor, with a message bus of its own.

use std::path::Path;
use std::process::Command;

/// As large as the app's window when it first opens, so that a screenshot contains the window and nothing else.
const SCREEN_ARGUMENTS: &str = "-screen 0 1440x900x24 -nolisten tcp -noreset";

/// Whether a person can see a window here.
pub fn is_available() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Returns a command that runs `program` in a virtual display; the caller adds arguments.
///
/// The display is outside and the bus inside: the other way round, programs that the bus starts would have no display.
/// The separate bus keeps the single-instance check away from an app that a person has open.
pub fn command_in_display(program: &Path) -> Command {
    let mut command = Command::new("xvfb-run");
    command.args([
        "--auto-servernum",
        "--server-args",
        SCREEN_ARGUMENTS,
        "dbus-run-session",
        "--",
    ]);
    command.arg(program);
    command
        .env("GDK_BACKEND", "x11")
        .env("NO_AT_BRIDGE", "1")
        .env_remove("WAYLAND_DISPLAY");
    command
}
