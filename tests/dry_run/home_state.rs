//! Caches and state that programs keep in the home folder: a command finds them, and what it changes there is thrown away.
//!
//! A process has one home, so a test with a home of its own runs in a process of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use agent::Host;
use protocol::settings::Posture;
use protocol::{CallState, CallView, Decision};
use support::{Fixture, shown_effects};

use super::commits::effect_lines;
use super::postures::open_in;

/// Says to the process of a test that its home is made for it.
const MARK: &str = "COUNTERSIGN_TEST_HAS_HOME";

/// The home that was made for this test; `None` in the process that makes it, runs the test again there, and looks at
/// it afterwards.
fn own_home(test: &str, files: &[(&str, &str)]) -> Option<PathBuf> {
    if std::env::var_os(MARK).is_some() {
        return std::env::var_os("HOME").map(PathBuf::from);
    }
    // Not in `/tmp`, of which a sandbox has its own.
    let home = tempfile::tempdir_in("/var/tmp").unwrap();
    for (path, text) in files {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let path = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", &path, "--nocapture"]);
    again.env("PIP_CACHE_DIR", home.path().join("pip-cache"));
    again
        .env_remove("npm_config_cache")
        .env_remove("NPM_CONFIG_CACHE");
    let ran = again.env("HOME", home.path()).env(MARK, "1").output();
    let ran = ran.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    for (path, text) in files {
        let after = std::fs::read_to_string(home.path().join(path));
        assert_eq!(&after.unwrap(), text, "{path}");
    }
    assert_eq!(list_files(home.path()).len(), files.len());
    None
}

fn list_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => list_files(&path),
            false => vec![path],
        })
        .collect()
}

const FILES: [(&str, &str); 7] = [
    (".bashrc", "export A=1\n"),
    (".cache/tool/kept", "kept before\n"),
    (".cargo/bin/tool", "#!/bin/sh\n"),
    (".cargo/config.toml", "[build]\n"),
    (".cargo/credentials.toml", "token = 'aaaaaaaaaaaa'\n"),
    (".cargo/registry/index", "index\n"),
    ("pip-cache/kept", "kept elsewhere\n"),
];

/// A desk whose agent runs a program that does this, in the posture that looks at effects.
async fn open_program(script: &str) -> Fixture {
    let mut desk = open_in(Posture::AskAboutEffects, "sh program", Host::Person).await;
    desk.write_file("program", script);
    desk
}

#[tokio::test]
async fn a_program_finds_its_cache_and_what_it_changes_there_is_thrown_away() {
    let test = "a_program_finds_its_cache_and_what_it_changes_there_is_thrown_away";
    if own_home(test, &FILES).is_none() {
        return;
    }
    let script = "cat ~/.cache/tool/kept; rm ~/.cache/tool/kept; mkdir ~/.cache/new; echo new > ~/.cache/new/file; \
        echo more >> ~/.cargo/registry/index; cat ~/.cache/new/file ~/.cargo/registry/index";
    let mut desk = open_program(script).await;
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("kept before\nnew\nindex\nmore\n"), "{text}");
    let call = desk.only_call().await;
    assert_eq!(effect_lines(&call), [""; 0]);
    assert_eq!(
        shown_effects(&call).notes,
        [
            "In your home folder it wrote 2 files of the cache folder, 1 file of Cargo's cache, thrown away with the sandbox."
        ]
    );
    assert!(call.undo.is_none());
}

/// The card on which a program ends that does this.
async fn ask_about(script: &str) -> CallView {
    let mut desk = open_program(script).await;
    desk.start("Go.").await;
    let shown = desk.wait_for_call().await;
    desk.decide_call(&shown, Decision::reject("No."))
        .await
        .unwrap();
    desk.wait_until_ended().await;
    shown
}

