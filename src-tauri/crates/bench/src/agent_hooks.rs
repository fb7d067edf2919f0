//! Measures how long an agent waits for its hook where nobody is asked, beside hooks that do nothing.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::BenchResult;
use crate::dry_run::build_programs;
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_difference, format_ratio, format_time, print_table};

/// Number of questions.
const ROUNDS: usize = 201;
/// A hook that reads the question and lets every call pass.
const READING_HOOK: &str = "cat >/dev/null";

/// Measures a read that passes, and prints the results.
pub fn run() -> BenchResult<()> {
    let agent = HookedAgent::create(build_programs("cli")?.join("countersign"))?;
    let question = agent.event("PreToolUse", 0);
    let mut number = 0;
    let mut sides = [
        Contender::new("countersign hook", || {
            number += 1;
            agent.time_question(number)
        }),
        Contender::new("a shell that reads", || {
            let mut shell = Command::new("sh");
            time_hook(shell.args(["-c", READING_HOOK]), &question).map(|(took, _)| took)
        }),
        Contender::new("true", || {
            time_hook(&mut Command::new("true"), &question).map(|(took, _)| took)
        }),
    ];
    let taken = measure_medians(&mut sides, ROUNDS)?;
    let [ours, shell, nothing] = taken
        .try_into()
        .map_err(|_| "three sides give three medians")?;
    let row = |beside: &str, theirs| TableRow {
        what: format!("hook to answer without a question, beside {beside}"),
        ours: format_time(ours),
        theirs: format_time(theirs),
        ratio: format!(
            "{}, {}",
            format_ratio(ours, theirs),
            format_difference(ours, theirs)
        ),
        aim: "+15 ms",
    };
    let rows = [
        row(&format!("`sh -c '{READING_HOOK}'`"), shell),
        row("`true`", nothing),
    ];
    print_table("Hooks of other people's agents", &rows);
    Ok(())
}

/// An agent in a folder of its own, whose first question starts the engine that answers all of them.
struct HookedAgent {
    program: PathBuf,
    home: TempDir,
}

impl HookedAgent {
    fn create(program: PathBuf) -> BenchResult<Self> {
        let home = tempfile::tempdir()?;
        let workspace = home.path().join("workspace");
        std::fs::create_dir(&workspace)?;
        std::fs::write(workspace.join("a.txt"), "one\n")?;
        Ok(Self { program, home })
    }

    fn workspace(&self) -> PathBuf {
        self.home.path().join("workspace")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .env("COUNTERSIGN_DATA_DIR", self.home.path().join("data"));
        command
    }

    fn event(&self, name: &str, number: u32) -> Value {
        json!({
            "session_id": "bench",
            "cwd": self.workspace(),
            "hook_event_name": name,
            "tool_name": "Read",
            "tool_input": { "file_path": self.workspace().join("a.txt") },
            "tool_use_id": format!("toolu_{number}"),
        })
    }

    /// Measures one question about a read, and tells the engine afterwards that the file was read.
    fn time_question(&self, number: u32) -> BenchResult<Duration> {
        let hook = ["hook", "claude-code"];
        let (took, answer) =
            time_hook(&mut self.command(&hook), &self.event("PreToolUse", number))?;
        let answer: Value = serde_json::from_slice(&answer.stdout)?;
        if answer["hookSpecificOutput"]["permissionDecision"] != "allow" {
            return Err(format!("the read did not pass: {answer}").into());
        }
        time_hook(&mut self.command(&hook), &self.event("PostToolUse", number))?;
        Ok(took)
    }
}

impl Drop for HookedAgent {
    fn drop(&mut self) {
        let _ = self.command(&["gateway", "hooks", "--stop"]).output();
    }
}

/// Measures a hook from its start until it ended.
fn time_hook(hook: &mut Command, event: &Value) -> BenchResult<(Duration, Output)> {
    let written = event.to_string();
    let began = Instant::now();
    let mut child = hook
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook need not read what it is asked.
        let _ = stdin.write_all(written.as_bytes());
    }
    let output = child.wait_with_output()?;
    let took = began.elapsed();
    match output.status.success() {
        true => Ok((took, output)),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}
