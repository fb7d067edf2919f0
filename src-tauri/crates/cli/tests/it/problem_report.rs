//! `doctor --bundle`: the report says what state everything is in, and nothing that is the person's.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::CliFixture;

/// Stands in every text that a person can write, choose, or have: settings, names, values, paths, and prompts.
const CANARY: &str = "canary";

const SETTINGS: &str = r#"
theme = "dark"
undo_keep_days = 17
posture = "ask_about_effects"
model = { provider = "canary-provider", model = "canary-model" }

[folder_postures]
"/canary/folder" = "unattended"

[variables]
withheld = ["CANARY_WITHHELD"]
passed = ["CANARY_PASSED"]

[sandbox]
closed = ["/canary/closed"]

[skills]
folders = ["/canary/skills"]

[editor]
program = "/canary/editor"
args = ["canary-arg"]

[[providers]]
id = "canary-provider"
title = "Canary Provider"
wire = "openai"
base_url = "https://canary.example/v1/"
key_env = "CANARY_KEY"

[web_search]
providers = [{ id = "canary-search", wire = "searxng", base_url = "https://canary.example", key_env = "CANARY_SEARCH" }]
operations = [{ operation = "canary__search", query = "canary", results = "/canary", title = "/canary", url = "/canary", snippet = "/canary", arguments = { canary = "canary" } }]

[[language_servers]]
id = "canary-language"
enabled = true
command = "canary-language-server"
args = ["--canary"]
files = { canary = "canary" }

[[watchdogs]]
name = "canary-watchdog"
program = "/canary/watchdog"

[[hooks]]
name = "canary-hook"
program = "/canary/hook"
on = ["after"]

[tools.canary_tool]
enabled = false

[server_tools]
read_only = ["canary__*"]
"#;

const SERVERS: &str = r#"
[servers.canary-program]
command = "canary-program"
args = ["--token", "canary-token"]
env = { CANARY_VARIABLE = "canary-value" }
folder = "/canary/servers"
enabled = true

[servers.canary-remote]
url = "https://canary.example/mcp"
headers = { X-Canary = "keychain:canary-secret" }
"#;

const APIS: &str = r#"
[apis.canary-service]
document = "https://canary.example/openapi.json"
base_url = "https://canary.example/v1"
headers = { X-Canary = "canary" }
tags = ["canary"]

[apis.canary-service.auth.canary]
type = "basic"
username = "canary"
password = "canary"
"#;

const RULES: &str = r#"
[[rule]]
permission = "bash"
pattern = "canary *"
action = "ask"
reason = "canary"
"#;

const SCRIPT: &str = r#"{ "turns": [
    { "text": "canary thoughts", "calls": [{ "name": "read", "arguments": { "path": "canary.md" } }] },
    { "text": "canary answer" }
] }"#;

/// A person with a home, a workspace, and a data folder that are full of canaries.
struct CanaryPlace {
    place: CliFixture,
    home: PathBuf,
    workspace: PathBuf,
}

impl CanaryPlace {
    fn new() -> Self {
        let place = CliFixture::new();
        let home = PathBuf::from(place.create_outside_folder("canary home"));
        let workspace = home.join("canary plans");
        fs::create_dir(&workspace).unwrap();
        fs::write(workspace.join("canary.md"), "canary text\n").unwrap();
        let canaries = Self {
            place,
            home,
            workspace,
        };
        let script = canaries.place.write_outside_file("canary.json", SCRIPT);
        canaries.run(&["run", "--script", &script, "Look for the canary."]);
        let data = canaries.place.data();
        for (name, text) in [
            ("settings.toml", SETTINGS),
            ("servers.toml", SERVERS),
            ("apis.toml", APIS),
            ("rules.toml", RULES),
        ] {
            fs::write(data.join(name), text).unwrap();
        }
        canaries
    }

