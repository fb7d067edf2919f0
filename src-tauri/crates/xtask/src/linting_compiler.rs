//! A compiler that also lints: cargo calls this program in place of rustc for each crate of the workspace, and one build
//! compiles, runs clippy, and checks the comments.
//!
//! `cargo clippy` and `cargo doc` read every crate once more, and first build metadata of all dependencies of their own.
//! clippy's driver is rustc with lints, so it can compile as well, and rustdoc reads the dependencies that were compiled
//! for the build.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::command;
use crate::failure::Failure;
use crate::paths;

/// Variable that makes this program a compiler; its value is the folder for the pages that rustdoc writes.
const DOC_DIR_VARIABLE: &str = "COUNTERSIGN_LINT_DOC_DIR";

/// Arguments of clippy, each ended by clippy's own separator.
const CLIPPY_ARGUMENTS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// Options of rustc that rustdoc has no use for; each takes a value, in the same argument or in the next.
const COMPILER_OPTIONS: [&str; 4] = ["--emit", "--out-dir", "-C", "--codegen"];

/// Makes a cargo command build the crates of the workspace with this program.
pub struct LintingCompiler {
    program: PathBuf,
}

impl LintingCompiler {
    /// Copies this program to the target folder: cargo builds it anew meanwhile, and replaces the original.
    pub fn install() -> Result<Self, Failure> {
        let failure = |e: std::io::Error| Failure::file_error("copy", &paths::target_dir(), &e);
        let own = std::fs::read(std::env::current_exe().map_err(failure)?).map_err(failure)?;
        let folder = paths::target_dir().join("xtask");
        let name = format!("linting-compiler{}", std::env::consts::EXE_SUFFIX);
        let program = folder.join(name);
        // cargo builds everything again if its compiler changed.
        if std::fs::read(&program).is_ok_and(|copied| copied == own) {
            return Ok(Self { program });
        }
        std::fs::create_dir_all(&folder).map_err(failure)?;
        let _ = std::fs::remove_file(&program);
        std::fs::copy(std::env::current_exe().map_err(failure)?, &program).map_err(failure)?;
        Ok(Self { program })
    }

    /// Returns a command for cargo that lints what it compiles.
    pub fn cargo_command(&self) -> Command {
        let mut cargo = command::cargo_command();
        cargo.env("RUSTC_WORKSPACE_WRAPPER", &self.program);
        cargo.env(
            DOC_DIR_VARIABLE,
            paths::target_dir().join("xtask").join("doc"),
        );
        cargo.env("CLIPPY_ARGS", CLIPPY_ARGUMENTS);
        cargo
    }
}

/// Compiles, lints and documents one crate if cargo calls this program as a compiler: with the path of rustc and rustc's
/// arguments. Returns none if this program was called by a person.
pub fn run_as_compiler() -> Option<ExitCode> {
    let doc_dir = PathBuf::from(std::env::var_os(DOC_DIR_VARIABLE)?);
    let mut arguments = std::env::args_os().skip(1);
    let rustc = arguments.next()?;
    let arguments: Vec<OsString> = arguments.collect();
    let Some(krate) = CrateToCompile::from_arguments(&arguments) else {
        // cargo asks the compiler what it is.
        return Some(run_to_end(Command::new(rustc).args(&arguments)));
    };
    let compiled = run_to_end(Command::new("clippy-driver").arg(&rustc).args(&arguments));
    if compiled != ExitCode::SUCCESS || krate.is_test {
        return Some(compiled);
    }
    let mut rustdoc = Command::new("rustdoc");
    rustdoc.args(rustdoc_arguments(&arguments));
    rustdoc.args(["--document-private-items", "-D", "warnings"]);
    // Nothing of a program is public, so its comments may link to what is private.
    if value_of(&arguments, "--crate-type") == Some(OsStr::new("bin")) {
        rustdoc.args(["-A", "rustdoc::private-intra-doc-links"]);
    }
    rustdoc.arg("--out-dir").arg(doc_dir.join(krate.name));
    Some(run_to_end(&mut rustdoc))
}

/// A crate that cargo wants compiled.
#[derive(Debug, PartialEq, Eq)]
struct CrateToCompile {
    name: OsString,
    /// Whether the crate is compiled with its tests: the same comments are checked without them.
    is_test: bool,
}

impl CrateToCompile {
    /// Returns the crate that rustc's arguments name. A build script counts as a test: it is documented nowhere.
    fn from_arguments(arguments: &[OsString]) -> Option<Self> {
        let name = value_of(arguments, "--crate-name").filter(|name| *name != "___")?;
        Some(Self {
            is_test: arguments.iter().any(|argument| argument == "--test")
                || name.to_string_lossy().starts_with("build_script_"),
            name: name.to_owned(),
        })
    }
}

/// Returns the argument after an option.
fn value_of<'a>(arguments: &'a [OsString], option: &str) -> Option<&'a OsStr> {
    let at = arguments.iter().position(|argument| argument == option)?;
    arguments.get(at + 1).map(OsString::as_os_str)
}

/// Returns the arguments of rustc that rustdoc understands.
fn rustdoc_arguments(arguments: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        match COMPILER_OPTIONS
            .iter()
            .find(|option| text.starts_with(*option))
        {
            // The value is the next argument.
            Some(option) if text == **option => {
                rest.next();
            }
            Some(_) => {}
            None => kept.push(argument.clone()),
        }
    }
    kept
}

/// Runs a program to its end. A program that could not be started, or that a signal ended, has failed.
fn run_to_end(command: &mut Command) -> ExitCode {
    match command.status() {
        Ok(status) => match status.code() {
            Some(0) => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        },
        Err(error) => {
            let program = PathBuf::from(command.get_program());
            eprintln!("`{}` could not be started: {error}.", program.display());
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn a_crate_is_told_from_a_question_about_the_compiler() {
        let named = |name: &str, is_test| {
            Some(CrateToCompile {
                name: name.into(),
                is_test,
            })
        };
        for (line, expected) in [
            ("-vV", None),
            ("- --crate-name ___ --print=file-names", None),
            (
                "--crate-name policy --edition=2024 src/lib.rs",
                named("policy", false),
            ),
            (
                "--crate-name policy src/lib.rs --test",
                named("policy", true),
            ),
            (
                "--crate-name build_script_build build.rs",
                named("build_script_build", true),
            ),
        ] {
            assert_eq!(
                CrateToCompile::from_arguments(&words(line)),
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn rustdoc_gets_all_but_what_only_a_compiler_understands() {
        let line = "--crate-name policy --edition=2024 src/lib.rs --error-format=json --crate-type lib \
                    --emit=dep-info,metadata,link -C embed-bitcode=no -Cdebuginfo=1 --cfg test_cfg \
                    --out-dir target/debug/deps -L dependency=target/debug/deps --extern serde=libserde.rmeta -Wmissing-docs";
        let expected = "--crate-name policy --edition=2024 src/lib.rs --error-format=json --crate-type lib --cfg test_cfg \
                        -L dependency=target/debug/deps --extern serde=libserde.rmeta -Wmissing-docs";
        assert_eq!(rustdoc_arguments(&words(line)), words(expected));
    }
}
