//! The program in a place of its own: a workspace, a data folder, a home.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Answer to a question where nobody is (`S002-37`).
pub const HEADLESS_REFUSAL: &str = "Nobody is here to answer: this session runs without a person. Do not ask again; go on \
    with your best assumption and say which one you made.";

/// Folders for one test.
pub struct CliFixture {
    folder: TempDir,
}

/// Exit code and output of the program.
#[derive(Debug)]
pub struct CliRun {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl CliFixture {
    pub fn new() -> Self {
        Self::new_in(&std::env::temp_dir())
    }

    /// Makes the folders below another one than that of the system for temporary files.
    pub fn new_in(parent: &Path) -> Self {
        let folder = tempfile::tempdir_in(parent).unwrap();
        for name in ["workspace", "home"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Puts a file into the workspace.
    pub fn write_file(&self, path: &str, content: &str) -> &Self {
        let path = self.workspace().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn read_file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.workspace().join(path)).ok()
    }

    /// Makes an empty folder beside the workspace; gives its path.
    pub fn create_outside_folder(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path.display().to_string()
    }

    /// Puts a file beside the workspace; gives its path.
    pub fn write_outside_file(&self, name: &str, content: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    /// The program with its surroundings, standing in the workspace, without a terminal.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(args)
            .current_dir(self.workspace())
            .env_clear()
            .envs(self.environment())
            .stdin(Stdio::null());
        command
    }

    /// Connects Claude Code, which is an empty program in a folder of PATH.
    #[cfg(unix)]
    pub fn connect_claude_code(&self) {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = self.create_outside_folder("programs");
        let program = self.write_outside_file("programs/claude", "#!/bin/sh\n");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = self.command(&["connect", "claude-code", "--yes"]);
        let output = command.env("PATH", folder).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// The variables that the program gets.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut all = vec![
            ("HOME", self.folder.path().join("home").into_os_string()),
            ("PATH", path),
            ("COUNTERSIGN_DATA_DIR", self.data().into_os_string()),
        ];
        all.extend(std::env::var_os("SystemRoot").map(|root| ("SystemRoot", root)));
        all
    }

    pub fn run(&self, args: &[&str]) -> CliRun {
        let output = self.command(args).output().unwrap();
        CliRun {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs what must end well; gives its output.
    pub fn run_ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(
            (ran.code, ran.err.as_str()),
            (0, ""),
            "{args:?}: {}",
            ran.out
        );
        ran.out
    }

    /// The same with `--json`, as a value.
    pub fn run_json(&self, args: &[&str]) -> Value {
        let out = self.run_ok(&[args, &["--json"]].concat());
        serde_json::from_str(&out).unwrap()
    }
}

/// Every file below a folder with its content.
pub fn read_folder(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        match path.is_dir() {
            true => found.extend(read_folder(&path)),
            false => found.push((path.clone(), std::fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}