#[tokio::test]
async fn settings_programs_and_secrets_of_the_home_stay_closed() {
    let test = "settings_programs_and_secrets_of_the_home_stay_closed";
    let Some(home) = own_home(test, &FILES) else {
        return;
    };
    for (script, refused) in [
        ("echo x >> ~/.bashrc", "refused write .bashrc"),
        ("echo x > ~/.npmrc", "refused write .npmrc"),
        (
            "echo x > ~/.cargo/bin/tool",
            "refused write .cargo/bin/tool",
        ),
        ("echo x > ~/.cargo/bin/new", "refused write .cargo/bin/new"),
        ("mv ~/.cargo/bin ~/.cargo/b", "refused write .cargo/bin"),
        (
            "rm ~/.cargo/config.toml",
            "refused write .cargo/config.toml",
        ),
        ("mv ~/.cargo ~/.moved", "refused write .cargo"),
        (
            "cat ~/.cargo/credentials.toml",
            "refused secret .cargo/credentials.toml",
        ),
        (
            "ln ~/.cargo/credentials.toml ~/.cargo/name || mv ~/.cargo/credentials.toml ~/.cargo/name",
            "refused secret .cargo/credentials.toml",
        ),
    ] {
        let lines = effect_lines(&ask_about(script).await);
        let (what, path) = refused.rsplit_once(' ').unwrap();
        let line = format!("{what} {}", home.join(path).display());
        assert!(lines.contains(&line), "{script}: {lines:?}");
    }
}

#[tokio::test]
async fn a_place_that_a_variable_names_is_a_cache_as_well() {
    let test = "a_place_that_a_variable_names_is_a_cache_as_well";
    if own_home(test, &FILES).is_none() {
        return;
    }
    let mut desk = open_program("cd ~/pip-cache; echo new > new; cat kept new").await;
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("kept elsewhere\nnew\n"), "{text}");
}

#[tokio::test]
async fn a_folder_that_the_home_does_not_have_is_no_question() {
    let test = "a_folder_that_the_home_does_not_have_is_no_question";
    let Some(home) = own_home(test, &FILES) else {
        return;
    };
    let script = "mkdir ~/.terraform.d || echo none; mkdir $npm_config_cache && echo made > $npm_config_cache/a; \
        cat $npm_config_cache/a; echo $npm_config_cache";
    let mut desk = open_program(script).await;
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("none\nmade\n/tmp/.npm\n"), "{text}");
    let call = desk.only_call().await;
    assert_eq!(effect_lines(&call), [""; 0]);
    let notes = &shown_effects(&call).notes;
    let place = format!("`{}`", home.join(".terraform.d").display());
    assert!(notes.iter().any(|note| note.contains(&place)), "{notes:?}");
}

#[tokio::test]
async fn a_command_may_name_what_it_reads_of_caches_and_nothing_else_there() {
    let test = "a_command_may_name_what_it_reads_of_caches_and_nothing_else_there";
    let Some(home) = own_home(test, &FILES) else {
        return;
    };
    let whole = format!("cat {}/.cache/tool/kept", home.display());
    for (command, expected) in [
        ("ls ~/.cargo/registry", Some("index")),
        ("cat ~/.cache/tool/kept", Some("kept before")),
        ("grep -r kept $HOME/.cache", Some("kept before")),
        ("du -sh ~/.cache/tool", Some(".cache/tool")),
        (&whole, Some("kept before")),
        ("cat ~/.cargo/credentials.toml", None),
        ("cat ~/.cargo/config.toml", None),
        ("cat ~/.bashrc", None),
        ("ls ~/.cargo/bin", None),
        ("cat ~/.cache/../.bashrc", None),
        ("cat ~/.cache/$PLACE", None),
        ("echo x > ~/.cache/tool/new", None),
        ("rm ~/.cache/tool/kept", None),
    ] {
        let mut desk = open_in(Posture::AskAboutEffects, command, Host::Person).await;
        desk.play().await;
        let (state, text) = desk.call_outcomes().await.remove(0);
        match expected {
            Some(said) => assert!(
                state == CallState::Done && text.contains(said),
                "{command}: {text}"
            ),
            None => assert_eq!(state, CallState::Denied, "{command}: {text}"),
        }
    }
}
