//! Environment variables of the app that reach the programs that it starts. Those that Cargo sets for a test stand here for
//! the person's.

use std::os::unix::fs::PermissionsExt;

use protocol::settings::{ProviderSettings, VariablesSettings, WatchdogSettings, WireFormat};
use protocol::{CallState, Settings};
use serde_json::json;
use support::{Fixture, HEADLESS_APPROVED, call_bash, say_text};

/// A command that says one of the variables.
const SAYS: &str = "echo \"is ${CARGO_PKG_NAME-kept} back\"";

/// These names, as settings have them.
fn variables(withheld: &[&str], passed: &[&str]) -> VariablesSettings {
    let names = json!({ "withheld": withheld, "passed": passed });
    serde_json::from_value(names).unwrap()
}

/// A provider whose key stands under a name that does not look like one.
fn own_provider() -> ProviderSettings {
    ProviderSettings {
        id: "own".to_owned(),
        title: "Own".to_owned(),
        wire: WireFormat::Openai,
        base_url: "http://127.0.0.1:9/v1/".to_owned(),
        key_env: Some("CARGO_PKG_NAME".to_owned()),
        input_usd_per_mtok: None,
        output_usd_per_mtok: None,
    }
}

/// Settings hold for what is started from then on, whatever starts it: a command as it stands, one in the sandbox, a
/// watchdog.
#[tokio::test]
async fn a_person_withholds_and_passes_variables() {
    let chosen = |variables, providers| Settings {
        variables,
        providers,
        ..Settings::default()
    };
    let none = || variables(&[], &[]);
    let rows = [
        (chosen(none(), vec![]), "is tests back"),
        (
            chosen(variables(&["cargo_pkg_name"], &[]), vec![]),
            "is kept back",
        ),
        (chosen(none(), vec![own_provider()]), "is kept back"),
        (
            chosen(variables(&[], &["CARGO_PKG_NAME"]), vec![own_provider()]),
            "is tests back",
        ),
    ];
    for has_sandbox in [false, true] {
        let turns = vec![[call_bash(SAYS), say_text("Done.")]; rows.len()].concat();
        let sandbox = has_sandbox.then_some(env!("CARGO_BIN_EXE_sandbox_program"));
        let mut desk = Fixture::with_sandbox(turns, HEADLESS_APPROVED, sandbox).await;
        let heard = desk.data_dir().canonicalize().unwrap().join("heard");
        let program = heard.with_file_name("watchdog");
        let script = format!(
            "#!/bin/sh\n{SAYS} > {}\necho '{{\"verdict\":\"allow\"}}'\n",
            heard.display()
        );
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        for (number, (settings, told)) in rows.iter().enumerate() {
            desk.set_settings(Settings {
                watchdogs: vec![WatchdogSettings {
                    name: "listens".to_owned(),
                    program: program.display().to_string(),
                    timeout_ms: 60_000,
                }],
                ..settings.clone()
            })
            .await;
            match number {
                0 => desk.start("Go.").await,
                _ => desk.send_message("Again.").await,
            }
            desk.wait_until_ended().await;
            let (state, text) = desk.call_outcomes().await.remove(number);
            assert_eq!(state, CallState::Done, "{text}");
            assert!(text.contains(told), "{number}, {has_sandbox}: {text}");
            let heard = std::fs::read_to_string(&heard).unwrap();
            assert_eq!(heard.trim_end(), *told, "{number}, {has_sandbox}");
        }
    }
}

/// A name that can be none is an error with the line, and the settings are strict until it is corrected.
#[test]
fn what_is_no_name_of_a_variable_is_refused() {
    for wrong in ["", "A=b", "A B", "A\n"] {
        let text = format!("[variables]\nwithheld = [{wrong:?}]\n");
        let error = toml::from_str::<Settings>(&text).unwrap_err().to_string();
        assert!(
            error.contains("is not a variable name"),
            "{wrong:?}: {error}"
        );
    }
    let read: Settings = toml::from_str("[variables]\npassed = [\"GITHUB_TOKEN\"]\n").unwrap();
    assert_eq!(read.variables, variables(&[], &["GITHUB_TOKEN"]));
}
