//! `config`, `providers`, `models`, `keys`, `completions`, `man`, `doctor`: what is set up, and what the system reads.

use std::io::Write;
use std::process::Stdio;

use crate::support::CliFixture;

fn settings(place: &CliFixture) -> String {
    std::fs::read_to_string(place.data().join("settings.toml")).unwrap_or_default()
}

#[test]
fn settings_are_read_and_changed_by_their_names() {
    let place = CliFixture::new();
    let path = place.run_ok(&["config", "path"]);
    assert_eq!(
        path.trim_end(),
        place.data().join("settings.toml").display().to_string()
    );
    assert_eq!(place.run_ok(&["config", "get", "theme"]), "system\n");
    assert!(place.run_ok(&["config", "get"]).contains("defaults hold"));
    for (setting, value, told) in [
        ("theme", "dark", "dark"),
        ("limits.turns", "7", "7"),
        ("model", r#"{ provider = "ollama", model = "m" }"#, "ollama"),
        ("expire_after_min", "15", "15"),
    ] {
        place.run_ok(&["config", "set", setting, value]);
        let got = place.run_ok(&["config", "get", setting]);
        assert!(got.contains(told), "{setting}: {got}");
    }
    assert_eq!(
        place.run_json(&["config", "get", "model.provider"]),
        "ollama"
    );
    let commented = settings(&place).replace("[limits]", "# Mine.\n[limits]");
    std::fs::write(place.data().join("settings.toml"), &commented).unwrap();
    place.run_ok(&["config", "set", "theme", "light"]);
    assert_eq!(settings(&place), commented.replace("dark", "light"));
    place.run_ok(&["config", "unset", "theme"]);
    assert_eq!(place.run_ok(&["config", "get", "theme"]), "system\n");
    assert!(settings(&place).contains("# Mine.\n[limits]"));
}

/// Invalid settings are not written.
#[test]
fn wrong_settings_change_nothing() {
    let place = CliFixture::new();
    place.run_ok(&["config", "set", "theme", "dark"]);
    let before = settings(&place);
    for (args, told) in [
        (&["set", "them", "dark"][..], "unknown field `them`"),
        (&["set", "theme", "pink"], "unknown variant `pink`"),
        (&["set", "limits.turns", "many"], "line "),
        (&["set", "theme.colour", "1"], "not a table"),
        (&["set", "a b", "1"], "not a setting"),
        (&["get", "limits.turn"], "There it has: turns"),
        (&["get", "theme.x"], "no setting `theme.x`"),
        (&["unset", "notify"], "does not set `notify`"),
        (
            &[
                "set",
                "providers",
                r#"[{ id = "x", title = "x", wire = "openai", base_url = "http://127.0.0.1:1/" }, { id = "x", title = "y", wire = "openai", base_url = "http://127.0.0.1:2/" }]"#,
            ],
            "is there twice",
        ),
    ] {
        let ran = place.run(&[&["config"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains(told), "{args:?}: {}", ran.err);
        assert_eq!(settings(&place), before, "{args:?}");
    }
    std::fs::write(place.data().join("settings.toml"), "theme = [").unwrap();
    let ran = place.run(&["config", "set", "theme", "dark"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("settings.toml, line 1"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn settings_are_edited_in_the_persons_editor() {
    let place = CliFixture::new();
    let edit = |editor: &str| {
        let mut command = place.command(&["config", "edit"]);
        command.env("EDITOR", editor).output().unwrap()
    };
    let writes = place.write_outside_file(
        "editor with blanks.sh",
        "#!/bin/sh\necho 'theme = \"dark\"' > \"$1\"\n",
    );
    let editor = format!("sh '{writes}'");
    assert_eq!(edit(&editor).status.code(), Some(0));
    assert_eq!(settings(&place), "theme = \"dark\"\n");
    let wrong = place.write_outside_file("wrong.sh", "echo 'theme = 1' > \"$1\"\n");
    let ran = edit(&format!("sh '{wrong}'"));
    assert_eq!(ran.status.code(), Some(4));
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(
        told.contains("line 1") && told.contains("as they were"),
        "{told}"
    );
    assert_eq!(settings(&place), "theme = \"dark\"\n");
    assert_eq!(edit("false").status.code(), Some(1));
    assert_eq!(edit("no-such-editor").status.code(), Some(1));
}

#[test]
fn providers_say_where_their_keys_come_from() {
    let place = CliFixture::new();
    let told = |args: &[&str]| {
        let mut command = place.command(args);
        command.env("ANTHROPIC_API_KEY", "sk-ant-not-shown");
        let output = command.output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    for args in [&["providers"][..], &["keys", "list"]] {
        let list = told(args);
        let line = list
            .lines()
            .find(|line| line.contains("anthropic"))
            .unwrap();
        assert!(
            line.starts_with('✓') && line.contains("from ANTHROPIC_API_KEY"),
            "{line}"
        );
        let line = list.lines().find(|line| line.contains("openai")).unwrap();
        assert!(
            line.starts_with('✗') && line.contains("OPENAI_API_KEY"),
            "{line}"
        );
        assert!(!list.contains("not-shown"), "{list}");
    }
    let value: serde_json::Value = serde_json::from_str(&told(&["providers", "--json"])).unwrap();
    assert_eq!(value["providers"][0]["id"], "anthropic");
    let ran = place.run(&["models", "nobody"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("anthropic"), "{}", ran.err);
    let ran = place.run(&["models"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("countersign providers"), "{}", ran.err);
}

/// A machine without a keychain says so, and what to do instead; a key is never an argument.
#[test]
fn a_key_without_a_keychain_is_said_plainly() {
    let place = CliFixture::new();
    let set = |provider: &str, key: &str| {
        let mut command = place.command(&["keys", "set", provider]);
        let command = command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(key.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, told) = set("anthropic", "sk-not-shown\n");
    if cfg!(target_os = "linux") {
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("keychain cannot be used here"), "{told}");
        assert!(!told.contains("not-shown"), "{told}");
    }
    for (provider, key, told) in [
        ("nobody", "x", "no provider `nobody`"),
        ("openai", " \n", "no key on standard input"),
        ("openai", "one\ntwo", "This is not a key"),
    ] {
        let (code, said) = set(provider, key);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn shells_and_man_get_what_they_read() {
    let place = CliFixture::new();
    for (shell, marks) in [
        ("bash", "complete -F _countersign"),
        ("zsh", "#compdef countersign"),
        ("fish", "complete -c countersign"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let script = place.run_ok(&["completions", shell]);
        assert!(
            script.contains(marks) && script.contains("dry-run"),
            "{shell}"
        );
    }
    assert_eq!(place.run(&["completions", "csh"]).code, 2);
    place.run_ok(&["man", "man1"]);
    let page = |name: &str| place.read_file(&format!("man1/{name}.1")).unwrap();
    assert!(page("countersign").contains("countersign\\-run(1)"));
    assert!(page("countersign-run").contains("\\-\\-resume"));
    assert!(page("countersign-servers-add").contains("Examples"));
}

#[test]
fn help_shows_examples_and_a_clients_settings() {
    let place = CliFixture::new();
    let help = place.run_ok(&["run", "--help"]);
    assert!(help.contains("Examples:\n  countersign run"), "{help}");
    let help = place.run_ok(&["gateway", "mcp", "--help"]);
    assert!(
        help.contains(r#""args": ["gateway", "mcp", "--workspace""#),
        "{help}"
    );
    let told = place.run_ok(&["doctor"]);
    let settings = place.data().join("settings.toml").display().to_string();
    assert!(told.contains(&settings), "{told}");
    assert!(
        told.contains("countersign config set web_search.providers"),
        "{told}"
    );
}
