//! How each agent is set up and started, and the calls that its model makes.

use std::path::Path;

use serde_json::json;

use crate::model::{PROMPT, ToolTurn};
use crate::support::CliFixture;

/// An agent of somebody else.
pub struct Agent {
    /// Name for `countersign connect`.
    pub id: &'static str,
    /// Name of its program.
    pub program: &'static str,
    /// Words that start it with the prompt, without questions of its own.
    pub words: &'static [&'static str],
    /// Our tool that its write is judged as.
    pub write_tool: &'static str,
    /// Its calls on record.
    pub record: [&'static str; 4],
    /// Its calls on record where it answers in a session of ours.
    pub session_record: &'static [&'static str],
    /// Whether its commands are held to their effects there.
    pub is_held: bool,
    /// Whether it always has its session after it was killed.
    pub survives: bool,
    /// Writes its configuration, with the address of the model.
    pub configure: fn(&CliFixture, &str),
    /// Returns its variables, with the address of the model.
    pub variables: fn(&str) -> Vec<(&'static str, String)>,
    /// Returns a read, a write, a command, and a command that is denied.
    pub turns: fn(&Path) -> [ToolTurn; 4],
    /// The same in a session of ours, where it has to be told otherwise to ask about each.
    pub session_turns: Option<fn() -> [ToolTurn; 4]>,
}

const COMMAND: &str = "echo ran >> runs.txt; echo printed | tr a-z A-Z";
const DENIED: &str = "rm -f kept.txt";
/// Codex takes this command for a patch, and runs it as its own tool.
const PATCH: &str =
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: made.txt\n+two\n*** End Patch\nEOF";

pub const CLAUDE_CODE: Agent = Agent {
    id: "claude-code",
    program: "claude",
    words: &[
        "-p",
        PROMPT,
        "--permission-mode",
        "acceptEdits",
        "--allowedTools",
        "Bash Write Read",
    ],
    write_tool: "write",
    record: ["read done", "write done", "bash done", "bash denied"],
    session_record: &["read done", "write done", "bash done", "bash denied"],
    is_held: true,
    survives: true,
    configure: |_, _| {},
    variables: |model| {
        set(&[
            ("ANTHROPIC_API_KEY", "sk-ant-none"),
            ("ANTHROPIC_BASE_URL", model),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
        ])
    },
    turns: |workspace| {
        let path = |name: &str| workspace.join(name);
        [
            ("Read", json!({ "file_path": path("seen.txt") })),
            (
                "Write",
                json!({ "file_path": path("made.txt"), "content": "two\n" }),
            ),
            ("Bash", json!({ "command": COMMAND, "description": "run" })),
            (
                "Bash",
                json!({ "command": DENIED, "description": "remove" }),
            ),
        ]
    },
    session_turns: None,
};

pub const OPENCODE: Agent = Agent {
    id: "opencode",
    program: "opencode",
    words: &["run", PROMPT],
    write_tool: "write",
    record: ["read done", "write done", "bash done", "bash denied"],
    session_record: &["read done", "write done", "bash done", "bash denied"],
    is_held: true,
    survives: true,
    configure: |place, model| {
        let options = json!({ "baseURL": format!("{model}/v1"), "apiKey": "none" });
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": options,
            "models": { "fake-1": { "name": "Fake 1", "tool_call": true } },
        });
        let config = json!({
            "autoupdate": false,
            "share": "disabled",
            "provider": { "fake": provider },
            "model": "fake/fake-1",
            "small_model": "fake/fake-1",
            "permission": { "bash": "allow", "edit": "allow" },
        });
        write_home_file(place, ".config/opencode/opencode.json", &config.to_string());
        // It looks for a package of its plugins before it answers, which may take minutes where no registry is reached.
        write_home_file(
            place,
            ".npmrc",
            "registry=http://127.0.0.1:9/\nfetch-retries=0\n",
        );
    },
    variables: |_| {
        set(&[
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ])
    },
    turns: |workspace| {
        let path = |name: &str| workspace.join(name);
        [
            ("read", json!({ "filePath": path("seen.txt") })),
            (
                "write",
                json!({ "filePath": path("made.txt"), "content": "two\n" }),
            ),
            ("bash", json!({ "command": COMMAND, "description": "run" })),
            (
                "bash",
                json!({ "command": DENIED, "description": "remove" }),
            ),
        ]
    },
    session_turns: None,
};

pub const GEMINI_CLI: Agent = Agent {
    id: "gemini-cli",
    program: "gemini",
    words: &[
        "-m",
        "gemini-2.5-flash",
        "--approval-mode",
        "yolo",
        "-p",
        PROMPT,
    ],
    write_tool: "write",
    record: ["read done", "write done", "bash done", "bash denied"],
    session_record: &[
        "gemini-cli__seen_txt_b042fa35 done",
        "write done",
        "bash done",
        "bash denied",
    ],
    is_held: false,
    survives: false,
    configure: |place, _| {
        let config = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "general": { "enableAutoUpdate": false },
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
        });
        write_home_file(place, ".gemini/settings.json", &config.to_string());
    },
    variables: |model| {
        set(&[
            ("GEMINI_API_KEY", "none"),
            ("GOOGLE_GEMINI_BASE_URL", model),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ("GEMINI_MODEL", "gemini-2.5-flash"),
        ])
    },
    turns: |_| {
        [
            ("read_file", json!({ "file_path": "seen.txt" })),
            (
                "write_file",
                json!({ "file_path": "made.txt", "content": "two\n" }),
            ),
            (
                "run_shell_command",
                json!({ "command": COMMAND, "description": "run" }),
            ),
            (
                "run_shell_command",
                json!({ "command": DENIED, "description": "remove" }),
            ),
        ]
    },
    session_turns: None,
};

pub const CODEX: Agent = Agent {
    id: "codex",
    program: "codex",
    words: &[
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        PROMPT,
    ],
    write_tool: "apply_patch",
    record: ["bash done", "apply_patch done", "bash done", "bash denied"],
    session_record: &["bash done", "write done", "bash done", "bash denied"],
    is_held: false,
    survives: true,
    configure: |place, model| {
        let config = format!(
            "model = \"gpt-5\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"Fake\"\n\
             base_url = \"{model}/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\nrequires_openai_auth = false\n"
        );
        write_home_file(place, ".codex/config.toml", &config);
    },
    variables: |_| set(&[("OPENAI_API_KEY", "none")]),
    turns: |_| {
        let run = |command: &str| ("exec_command", json!({ "cmd": command }));
        [run("cat seen.txt"), run(PATCH), run(COMMAND), run(DENIED)]
    },
    session_turns: Some(|| {
        let run = |command: &str| ("exec_command", json!({ "cmd": command }));
        // In its own sandbox it does not ask.
        let escalate = |command: &str| {
            let escalated = json!({
                "cmd": command,
                "sandbox_permissions": "require_escalated",
                "justification": "It is part of the test.",
            });
            ("exec_command", escalated)
        };
        [
            escalate("cat seen.txt"),
            run(PATCH),
            escalate(COMMAND),
            run(DENIED),
        ]
    }),
};

fn set(variables: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let variables = variables.iter();
    variables
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect()
}

/// Writes a file of the agent's configuration.
fn write_home_file(place: &CliFixture, path: &str, text: &str) {
    let path = place.workspace().with_file_name("home").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
