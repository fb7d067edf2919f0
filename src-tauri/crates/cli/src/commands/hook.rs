//! `hook` and `commit`: what an agent runs as its hook, and in place of a command that was approved.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use agent::EngineConfig;
use gateway::agent_hooks::client::{
    AGENT_SESSION_VARIABLE, HookCall, HookProgram, open_agent_folder,
};
use gateway::endpoint::HookOutput;
use gateway::limits::MESSAGE_BYTES_MAX;
use protocol::{CallId, Digest, SessionId};

use super::absolute_path;
use crate::args::{CommitArgs, HookArgs};
use crate::exit::{CliError, CliResult};
use crate::output::OutputWriter;

/// Variables in which agents tell their hooks the folder of the project.
const PROJECT_VARIABLES: [&str; 3] = [
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
];

/// Answers an agent's hook, and ends the program with the exit code that the agent obeys.
pub(crate) async fn answer_hook(
    data_dir: Option<PathBuf>,
    args: HookArgs,
    out: &mut OutputWriter,
) -> CliResult {
    out.reserve_stdout();
    let program = hook_program(data_dir)?;
    let mut written = Vec::new();
    std::io::stdin()
        .take(MESSAGE_BYTES_MAX as u64 + 1)
        .read_to_end(&mut written)
        .map_err(|error| CliError::failure("The call cannot be read.").with_cause(&error))?;
    let project = PROJECT_VARIABLES
        .iter()
        .find_map(|name| std::env::var(name).ok());
    let call = HookCall {
        agent: args.agent,
        written,
        project: project.unwrap_or_default(),
        wait: Duration::from_secs(args.wait),
    };
    let HookOutput {
        stdout,
        stderr,
        exit_code,
    } = program.answer_hook(call).await;
    end_program(stdout.as_bytes(), stderr.as_bytes(), exit_code.into())
}

/// Carries out what was approved, and ends as the command ended.
pub(crate) async fn commit_captured(
    data_dir: Option<PathBuf>,
    args: CommitArgs,
    out: &mut OutputWriter,
) -> CliResult {
    out.reserve_stdout();
    let program = hook_program(data_dir)?;
    let digest = Digest(args.expect);
    let fetched = program
        .fetch(CallId::from(args.call.as_str()), digest)
        .await?;
    let [stdout, mut stderr] = fetched
        .decode()
        .ok_or_else(|| CliError::failure("What the command printed cannot be read."))?;
    if fetched.is_truncated {
        stderr.extend_from_slice(
            b"\n[countersign: the output was longer than what was kept of it]\n",
        );
    }
    end_program(&stdout, &stderr, fetched.exit_code)
}

fn hook_program(data_dir: Option<PathBuf>) -> Result<HookProgram, CliError> {
    let own = std::env::current_exe().map_err(|error| {
        CliError::failure("This program's own file is not known.").with_cause(&error)
    })?;
    let mut command = vec![own.to_string_lossy().into_owned()];
    if let Some(data_dir) = &data_dir {
        let data_dir = absolute_path("data folder", data_dir)?;
        command.extend([
            "--data-dir".to_owned(),
            data_dir.to_string_lossy().into_owned(),
        ]);
    }
    let data_dir = EngineConfig::resolve_data_dir(data_dir).map_err(CliError::config_error)?;
    let data_dir = absolute_path("data folder", &data_dir)?;
    // An agent that answers in a session of ours is judged there.
    let session = std::env::var(AGENT_SESSION_VARIABLE).ok();
    let session = session.filter(|session| !session.is_empty());
    let endpoint = match &session {
        Some(session) => {
            let folder = open_agent_folder(&data_dir, &SessionId(session.clone()));
            folder.map_err(CliError::config_error)?.path().to_owned()
        }
        None => data_dir,
    };
    Ok(HookProgram {
        endpoint,
        starts_host: session.is_none(),
        command,
    })
}

/// Writes what was printed and ends the program with an exit code that is another program's.
#[expect(
    clippy::exit,
    reason = "the exit code of a captured command is none of ours"
)]
fn end_program(stdout: &[u8], stderr: &[u8], exit_code: i32) -> CliResult {
    let written = std::io::stdout()
        .write_all(stdout)
        .and_then(|()| std::io::stdout().flush())
        .and_then(|()| std::io::stderr().write_all(stderr));
    match written {
        Ok(()) => std::process::exit(exit_code),
        Err(_) => Err(CliError::OutputClosed),
    }
}
