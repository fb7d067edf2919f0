//! The commands of the pages, run one after the other as a reader would type them: in a project below a fresh home.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use protocol::view::effects::Assurance;
use tempfile::TempDir;

use super::fenced_blocks::{BlockPurpose, FencedBlock};
use super::transcript::{ShellStep, matches_output, parse_steps, split_output};

/// The home folder as pages have it, in the place of the one that a test made.
const SHOWN_HOME: &str = "/home/me";

/// A home folder with a project.
struct ReaderHome {
    folder: TempDir,
}

impl ReaderHome {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Self { folder };
        std::fs::create_dir(home.project()).unwrap();
        home
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Puts a block of the page into its file.
    fn write_file(&self, path: &str, text: &str) {
        let file = match path.strip_prefix("~/") {
            Some(below) => self.folder.path().join(below),
            None => self.project().join(path),
        };
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// Runs a command in a shell; gives its exit code and what it prints.
    fn run(&self, command: &str) -> (i32, String) {
        let home = self.folder.path().to_str().unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"))
            .parent()
            .unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", program.display());
        // One stream, as a terminal shows it.
        let script = format!("exec 2>&1\n{}", command.replace(SHOWN_HOME, home));
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(self.project())
            .env_clear()
            .envs([("HOME", home), ("PATH", path.as_str())])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let code = output.status.code().unwrap_or(-1);
        (code, printed.replace(home, SHOWN_HOME))
    }

    /// Whether commands get a dry run in a sandbox here.
    fn has_sandbox(&self) -> bool {
        let (_, printed) = self.run("countersign doctor --json");
        let promise: serde_json::Value = serde_json::from_str(&printed).unwrap();
        // Read by its type: with a word that is not known, every page would pass without being run.
        let assurance: Assurance = serde_json::from_value(promise["assurance"].clone()).unwrap();
        assurance == Assurance::Speculative
    }
}

/// Runs a page from its first block to its last.
fn run_page(page: &str) {
    let home = ReaderHome::new();
    if !home.has_sandbox() {
        eprintln!("{page} is not run: this machine makes no sandboxes.");
        return;
    }
    for block in FencedBlock::read_page(page) {
        match &block.purpose {
            BlockPurpose::NotRun(_) => {}
            BlockPurpose::File(path) => home.write_file(path, &block.text),
            _ if block.language == "console" => run_block(&home, &block),
            _ => {}
        }
    }
}

fn run_block(home: &ReaderHome, block: &FencedBlock) {
    let last_code = match block.purpose {
        BlockPurpose::Exit(code) => code,
        _ => 0,
    };
    let steps = parse_steps(&block.text);
    let count = steps.len();
    for (at, step) in steps.into_iter().enumerate() {
        let code = if at + 1 == count { last_code } else { 0 };
        check_step(home, &step, code, &block.place());
    }
}

fn check_step(home: &ReaderHome, step: &ShellStep, code: i32, place: &str) {
    let (found_code, printed) = home.run(&step.command);
    let command = &step.command;
    assert_eq!(
        found_code, code,
        "{place}: the exit code of `{command}`, which prints:\n{printed}"
    );
    assert!(
        matches_output(&step.output, &split_output(&printed)),
        "{place}: `{command}` prints:\n{printed}"
    );
}

/// One test for each page with commands.
macro_rules! test_pages {
    ($($name:ident: $page:literal,)*) => {
        $(
            #[test]
            fn $name() {
                run_page($page);
            }
        )*

        const TESTED_PAGES: &[&str] = &[$($page),*];
    };
}

test_pages! {
    the_commands_of_the_start_run: "docs/start.md",
    the_commands_of_how_it_decides_run: "docs/how-it-decides.md",
    the_commands_of_postures_run: "docs/postures.md",
    the_commands_of_rules_run: "docs/rules.md",
    the_commands_of_dry_runs_run: "docs/dry-runs.md",
    the_commands_of_undo_run: "docs/undo.md",
    the_commands_of_secrets_run: "docs/secrets.md",
    the_commands_of_servers_run: "docs/servers.md",
    the_commands_of_teams_run: "docs/team.md",
    the_commands_of_troubleshooting_run: "docs/troubleshooting.md",
}

#[test]
fn every_page_with_commands_is_run() {
    let mut with_commands: Vec<String> = Vec::new();
    for block in super::all_blocks() {
        let is_run =
            block.language == "console" && !matches!(block.purpose, BlockPurpose::NotRun(_));
        if is_run && !with_commands.contains(&block.page) {
            with_commands.push(block.page);
        }
    }
    let mut tested = TESTED_PAGES.to_vec();
    tested.sort_unstable();
    assert_eq!(with_commands, tested);
}
