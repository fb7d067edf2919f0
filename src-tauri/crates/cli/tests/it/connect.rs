//! `connect` and `disconnect`, with agents that are empty programs in a folder of PATH.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{CliFixture, CliRun, read_folder};
use crate::terminal::pty::Terminal;

/// A home with agents in it.
struct Agents {
    place: CliFixture,
    programs: PathBuf,
}

impl Agents {
    fn new() -> Self {
        let place = CliFixture::new();
        let programs = PathBuf::from(place.create_outside_folder("programs"));
        for agent in ["claude", "codex", "gemini", "opencode"] {
            write_program(&programs.join(agent), "");
        }
        Self { place, programs }
    }

    fn home(&self, below: &str) -> PathBuf {
        self.programs.parent().unwrap().join("home").join(below)
    }

    fn run(&self, args: &[&str]) -> CliRun {
        let mut command = self.place.command(args);
        let path = format!("{}:/usr/bin:/bin", self.programs.display());
        let output = command.env("PATH", path).output().unwrap();
        CliRun {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn write_config(&self, below: &str, text: &str) -> PathBuf {
        let file = self.home(below);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    fn states(&self) -> Vec<(String, String)> {
        let listed = self.run(&["connect", "--json"]);
        assert_eq!(listed.code, 0, "{}", listed.out);
        let views: Vec<Value> = serde_json::from_str(&listed.out).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        views
            .iter()
            .map(|view| (text(&view["id"]), text(&view["state"]["type"])))
            .collect()
    }

    fn state(&self, id: &str) -> String {
        self.states()
            .into_iter()
            .find(|(name, _)| name == id)
            .unwrap()
            .1
    }
}

fn write_program(file: &Path, script: &str) {
    std::fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn agents_are_listed_with_what_they_do_unseen() {
    let agents = Agents::new();
    agents.write_config(".codex/config.toml", "model = \n");
    let listed = agents.run(&["connect"]);
    assert_eq!((listed.code, listed.err.as_str()), (0, ""));
    for line in [
        "Claude Code (claude-code)  not connected",
        &format!("  program: {}", agents.programs.join("claude").display()),
        "  can be put in front of it: hooks, ACP, MCP, permission tool",
        "  - Hooks that you have not trusted yet are skipped in silence, also by `codex exec`. Start `codex` once",
        "it is not TOML",
        "Not found on this machine: Cursor.",
    ] {
        assert!(listed.out.contains(line), "{line} in {}", listed.out);
    }
    assert_eq!(agents.state("codex"), "unreadable");
    let unknown = agents.run(&["connect", "nobody"]);
    assert_eq!(unknown.code, 2);
}

#[test]
fn a_change_is_shown_and_made_only_on_request() {
    let agents = Agents::new();
    let text = "{\n  // mine\n  \"model\": \"opus\",\n}";
    let file = agents.write_config(".claude/settings.json", text);
    let before = read_folder(&agents.home(""));
    let shown = agents.run(&["connect", "claude-code"]);
    assert_eq!(shown.code, 1, "{}", shown.err);
    assert!(
        shown.out.contains("\n+  \"hooks\": {\n") && shown.out.contains("--yes"),
        "{}",
        shown.out
    );
    let told = agents.run(&["connect", "claude-code", "--json"]);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["applied"], json!(false));
    assert_eq!(
        read_folder(&agents.home("")),
        before,
        "nothing else was touched either"
    );
    assert!(!agents.place.data().exists());

    let done = agents.run(&["connect", "claude-code", "--yes"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let connected = std::fs::read_to_string(&file).unwrap();
    assert!(
        connected.contains(env!("CARGO_BIN_EXE_countersign")),
        "{connected}"
    );
    let copy = agents.place.data().join("connections/claude-code.before");
    assert!(
        done.out.contains(&copy.display().to_string()),
        "{}",
        done.out
    );
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), text);
    assert_eq!(agents.state("claude-code"), "connected");
    let again = agents.run(&["connect", "claude-code", "--yes"]);
    assert_eq!(
        (again.code, again.out.as_str()),
        (0, "Claude Code is connected.\n")
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), connected);

    assert_eq!(agents.run(&["disconnect", "claude-code"]).code, 1);
    assert_eq!(agents.run(&["disconnect", "claude-code", "--yes"]).code, 0);
    assert_eq!(read_folder(&agents.home("")), before);
    let again = agents.run(&["disconnect", "claude-code", "--yes"]);
    assert_eq!(
        (again.code, again.out.as_str()),
        (0, "Claude Code is not connected.\n")
    );
    assert_eq!(read_folder(&agents.place.data()), []);
}

/// On a terminal the person is asked, and no answer but yes makes the change; for a program's reader nobody is.
#[test]
fn the_person_is_asked_on_a_terminal() {
    let agents = Agents::new();
    let file = agents.write_config(".claude/settings.json", "{}");
    let path = agents.programs.display().to_string();
    let env = [("PATH", path.as_str())];
    for (keys, code, is_changed) in [("\r", 1, false), ("n\r", 1, false), ("y\r", 0, true)] {
        let mut terminal = Terminal::start(&agents.place, &["connect", "claude-code"], &env);
        let shown = terminal.until("Make this change? [y/N]");
        assert!(shown.contains("+  \"hooks\": {"), "{shown}");
        terminal.press(keys);
        let (exit, rest) = terminal.end();
        assert_eq!(exit, code, "{keys:?}: {rest}");
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text != "{}", is_changed, "{keys:?}");
    }
    let silent = ["disconnect", "claude-code", "--json"];
    let (code, told) = Terminal::start(&agents.place, &silent, &env).end();
    assert_eq!(code, 1, "{told}");
    assert!(!told.contains("[y/N]"), "{told}");
}

#[test]
fn what_connecting_made_is_removed_with_its_folders() {
    let agents = Agents::new();
    for (id, file) in [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/config.toml"),
        ("gemini-cli", ".gemini/settings.json"),
        ("opencode", ".config/opencode/plugins/countersign.js"),
    ] {
        assert_eq!(agents.run(&["connect", id, "--yes"]).code, 0, "{id}");
        assert_eq!(agents.state(id), "connected");
        let mode = std::fs::metadata(agents.home(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{id}");
        assert_eq!(agents.run(&["disconnect", id, "--yes"]).code, 0, "{id}");
        assert_eq!(
            std::fs::read_dir(agents.home("")).unwrap().count(),
            0,
            "{id}"
        );
    }
}

#[test]
fn an_agent_that_undoes_it_is_told_of() {
    let agents = Agents::new();
    let file = agents.write_config(".gemini/settings.json", "{}");
    agents.run(&["connect", "gemini-cli", "--yes"]);
    std::fs::write(&file, "{}").unwrap();
    assert_eq!(agents.state("gemini-cli"), "removed");
    let listed = agents.run(&["connect"]).out;
    assert!(
        listed.contains("was connected, and its hooks are gone"),
        "{listed}"
    );
    assert_eq!(agents.run(&["connect", "gemini-cli", "--yes"]).code, 0);
    assert_eq!(agents.state("gemini-cli"), "connected");
}

#[test]
fn files_that_may_not_be_written_are_left_alone() {
    let agents = Agents::new();
    let file = agents.write_config(".claude/settings.json", "{}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o400)).unwrap();
    let refused = agents.run(&["connect", "claude-code", "--yes"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains(&file.display().to_string())
            && refused.err.contains("Nothing was changed."),
        "{}",
        refused.err
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"{}");
    assert_eq!(agents.state("claude-code"), "not_connected");

    std::fs::create_dir_all(agents.home(".codex/config.toml")).unwrap();
    let refused = agents.run(&["connect", "codex", "--yes"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.err.contains("is a folder") && refused.err.contains("Move it away"),
        "{}",
        refused.err
    );
}

#[test]
fn a_link_stays_a_link() {
    let agents = Agents::new();
    let real = agents.write_config("dotfiles/claude.json", "{}");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = agents.home(".claude/settings.json");
    std::fs::create_dir(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    assert_eq!(agents.run(&["connect", "claude-code", "--yes"]).code, 0);
    assert_eq!(std::fs::read_link(&link).unwrap(), real);
    assert!(
        std::fs::read_to_string(&real)
            .unwrap()
            .contains("onFailure")
    );
    assert_eq!(
        std::fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(agents.run(&["disconnect", "claude-code", "--yes"]).code, 0);
    assert_eq!(std::fs::read_link(&link).unwrap(), real);
    assert_eq!(std::fs::read(&real).unwrap(), b"{}");
}

/// A program in the place of Countersign, which keeps what it is given and answers what the test says.
#[test]
fn the_hook_is_run_as_it_is_configured() {
    let agents = Agents::new();
    let hook = agents.programs.join("other/countersign");
    std::fs::create_dir(hook.parent().unwrap()).unwrap();
    let claude = |decision: &str| {
        json!({ "hookSpecificOutput": { "permissionDecision": decision } }).to_string()
    };
    for (id, file, answer, code) in [
        (
            "claude-code",
            ".claude/settings.json",
            format!("echo '{}'", claude("deny")),
            0,
        ),
        ("claude-code", ".claude/settings.json", String::new(), 0),
        (
            "claude-code",
            ".claude/settings.json",
            "echo hello".to_owned(),
            1,
        ),
        (
            "claude-code",
            ".claude/settings.json",
            "exit 1".to_owned(),
            1,
        ),
        ("codex", ".codex/config.toml", "echo '{}'".to_owned(), 0),
        (
            "codex",
            ".codex/config.toml",
            format!("echo '{}'", claude("allow")),
            1,
        ),
        (
            "gemini-cli",
            ".gemini/settings.json",
            "echo '{\"decision\":\"allow\"}'".to_owned(),
            0,
        ),
        (
            "gemini-cli",
            ".gemini/settings.json",
            "echo '{}'".to_owned(),
            1,
        ),
        (
            "opencode",
            ".config/opencode/plugins/countersign.js",
            "echo '{\"decision\":\"deny\",\"reason\":\"no\"}'".to_owned(),
            0,
        ),
    ] {
        assert_eq!(
            agents.run(&["connect", id, "--check"]).code,
            1,
            "it is not connected"
        );
        assert_eq!(agents.run(&["connect", id, "--yes"]).code, 0);
        let config = agents.home(file);
        let text = std::fs::read_to_string(&config).unwrap();
        let own = env!("CARGO_BIN_EXE_countersign");
        std::fs::write(&config, text.replace(own, &hook.display().to_string())).unwrap();
        assert_eq!(agents.state(id), "other_program", "{id}");
        write_program(
            &hook,
            &format!("cat > \"$0.event\"; echo \"$@\" > \"$0.args\"; {answer}"),
        );
        let checked = agents.run(&["connect", id, "--check"]);
        assert_eq!(
            checked.code, code,
            "{id} {answer}: {} {}",
            checked.out, checked.err
        );
        let kept =
            |ending: &str| std::fs::read_to_string(format!("{}.{ending}", hook.display())).unwrap();
        let args = kept("args");
        assert!(args.starts_with("--data-dir /"), "{args}");
        assert!(args.ends_with(&format!(" hook {id}\n")), "{args}");
        let event: Value = serde_json::from_str(&kept("event")).unwrap();
        let folder = std::fs::canonicalize(agents.place.workspace()).unwrap();
        assert_eq!(event["cwd"], json!(folder), "{event}");
        assert!(!event.to_string().contains("FOLDER"), "{event}");
        assert_eq!(agents.run(&["disconnect", id, "--yes"]).code, 0);
    }
    // A program that is not there any more.
    agents.run(&["connect", "claude-code", "--yes"]);
    let config = agents.home(".claude/settings.json");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(
        &config,
        text.replace(env!("CARGO_BIN_EXE_countersign"), "/nowhere/countersign"),
    )
    .unwrap();
    let gone = agents.run(&["connect", "claude-code", "--check"]);
    assert_eq!(gone.code, 1);
    assert!(
        gone.err.contains("Countersign gave no answer"),
        "{}",
        gone.err
    );
}

/// The servers of an agent are put behind the gateway, shown without a secret, and put back.
#[test]
fn servers_of_an_agent_are_put_behind_the_gateway() {
    let agents = Agents::new();
    let text = "{ \"mcpServers\": { \"files\": { \"command\": \"npx\", \"env\": { \"TOKEN\": \"hidden value\" } } } }\n";
    let file = agents.write_config(".claude.json", text);
    let shown = agents.run(&["connect", "claude-code", "--servers"]);
    assert_eq!(shown.code, 1, "{}", shown.err);
    assert!(
        shown.out.contains("gateway") && !shown.out.contains("hidden value"),
        "{}",
        shown.out
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let done = agents.run(&["connect", "claude-code", "--servers", "--yes"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(
        done.out.contains("Behind the gateway: files."),
        "{}",
        done.out
    );
    assert_ne!(std::fs::read_to_string(&file).unwrap(), text);
    assert_eq!(
        agents.state("claude-code"),
        "not_connected",
        "its hooks are another matter"
    );
    let back = agents.run(&["disconnect", "claude-code", "--yes"]);
    assert_eq!(back.code, 0, "{}", back.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert_eq!(read_folder(&agents.place.data()), []);
}
