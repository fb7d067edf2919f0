//! Reads the specification of a sandbox from standard input, enters the sandbox and runs its command. The input stays
//! open as long as the caller wants the command to run: when it closes, the sandbox ends. On Linux the parts that every
//! sandbox has are prepared before the specification is read, so that a program started ahead enters its sandbox at
//! once; the argument `bare` says that the sandbox has no namespaces.
#![allow(
    clippy::print_stderr,
    reason = "before there is a sandbox, there is nowhere else to say what is wrong"
)]

use std::process::ExitCode;

/// Exit code where the sandbox could not be entered; the error is in the report file of the sandbox.
const NOT_ENTERED: u8 = 125;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let entered = match std::env::args().nth(1).as_deref() {
        Some(sandbox::UNPRIVILEGED_ARG) => sandbox::enter_unprivileged(&read_spec()),
        _ => sandbox::enter_sandbox(read_spec),
    };
    exit_code(entered)
}

#[cfg(target_os = "macos")]
fn main() -> ExitCode {
    exit_code(sandbox::enter_sandbox(&read_spec()))
}

/// Reads the specification from standard input. Without one the program ends.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn read_spec() -> sandbox::SandboxSpec {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    let spec = read.and_then(|_| Ok(serde_json::from_str(&line)?));
    spec.unwrap_or_else(|error| {
        eprintln!("countersign-sandbox: standard input is not a sandbox specification: {error}");
        std::process::exit(NOT_ENTERED.into())
    })
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exit_code(entered: Result<(), impl std::fmt::Display>) -> ExitCode {
    match entered {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("countersign-sandbox: {error}");
            ExitCode::from(NOT_ENTERED)
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn main() -> ExitCode {
    eprintln!("countersign-sandbox: there is no such sandbox on this system");
    ExitCode::from(NOT_ENTERED)
}
