//! Checks the engine for systems that this machine is not: cargo compiles it for them, without running anything, where
//! it has their standard library and a C compiler for them.

use std::process::Command;

use crate::command;
use crate::paths;
use crate::run::{ENGINE_PACKAGE, SANDBOX_PACKAGE};

/// A system that Countersign is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// Its name for people.
    pub title: &'static str,
    /// Its name in [`std::env::consts::OS`].
    os: &'static str,
    /// The target that stands for it.
    target: &'static str,
    /// The C compiler that libraries look for, unless `CC_…` names another one.
    c_compiler: &'static str,
}

const SYSTEMS: [System; 3] = [
    System {
        title: "Linux",
        os: "linux",
        target: "x86_64-unknown-linux-gnu",
        c_compiler: "x86_64-linux-gnu-gcc",
    },
    System {
        title: "macOS",
        os: "macos",
        target: "aarch64-apple-darwin",
        c_compiler: "aarch64-apple-darwin-clang",
    },
    System {
        title: "Windows",
        os: "windows",
        target: "x86_64-pc-windows-gnu",
        c_compiler: "x86_64-w64-mingw32-gcc",
    },
];

/// Returns every system but this one.
pub fn list_other_systems() -> impl Iterator<Item = System> {
    SYSTEMS
        .into_iter()
        .filter(|system| system.os != std::env::consts::OS)
}

impl System {
    /// Returns the command that checks the command line and the sandbox program for this system.
    ///
    /// # Errors
    /// The reason why nothing can be checked here.
    pub fn check_command(&self) -> Result<Command, String> {
        let mut rustup = Command::new("rustup");
        rustup
            .current_dir(paths::repo_root())
            .args(["target", "list", "--installed"]);
        let installed = command::read_output(&mut rustup).unwrap_or_default();
        let has_compiler = std::env::var_os(self.compiler_variable()).is_some()
            || paths::find_on_path(self.c_compiler).is_some();
        if let Some(why) = self.missing_part(&installed, has_compiler) {
            return Err(why);
        }
        let mut check = command::cargo_command();
        check.args(["check", "--locked", "--target", self.target]);
        check.args(ENGINE_PACKAGE).args(SANDBOX_PACKAGE);
        Ok(check)
    }

    /// Returns why this system cannot be checked with these installed targets, one a line.
    fn missing_part(&self, installed: &str, has_compiler: bool) -> Option<String> {
        let Self { title, target, .. } = self;
        if !installed.lines().any(|line| line.trim() == *target) {
            return Some(format!(
                "the engine is not checked for {title}: the standard library of {target} is not here. `rustup target add {target}` brings it."
            ));
        }
        (!has_compiler).then(|| {
            let variable = self.compiler_variable();
            format!(
                "the engine is not checked for {title}: there is no C compiler for {target}. Name one in {variable}."
            )
        })
    }

    fn compiler_variable(&self) -> String {
        format!("CC_{}", self.target.replace('-', "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_system_is_no_other() {
        let others: Vec<_> = list_other_systems().map(|system| system.os).collect();
        assert!(!others.contains(&std::env::consts::OS));
        assert!(others.len() >= SYSTEMS.len() - 1);
    }

    #[test]
    fn what_is_missing_is_said() {
        let [_, mac, _] = SYSTEMS;
        let other = "x86_64-unknown-linux-gnu\naarch64-apple-darwin-sim\n";
        let both = "x86_64-unknown-linux-gnu\naarch64-apple-darwin\n";
        for (installed, has_compiler, says) in [
            ("", true, Some("`rustup target add aarch64-apple-darwin`")),
            (
                other,
                true,
                Some("`rustup target add aarch64-apple-darwin`"),
            ),
            (both, false, Some("CC_aarch64_apple_darwin")),
            (both, true, None),
        ] {
            let why = mac.missing_part(installed, has_compiler);
            assert_eq!(why.is_some(), says.is_some(), "{installed}: {why:?}");
            assert!(
                says.is_none_or(|says| why.unwrap_or_default().contains(says)),
                "{installed}"
            );
        }
    }
}
