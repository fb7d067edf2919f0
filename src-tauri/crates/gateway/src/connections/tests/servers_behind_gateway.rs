//! Servers of agents, put behind the gateway and put back.

use serde_json::{Value, json};

use super::servers::{ServersPlan, plan_servers_behind_gateway, plan_servers_restored};
use super::*;

const CLAUDE: &str = ".claude.json";
const PROGRAM: &str = "/opt/my apps/countersign";

impl Home {
    fn plan_servers(&self, id: &str) -> ServersPlan {
        plan_servers_behind_gateway(agent(id), &self.place()).unwrap()
    }

    /// Puts the servers behind the gateway, and returns what is told.
    fn put_behind(&self, id: &str) -> Vec<String> {
        let plan = self.plan_servers(id);
        plan.change.unwrap().apply().unwrap();
        let notes = plan.notes.into_iter();
        notes
            .map(|note| format!("{}: {}", note.server, note.text))
            .collect()
    }

    /// Puts them back, and returns what is told.
    fn put_back(&self, id: &str) -> Vec<String> {
        let plan = plan_servers_restored(agent(id), &self.place()).unwrap();
        plan.change.unwrap().apply().unwrap();
        let notes = plan.notes.into_iter();
        notes
            .map(|note| format!("{}: {}", note.server, note.text))
            .collect()
    }

    fn json(&self, below: &str) -> Value {
        serde_json::from_str(&read_file(&self.path(below)).unwrap()).unwrap()
    }

    fn gateway(&self, name: &str, rest: &[&str]) -> Vec<String> {
        let data = self.path("data").display().to_string();
        let first = ["--data-dir", &data, "gateway", "mcp", "--name", name];
        let all = first.iter().chain(rest);
        all.map(|word| (*word).to_owned()).collect()
    }
}

#[test]
fn each_entry_becomes_a_gateway_in_front_of_its_server() {
    let home = Home::new();
    let text = json!({
        "numStartups": 3,
        "mcpServers": {
            "files": { "command": "npx", "args": ["-y", "server-files", "."], "env": { "TOKEN": "s3cret", "B": "2" } },
            "search": { "type": "http", "url": "https://search.example/mcp", "headers": { "Authorization": "Bearer s3cret" }, "timeout": 9 },
            "old": { "type": "sse", "url": "https://old.example/sse" },
            "bare": { "type": "stdio", "command": "bare" },
        },
        "projects": { "/home/me/work": { "mcpServers": { "local": { "command": "local" } }, "history": [] } },
    });
    home.write_file(
        &home.path(CLAUDE),
        &serde_json::to_string_pretty(&text).unwrap(),
    );
    let notes = home.put_behind("claude-code");
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].starts_with("old: ") && notes[0].contains("SSE"),
        "{notes:?}"
    );
    let files = home.gateway(
        "files",
        &[
            "--pass-env",
            "TOKEN",
            "--pass-env",
            "B",
            "--",
            "npx",
            "-y",
            "server-files",
            ".",
        ],
    );
    let search = home.gateway(
        "search",
        &[
            "--url",
            "https://search.example/mcp",
            "--header-env",
            "Authorization=COUNTERSIGN_HEADER_1",
        ],
    );
    assert_eq!(
        home.json(CLAUDE),
        json!({
            "numStartups": 3,
            "mcpServers": {
                "files": { "command": PROGRAM, "args": files, "env": { "TOKEN": "s3cret", "B": "2" } },
                "search": { "type": "stdio", "command": PROGRAM, "args": search, "timeout": 9,
                    "env": { "COUNTERSIGN_HEADER_1": "Bearer s3cret" } },
                "old": { "type": "sse", "url": "https://old.example/sse" },
                "bare": { "type": "stdio", "command": PROGRAM, "args": home.gateway("bare", &["--", "bare"]) },
            },
            "projects": { "/home/me/work": {
                "mcpServers": { "local": { "command": PROGRAM, "args": home.gateway("local", &["--", "local"]) } },
                "history": [] } },
        })
    );
    // Again there is nothing to do.
    assert!(home.plan_servers("claude-code").change.is_none());
}

#[test]
fn agents_write_their_servers_in_their_own_way() {
    let home = Home::new();
    let opencode = ".config/opencode/opencode.json";
    let text = r#"{ "mcp": { "files": { "type": "local", "command": ["npx", "files"], "environment": { "T": "s" }, "enabled": true },
        "far": { "type": "remote", "url": "https://far.example/mcp" } } }"#;
    home.write_file(&home.path(opencode), text);
    assert_eq!(home.put_behind("opencode"), Vec::<String>::new());
    let command = |rest: &[&str], name: &str| {
        let mut words = vec![PROGRAM.to_owned()];
        words.extend(home.gateway(name, rest));
        words
    };
    assert_eq!(
        home.json(opencode)["mcp"],
        json!({
            "files": { "type": "local", "command": command(&["--pass-env", "T", "--", "npx", "files"], "files"),
                "enabled": true, "environment": { "T": "s" } },
            "far": { "type": "local", "command": command(&["--url", "https://far.example/mcp"], "far") },
        })
    );
    assert_eq!(home.put_back("opencode"), Vec::<String>::new());
    assert_eq!(read_file(&home.path(opencode)).as_deref(), Some(text));

    let gemini = ".gemini/settings.json";
    let text = r#"{ "mcpServers": { "a": { "httpUrl": "https://a.example/mcp" }, "b": { "url": "https://b.example/sse" },
        "c": { "url": "https://c.example/mcp", "type": "http", "trust": true } } }"#;
    home.write_file(&home.path(gemini), text);
    let notes = home.put_behind("gemini-cli");
    assert!(notes.len() == 1 && notes[0].starts_with("b: "), "{notes:?}");
    assert_eq!(
        home.json(gemini)["mcpServers"],
        json!({
            "a": { "command": PROGRAM, "args": home.gateway("a", &["--url", "https://a.example/mcp"]) },
            "b": { "url": "https://b.example/sse" },
            "c": { "command": PROGRAM, "args": home.gateway("c", &["--url", "https://c.example/mcp"]), "trust": true },
        })
    );
}

