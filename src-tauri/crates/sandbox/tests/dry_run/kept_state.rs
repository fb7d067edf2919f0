//! A program over a layer that keeps its own state from one start to the next, while the folders of it stay as they are.

use std::fs;
use std::path::PathBuf;

use runtime::{CompanionCommand, InheritedEnv, KeptState, NetworkClient};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::fixture::{Stage, told};

/// Runs a script as a companion that keeps these folders, and returns what it printed and which paths it changed.
fn run_companion(stage: &Stage, script: &str, folders: &[PathBuf]) -> (String, Vec<String>) {
    let command = CompanionCommand {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        folder: stage.root(),
        inherited: InheritedEnv::default(),
        env: Vec::new(),
    };
    let state = KeptState {
        name: "agent".to_owned(),
        folders: folders.to_vec(),
    };
    let net = NetworkClient::offline();
    stage.block_on(async {
        let environment = &stage.environment;
        let started = environment
            .start_layered_companion(&command, &stage.workspace, &net, &state)
            .await
            .unwrap();
        let mut companion = started.companion;
        companion.input.write_all(b"word\n").await.unwrap();
        let mut printed = String::new();
        companion.output.read_to_string(&mut printed).await.unwrap();
        let ended = companion.lifetime.end().await;
        let run = started.changes.read(&ended).await.unwrap();
        (printed, told(&run.effects.changes))
    })
}

#[test]
fn state_is_kept_and_its_folder_stays_as_it_is() {
    let stage = Stage::new();
    if !stage.works() {
        return;
    }
    let state = stage.home.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::write(state.join("login"), "token\n").unwrap();
    let missing = stage.home.path().join("missing");
    let folders = [state.clone(), missing.clone()];
    let script = format!(
        "read word; cat '{0}/login'; echo $word > '{0}/session'; echo other > '{0}/login'; echo here > '{1}/made'; echo new > made.txt",
        state.display(),
        missing.display()
    );
    let first = run_companion(&stage, &script, &folders);
    assert_eq!(
        first,
        ("token\n".to_owned(), vec!["Added made.txt".to_owned()])
    );
    assert!(!stage.root().join("made.txt").exists());
    assert_eq!(fs::read_to_string(state.join("login")).unwrap(), "token\n");
    assert!(!state.join("session").exists());
    assert_eq!(fs::read_dir(&missing).unwrap().count(), 0);

    let script = format!(
        "cat '{0}/session' '{0}/login' '{1}/made'",
        state.display(),
        missing.display()
    );
    let second = run_companion(&stage, &script, &folders);
    assert_eq!(second, ("word\nother\nhere\n".to_owned(), Vec::new()));
}

#[test]
fn state_in_the_workspace_is_refused() {
    let stage = Stage::new();
    if !stage.works() {
        return;
    }
    let command = CompanionCommand {
        program: "true".to_owned(),
        args: Vec::new(),
        folder: stage.root(),
        inherited: InheritedEnv::default(),
        env: Vec::new(),
    };
    let state = KeptState {
        name: "agent".to_owned(),
        folders: vec![stage.root().join("state")],
    };
    let net = NetworkClient::offline();
    let started = stage.block_on(stage.environment.start_layered_companion(
        &command,
        &stage.workspace,
        &net,
        &state,
    ));
    let why = started.unwrap_err().to_string();
    assert!(why.contains("lie in one another"), "{why}");
}
