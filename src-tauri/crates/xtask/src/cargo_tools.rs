//! Programs from the crate registry, each installed in one version into target/tools.

use std::path::PathBuf;

use crate::command;
use crate::failure::Failure;
use crate::paths;

/// A program that cargo installs.
#[derive(Clone, Copy, Debug)]
pub struct CargoTool {
    /// Name of its crate and of the program.
    pub name: &'static str,
    /// The version that our settings are written for.
    pub version: &'static str,
}

impl CargoTool {
    /// Returns the path of the installed program.
    pub fn path(self) -> PathBuf {
        let program = format!("{}{}", self.name, std::env::consts::EXE_SUFFIX);
        paths::tools_dir().join("bin").join(program)
    }

    /// Ensures that it is installed. Returns whether it was missing.
    pub fn ensure_installed(self) -> Result<bool, Failure> {
        if self.path().is_file() {
            return Ok(false);
        }
        let package = format!("{}@{}", self.name, self.version);
        let mut cargo = command::cargo_command();
        cargo
            .args(["install", "--quiet", "--locked", &package, "--root"])
            .arg(paths::tools_dir());
        command::run_command(
            &mut cargo,
            &format!("{}, which this needs, could not be installed.", self.name),
            &format!(
                "Check that the crate registry can be reached; by hand: `cargo install --locked {package}`."
            ),
        )?;
        Ok(true)
    }
}
