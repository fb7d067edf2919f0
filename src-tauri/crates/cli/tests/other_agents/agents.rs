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
    /// Writes its configuration, with the address of the model.
    pub configure: fn(&CliFixture, &str),
    /// Returns its variables, with the address of the model.
    pub variables: fn(&str) -> Vec<(&'static str, String)>,
    /// Returns a read, a write, a command, and a command that is denied.
    pub turns: fn(&Path) -> [ToolTurn; 4],
}

const COMMAND: &str = "echo ran >> runs.txt; echo printed | tr a-z A-Z";
const DENIED: &str = "rm -f kept.txt";

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
};

pub const OPENCODE: Agent = Agent {
    id: "opencode",
    program: "opencode",
    words: &["run", PROMPT],
    write_tool: "write",
    record: ["read done", "write done", "bash done", "bash denied"],
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
    configure: |place, model| {
        let config = format!(
            "model = \"gpt-5\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"Fake\"\n\
             base_url = \"{model}/v1\"\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\nrequires_openai_auth = false\n"
        );
        write_home_file(place, ".codex/config.toml", &config);
    },
    variables: |_| set(&[("FAKE_KEY", "none")]),
    turns: |_| {
        // It takes this command for a patch, and runs it as its own tool.
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: made.txt\n+two\n*** End Patch\nEOF";
        [
            ("exec_command", json!({ "cmd": "cat seen.txt" })),
            ("exec_command", json!({ "cmd": patch })),
            ("exec_command", json!({ "cmd": COMMAND })),
            ("exec_command", json!({ "cmd": DENIED })),
        ]
    },
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