#[test]
fn servers_of_codex_are_tables() {
    let home = Home::new();
    let codex = ".codex/config.toml";
    let text = "model = \"x\"\n\n[mcp_servers.files] # mine\ncommand = \"npx\"\nargs = [\"files\"]\nenv_vars = [\"SHELLED\"]\n\n\
                [mcp_servers.files.env]\nTOKEN = \"s3cret\"\n\n[mcp_servers]\nfar = { url = \"https://far.example/mcp\", \
                bearer_token_env_var = \"FAR\" }\n\n[tui]\ntheme = \"dark\"\n";
    home.write_file(&home.path(codex), text);
    assert_eq!(home.put_behind("codex"), Vec::<String>::new());
    let written = read_file(&home.path(codex)).unwrap();
    let read: Value = toml_edit::de::from_str(&written).unwrap();
    let files = [
        "--pass-env",
        "TOKEN",
        "--pass-env",
        "SHELLED",
        "--",
        "npx",
        "files",
    ];
    let far = [
        "--url",
        "https://far.example/mcp",
        "--header",
        "Authorization=Bearer ${FAR}",
    ];
    assert_eq!(
        read,
        json!({
            "model": "x",
            "mcp_servers": {
                "files": { "command": PROGRAM, "args": home.gateway("files", &files), "env_vars": ["SHELLED"],
                    "env": { "TOKEN": "s3cret" } },
                "far": { "command": PROGRAM, "args": home.gateway("far", &far), "env_vars": ["FAR"] },
            },
            "tui": { "theme": "dark" },
        })
    );
    assert_eq!(home.put_back("codex"), Vec::<String>::new());
    assert_eq!(read_file(&home.path(codex)).as_deref(), Some(text));
}

/// Whatever the layout: comments, tabs, line ends, one line, a mark.
#[test]
fn what_was_there_comes_back_to_the_byte() {
    for text in [
        "{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}",
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": { // mine\r\n\t\t\t\"command\": \"x\",\r\n\t\t},\r\n\t},\r\n}\r\n",
        "\u{feff}{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"env\": { \"K\": \"\\u0041\" } }, /* b */ \"b\": {\"command\":\"y\"} } }\n\n",
    ] {
        let home = Home::new();
        home.write_file(&home.path(CLAUDE), text);
        home.put_behind("claude-code");
        let copy = read_file(&home.path("data/connections/claude-code.servers.before"));
        assert_eq!(copy.as_deref(), Some(text));
        assert_ne!(read_file(&home.path(CLAUDE)).as_deref(), Some(text));
        assert_eq!(home.put_back("claude-code"), Vec::<String>::new());
        assert_eq!(read_file(&home.path(CLAUDE)).as_deref(), Some(text));
        let again = plan_servers_restored(agent("claude-code"), &home.place()).unwrap();
        assert!(again.change.is_none());
    }
}

#[test]
fn an_entry_that_somebody_changed_stays_and_is_told_of() {
    let home = Home::new();
    let text = "{ \"mcpServers\": { \"a\": { \"command\": \"x\" }, \"b\": { \"command\": \"y\" }, \"c\": { \"command\": \"z\" } } }";
    home.write_file(&home.path(CLAUDE), text);
    home.put_behind("claude-code");
    let mut now = home.json(CLAUDE);
    now["mcpServers"]["b"]["timeout"] = 5.into();
    now["mcpServers"].as_object_mut().unwrap().shift_remove("c");
    home.write_file(&home.path(CLAUDE), &now.to_string());
    let notes = home.put_back("claude-code");
    assert_eq!(
        notes,
        [
            "b: It was changed since it was put behind the gateway, and stays as it is.",
            "c: It is not there any more.",
        ]
    );
    let after = home.json(CLAUDE);
    assert_eq!(after["mcpServers"]["a"], json!({ "command": "x" }));
    assert_eq!(after["mcpServers"]["b"]["timeout"], 5);
}

#[test]
fn no_value_of_a_variable_or_a_header_is_shown() {
    let home = Home::new();
    let text = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n      \"env\": { \"NAME\": \"plain value\" }\n    },\n    \
                \"b\": { \"type\": \"http\", \"url\": \"https://b.example\", \"headers\": { \"X-Api-Key\": \"another value\" } }\n  }\n}\n";
    home.write_file(&home.path(CLAUDE), text);
    let change = home.plan_servers("claude-code").change.unwrap();
    let diff = change.diff().unwrap();
    assert!(!diff.contains("value"), "{diff}");
    for shown in [
        "+        \"--pass-env\",",
        "\"NAME\": \"***\"",
        "-    \"b\": {",
        "\"X-Api-Key\": \"***\"",
    ] {
        assert!(diff.contains(shown), "{shown}: {diff}");
    }
}

#[test]
fn an_agent_without_servers_or_with_a_broken_file_is_told() {
    let home = Home::new();
    assert!(home.plan_servers("cursor").change.is_none());
    home.write_file(&home.path(".cursor/mcp.json"), "{ \"mcpServers\": ");
    let refused = plan_servers_behind_gateway(agent("cursor"), &home.place()).unwrap_err();
    assert!(refused.message.contains(".cursor/mcp.json"), "{refused}");
}
