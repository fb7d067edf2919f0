//! `cargo xtask audit`: licences, sources, duplicates and known vulnerabilities of everything the app is built on.
//!
//! The rules are in `deny.toml`. The vulnerability databases are on the network: where one cannot be reached, the audit says
//! that the check was not run and ends with an error, because a check that was not run has not passed.

use std::process::{Command, Stdio};

use crate::cargo_tools::CargoTool;
use crate::command;
use crate::failure::Failure;
use crate::paths;
use crate::progress::Progress;

/// Judges by `deny.toml`, which is written for this version.
const CARGO_DENY: CargoTool = CargoTool {
    name: "cargo-deny",
    version: "0.20.2",
};

/// A check of the audit; its failure tells the next step. Returns `true`, since there is always work to do.
type AuditCheck = fn() -> Result<bool, Failure>;

/// Runs every check of the audit and reports all that did not pass.
pub fn run_audit(own: &[String]) -> Result<(), Failure> {
    if !own.is_empty() {
        return Err(Failure::new(
            format!("`cargo xtask audit {}` is not understood.", own.join(" ")),
            "`cargo xtask audit` takes no options.",
        ));
    }
    let progress = Progress::start();
    progress.stage("cargo-deny", || CARGO_DENY.ensure_installed())?;
    let checks: [(&str, AuditCheck); 3] = [
        ("licences, sources and duplicates", check_graph),
        ("advisories for crates", check_crates),
        ("advisories for UI packages", check_ui_packages),
    ];
    let mut failed = 0;
    for (name, check) in checks {
        if let Err(failure) = progress.stage(name, check) {
            eprintln!("{failure}\n");
            failed += 1;
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::new(
            format!("{failed} of {} checks did not pass.", checks.len()),
            "Read the messages above. Exceptions belong in deny.toml, each with its reason.",
        )),
    }
}

/// Checks every crate of the graph against the rules that need no database.
fn check_graph() -> Result<bool, Failure> {
    let found = Failure::new(
        "A crate breaks a rule of deny.toml.",
        "Replace it, or add an exception with its reason.",
    );
    run_deny(
        &["--workspace", "check", "bans", "licenses", "sources"],
        found,
    )
}

/// Runs cargo-deny in the checkout; `found` is the failure when it does not succeed.
fn run_deny(arguments: &[&str], found: Failure) -> Result<bool, Failure> {
    let mut deny = Command::new(CARGO_DENY.path());
    deny.current_dir(paths::repo_root()).args(arguments);
    command::run_command(&mut deny, &found.what, &found.next).map(|()| true)
}

/// Checks `Cargo.lock` against the RustSec database, which is downloaded first.
fn check_crates() -> Result<bool, Failure> {
    run_deny(
        &["fetch", "db"],
        Failure::new(
            "Crates were not checked for known vulnerabilities: the RustSec database cannot be downloaded.",
            "Run the audit where it can be reached.",
        ),
    )?;
    let found = Failure::new(
        "RustSec knows vulnerabilities or unmaintained crates among the dependencies.",
        "Update them. What has no update is listed in deny.toml with what to do.",
    );
    run_deny(&["--offline", "--workspace", "check", "advisories"], found)
}

/// Asks the registry of npm for known vulnerabilities of the UI's packages.
fn check_ui_packages() -> Result<bool, Failure> {
    let mut npm = command::npm_command();
    npm.args(["audit", "--audit-level=low"]);
    let output = npm.stdin(Stdio::null()).output();
    let output = output.map_err(|e| {
        Failure::new(
            format!("npm could not be started: {e}."),
            "Install Node.js, which brings npm, then run the same command again.",
        )
    })?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    if output.status.success() {
        return Ok(true);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    eprint!("{stderr}");
    let unreachable = stderr.contains("audit endpoint returned an error");
    Err(match unreachable {
        true => Failure::new(
            "The UI packages were not checked: the registry answers no questions about vulnerabilities.",
            "Run the audit where the registry of npm itself can be reached.",
        ),
        false => Failure::new(
            "npm knows vulnerabilities of UI packages.",
            "Update the packages that are named above.",
        ),
    })
}
