//! Tests with transcripts that the real agents wrote, with other paths and ids, and with what is none.

use std::fs;
use std::path::Path;

use gateway::agent_calls::ExternalAgent;
use gateway::limits::{TRANSCRIPT_FAULTS_SHOWN, TRANSCRIPT_LINE_BYTES_MAX};
use gateway::transcripts::{
    TranscriptFaults, TranscriptPlace, TranscriptQuery, Transcripts, read_transcripts,
};
use protocol::At;
use protocol::text::timestamp::parse_timestamp;
use tempfile::TempDir;

const CLAUDE_CODE: &str = include_str!("../fixtures/claude-code.jsonl");
const CODEX: &str = include_str!("../fixtures/codex.jsonl");
const GEMINI_CLI: &str = include_str!("../fixtures/gemini-cli.jsonl");

/// A home folder with files in it.
fn home_with(files: &[(&str, &str)]) -> TempDir {
    let home = TempDir::new().unwrap();
    for (path, text) in files {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    home
}

fn read(agent: ExternalAgent, place: &TranscriptPlace, since: At) -> Transcripts {
    let query = TranscriptQuery {
        agent,
        workspace: Path::new("/home/me/project"),
        since,
    };
    read_transcripts(&query, place).unwrap()
}

fn read_home(agent: ExternalAgent, home: &TempDir) -> Transcripts {
    let place = TranscriptPlace::of_agent(agent, home.path(), |_| None).unwrap();
    read(agent, &place, At::MIN)
}

/// Each call as `session tool`, the session by its first characters.
fn summaries(found: &Transcripts) -> Vec<String> {
    let calls = found.calls.iter();
    calls
        .map(|call| format!("{} {}", &call.session[..4], call.tool))
        .collect()
}

#[test]
fn each_agent_s_calls_are_read_in_their_order() {
    let home = home_with(&[
        (".claude/projects/-home-me-project/8a0c.jsonl", CLAUDE_CODE),
        // The session was continued in another file, with its calls.
        (".claude/projects/-home-me-project/9b.jsonl", CLAUDE_CODE),
        (".codex/sessions/2026/11/26/rollout-1.jsonl", CODEX),
        (".gemini/tmp/project/chats/session-1.jsonl", GEMINI_CLI),
    ]);
    for (agent, expected) in [
        (
            ExternalAgent::ClaudeCode,
            [
                "8a0c Bash",
                "8a0c Write",
                "8a0c Read",
                "8a0c Edit",
                "8a0c Grep",
                "8a0c Glob",
                "8a0c TodoWrite",
                "8a0c Bash",
            ]
            .as_slice(),
        ),
        (
            ExternalAgent::Codex,
            &["01a2 exec_command", "01a2 exec_command", "01a2 update_plan"],
        ),
        (
            ExternalAgent::GeminiCli,
            &[
                "2a00 run_shell_command",
                "2a00 write_file",
                "2a00 read_file",
                "2a00 replace",
                "2a00 grep_search",
                "2a00 glob",
                "2a00 list_directory",
                "2a00 run_shell_command",
            ],
        ),
    ] {
        let found = read_home(agent, &home);
        assert_eq!(summaries(&found), expected);
        assert_eq!(found.faults, TranscriptFaults::default());
        assert_eq!(found.elsewhere, 0);
        let first = &found.calls[0];
        assert!(first.input.values().any(|value| {
            value
                .as_str()
                .is_some_and(|text| text.starts_with("echo hello >"))
        }));
        assert_eq!(first.folder, Path::new("/home/me/project"));
    }
}

#[test]
fn calls_of_another_time_or_folder_are_left_out() {
    let folder = CLAUDE_CODE.replace("/home/me/project", "/home/me/other");
    let home = home_with(&[(".claude/projects/a/1.jsonl", &folder)]);
    let found = read_home(ExternalAgent::ClaudeCode, &home);
    assert_eq!((found.calls.len(), found.elsewhere), (0, 8));

    let next_day = CLAUDE_CODE.replace("2026-11-26", "2026-11-27");
    let home = home_with(&[
        (".claude/projects/a/1.jsonl", CLAUDE_CODE),
        (".claude/projects/a/2.jsonl", &next_day),
    ]);
    let found = read_home(ExternalAgent::ClaudeCode, &home);
    assert_eq!(found.calls.len(), 16, "ids of calls are a session's own");

    let home = home_with(&[("one.jsonl", CLAUDE_CODE)]);
    let place = TranscriptPlace::File(home.path().join("one.jsonl"));
    let since = parse_timestamp("2026-11-26T11:53:30.100Z").unwrap();
    let found = read(ExternalAgent::ClaudeCode, &place, since);
    assert_eq!(summaries(&found), ["8a0c TodoWrite", "8a0c Bash"]);
}

#[test]
fn gemini_cli_says_which_folder_in_a_file_beside_it() {
    let other_hash = GEMINI_CLI.replace("projectHash", "otherHash");
    let home = home_with(&[
        ("tmp/app/chats/session-1.jsonl", &other_hash),
        ("tmp/app/.project_root", "/home/me/project/app"),
        (
            "tmp/old/chats/session-2.json",
            r#"{"sessionId": "oldest", "projectHash": "0", "messages": [{"toolCalls": [
                {"id": "a", "name": "glob", "args": {"pattern": "*"}, "timestamp": "2026-01-01T00:00:00Z"}]}]}"#,
        ),
        ("tmp/old/.project_root", "/home/me/project\n"),
    ]);
    let place = TranscriptPlace::Folder(home.path().join("tmp"));
    let found = read(ExternalAgent::GeminiCli, &place, At::MIN);
    assert_eq!(found.calls.len(), 9);
    assert_eq!(summaries(&found)[0], "olde glob");
    assert_eq!(found.calls[1].folder, Path::new("/home/me/project/app"));
    let place = TranscriptPlace::File(home.path().join("tmp/app/chats/session-1.jsonl"));
    assert_eq!(
        read(ExternalAgent::GeminiCli, &place, At::MIN).calls.len(),
        8
    );
}

