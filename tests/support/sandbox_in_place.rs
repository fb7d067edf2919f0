//! The sandbox program on a machine where no layer can lie over a workspace, not even as a copy.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let entered = match std::env::args().nth(1).as_deref() {
        Some(sandbox::UNPRIVILEGED_ARG) => sandbox::enter_unprivileged(&read_setup()),
        _ => sandbox::enter_sandbox(read_setup),
    };
    entered.map_or(ExitCode::from(125), |()| ExitCode::SUCCESS)
}

/// The sandbox that stands on standard input, if it has no layers. Else the program ends.
#[cfg(target_os = "linux")]
fn read_setup() -> sandbox::SandboxSpec {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    let spec = serde_json::from_str::<sandbox::SandboxSpec>(&line).ok();
    let spec = spec.filter(|spec| read.is_ok() && spec.layers.is_none());
    spec.unwrap_or_else(|| std::process::exit(125))
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::from(125)
}
