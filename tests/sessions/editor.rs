//! Files of calls, opened in the person's editor.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use protocol::settings::EditorSettings;
use protocol::{Op, Settings};
use support::{Fixture, say_text};

/// How long a program may take to be started.
const STARTED_WITHIN: Duration = Duration::from_secs(30);

fn open(desk: &Fixture, path: &str) -> Op {
    Op::OpenInEditor {
        workspace: desk.workspace_root().display().to_string(),
        path: path.to_owned(),
        line: Some(7),
    }
}

/// The editor of the settings gets the file and the line, each where its argument says.
#[tokio::test]
async fn a_file_of_the_workspace_is_opened_in_the_editor_at_its_line() {
    let mut desk = Fixture::new([say_text("Hello.")]).await;
    desk.write_file("src/a b.rs", "fn a() {}\n");
    let told = desk.data_dir().join("told");
    let editor = desk.data_dir().join("editor");
    // The file is written elsewhere first: what is read is whole.
    let script = format!(
        "#!/bin/sh\nprintf '%s|' \"$@\" > '{0}.new' && mv '{0}.new' '{0}'\n",
        told.display()
    );
    std::fs::write(&editor, script).unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    desk.set_settings(Settings {
        editor: EditorSettings {
            program: editor.display().to_string(),
            args: vec!["+{line}".to_owned(), "{file}".to_owned()],
        },
        ..Settings::default()
    })
    .await;

    desk.submit(open(&desk, "src/a b.rs")).await;

    let deadline = Instant::now() + STARTED_WITHIN;
    while !told.exists() {
        assert!(Instant::now() < deadline, "the editor was not started");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let file = desk.workspace_root().join("src/a b.rs");
    assert_eq!(
        std::fs::read_to_string(&told).unwrap(),
        format!("+7|{}|", file.display())
    );
}

/// What is not there, and what is not of the workspace, is not opened.
#[tokio::test]
async fn only_what_is_there_in_the_workspace_is_opened() {
    let desk = Fixture::new([say_text("Hello.")]).await;
    for path in ["gone.rs", "../a.rs", "/etc/hostname"] {
        let refused = desk.engine.submit(open(&desk, path)).await.unwrap_err();
        assert!(refused.message.contains(path), "{refused:?}");
    }
}