#[test]
fn what_is_no_transcript_is_counted_and_named() {
    let long = "x".repeat(usize::try_from(TRANSCRIPT_LINE_BYTES_MAX).unwrap() + 2);
    let first = CLAUDE_CODE.lines().nth(3).unwrap();
    let text = format!(
        "{long}\nno JSON\n\n[1]\n{{\"message\":{{\"content\":[{{\"type\":\"tool_use\"}}]}}}}\n{first}"
    );
    let home = home_with(&[("projects/a/1.jsonl", &text), ("secret.jsonl", CLAUDE_CODE)]);
    let place = TranscriptPlace::Folder(home.path().join("projects"));
    let found = read(ExternalAgent::ClaudeCode, &place, At::MIN);
    assert_eq!(summaries(&found), ["8a0c Bash"]);
    assert_eq!(found.faults.count, 2);
    assert_eq!(found.faults.shown[0], "a/1.jsonl, line 1: it is too long");
    assert!(found.faults.shown[1].starts_with("a/1.jsonl, line 2: "));

    #[cfg(unix)]
    {
        let link = home.path().join("projects/a/2.jsonl");
        std::os::unix::fs::symlink(home.path().join("secret.jsonl"), link).unwrap();
        let found = read(ExternalAgent::ClaudeCode, &place, At::MIN);
        assert_eq!(
            summaries(&found),
            ["8a0c Bash"],
            "a link leads out of the folder"
        );
        assert_eq!(found.faults.count, 3);
    }
    let many = "no JSON\n".repeat(1_000);
    let home = home_with(&[("one.jsonl", &many)]);
    let place = TranscriptPlace::File(home.path().join("one.jsonl"));
    let found = read(ExternalAgent::Codex, &place, At::MIN);
    assert_eq!(found.faults.count, 1_000);
    assert_eq!(found.faults.shown.len(), TRANSCRIPT_FAULTS_SHOWN);
}

#[test]
fn a_place_without_transcripts_is_named() {
    let home = TempDir::new().unwrap();
    for agent in ExternalAgent::ALL {
        let query = TranscriptQuery {
            agent,
            workspace: home.path(),
            since: At::MIN,
        };
        let place = TranscriptPlace::of_agent(agent, home.path(), |_| None);
        let error = match place {
            Ok(place) => read_transcripts(&query, &place).unwrap_err(),
            Err(error) => error,
        };
        assert!(error.message.contains(agent.name()), "{error:?}");
    }
}

#[test]
fn an_agent_s_variable_names_its_folder() {
    let home = Path::new("/home/me");
    for (agent, value, expected) in [
        (ExternalAgent::ClaudeCode, "/cfg", "/cfg/projects"),
        (ExternalAgent::ClaudeCode, "", "/home/me/.claude/projects"),
        (ExternalAgent::Codex, "/cfg", "/cfg/sessions"),
        (ExternalAgent::GeminiCli, "/cfg", "/home/me/.gemini/tmp"),
    ] {
        let place = TranscriptPlace::of_agent(agent, home, |_| Some(value.into()));
        assert_eq!(place, Ok(TranscriptPlace::Folder(expected.into())));
    }
}