    fn run(&self, args: &[&str]) -> (i32, String) {
        let mut command = self.place.command(args);
        command
            .current_dir(&self.workspace)
            .env("HOME", &self.home)
            .env("USER", "canaryuser")
            .env("CANARY_VARIABLE", CANARY);
        let output = command.output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        (
            output.status.code().unwrap_or(-1),
            String::from_utf8(told).unwrap(),
        )
    }

    /// Makes the report; none of its words is the person's.
    fn report(&self, name: &str) -> Value {
        let file = self.home.join(name);
        let (code, told) = self.run(&["doctor", "--bundle", file.to_str().unwrap()]);
        assert_eq!(code, 0, "{told}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.to_lowercase().contains(CANARY), "{text}");
        serde_json::from_str(&text).unwrap()
    }
}

#[test]
fn nothing_of_the_person_is_in_the_report() {
    let canaries = CanaryPlace::new();
    let report = canaries.report("report.json");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["machine"]["architecture"], std::env::consts::ARCH);
    assert_eq!(report["sandbox"]["state"], "tried");

    let settings = &report["settings"];
    assert_eq!(settings["state"], "readable");
    let in_force = &settings["in_force"];
    assert_eq!(in_force["theme"], "dark");
    assert_eq!(in_force["undo_keep_days"], 17);
    assert_eq!(
        in_force["model"],
        json!({ "provider": "provider 1", "model": "set" })
    );
    assert_eq!(in_force["folder_postures"], json!(["unattended"]));
    assert_eq!(in_force["hooks"][0]["name"], "hook 1");

    let record = &report["record"];
    assert_eq!(record["state"], "whole");
    assert_eq!(record["events"]["session_opened"], 1);
    assert_eq!(
        record["calls"],
        json!([{ "state": "done", "count": 1 }]),
        "{record}"
    );

    let servers = &report["servers"];
    assert_eq!(servers["state"], "readable");
    let first = &servers["list"][0];
    assert_eq!(
        (&first["name"], &first["transport"], &first["enabled"]),
        (&json!("server 1"), &json!("stdio"), &json!(true))
    );
    assert_eq!(servers["list"][1]["transport"], "http");
    assert_eq!(report["services"]["list"][0]["name"], "service 1");
    assert!(report["data_folder"]["bytes"].as_u64() > Some(0));
}

#[test]
fn a_damaged_folder_is_reported_and_no_file_is_overwritten() {
    let canaries = CanaryPlace::new();
    let data = canaries.place.data();
    let damaged = b"canary, and no database, though it is longer than the header of one";
    fs::write(data.join("record.db"), damaged).unwrap();
    for (name, text) in [
        ("settings.toml", "theme = \"canary\"\n"),
        ("servers.toml", "canary = \"canary\"\n"),
        ("apis.toml", "[apis.canary]\ncanary = 1\n"),
    ] {
        fs::write(data.join(name), text).unwrap();
    }
    let report = canaries.report("report.json");
    assert_eq!(report["record"]["state"], "damaged");
    assert_eq!(report["settings"]["state"], "unreadable");
    assert_eq!(report["servers"]["state"], "unreadable");
    assert_eq!(report["services"]["state"], "unreadable");
    assert_eq!(fs::read(data.join("record.db")).unwrap(), damaged);

    let file = canaries.home.join("report.json");
    let before = fs::read(&file).unwrap();
    let (code, told) = canaries.run(&["doctor", "--bundle", file.to_str().unwrap()]);
    assert!(code == 2 && told.contains("is there already"), "{told}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_machine_where_nothing_was_recorded_has_a_report() {
    let place = CliFixture::new();
    let told = place.run_json(&["doctor", "--bundle", "report.json"]);
    let text = place.read_file("report.json").unwrap();
    assert!(told["file"].as_str().unwrap().ends_with("report.json"));
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["record"]["state"], "none");
    assert_eq!(report["settings"]["state"], "default");
    assert_eq!(report["servers"]["list"], json!([]));
}
