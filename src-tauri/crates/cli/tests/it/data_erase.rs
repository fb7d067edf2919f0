//! `data erase`: everything goes that is the app's, and nothing else.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::CliFixture;

fn place_with_data() -> CliFixture {
    let place = CliFixture::new();
    place.write_file("notes.md", "The walrus knows.\n");
    place.run_ok(&["config", "set", "theme", "dark"]);
    let write = r#"{"path":"notes.md","content":"Nobody knows.\n"}"#;
    place.run_ok(&["call", "write", write, "--approve-all"]);
    place
}

#[test]
fn nothing_goes_without_a_yes_and_then_everything_does() {
    let place = place_with_data();
    let backup = place.create_outside_folder("backups") + "/countersign.tar.zst";
    place.run_ok(&["data", "backup", &backup]);
    place.run_ok(&["data", "restore", &backup, "--replace"]);
    let replaced = place.data().with_file_name("data.replaced");
    let stranger = place.data().with_file_name("data.replaced-notes");
    fs::create_dir(&stranger).unwrap();

    for args in [&["data", "erase"][..], &["data", "erase", "--json"]] {
        let ran = place.run(args);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!((ran.err + &ran.out).contains("Nothing was erased."));
    }
    let shown = place.run(&["data", "erase"]).out;
    let data = place.data().canonicalize().unwrap();
    assert!(shown.contains(&data.display().to_string()), "{shown}");
    assert!(data.join("record.db").exists() && replaced.exists());

    let told = place.run_json(&["data", "erase", "--yes"]);
    assert_eq!(told["left"], json!([]));
    assert_eq!(told["keychain"], json!(false));
    assert!(!place.data().exists() && !replaced.exists());
    assert!(stranger.exists() && place.read_file("notes.md").is_some());
    let again = place.run(&["data", "erase", "--yes"]);
    assert!(
        again.code == 4 && again.err.contains("There is no data folder"),
        "{again:?}"
    );
}

#[test]
fn a_folder_that_is_in_use_stays() {
    let place = place_with_data();
    let in_use = fs::File::options()
        .write(true)
        .open(place.data().join("in-use"))
        .unwrap();
    in_use.lock_shared().unwrap();
    let refused = place.run(&["data", "erase", "--yes"]);
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(refused.err.contains("Another Countersign uses"));
    assert!(place.data().join("record.db").exists());
}

#[test]
fn a_folder_in_which_something_else_lies_stays() {
    let place = place_with_data();
    let letters = place.data().join("letters");
    fs::create_dir(&letters).unwrap();
    let refused = place.run(&["data", "erase", "--yes"]);
    assert!(
        refused.code == 4 && refused.err.contains("did not put there: letters."),
        "{refused:?}"
    );
    assert!(letters.exists() && place.data().join("record.db").exists());

    // Whoever named their home folder keeps it.
    let home = place.data().with_file_name("home");
    let named = home.display().to_string();
    place.run_ok(&["sessions", "--data-dir", &named]);
    let above = home.parent().unwrap().display().to_string();
    let workspace = place.workspace().display().to_string();
    for (folder, reason) in [
        (&named, "your home folder lies in it"),
        (&above, "your home folder lies in it"),
        (&workspace, "does not look like a data folder"),
    ] {
        let refused = place.run(&["data", "erase", "--yes", "--data-dir", folder]);
        assert!(
            refused.code == 4 && refused.err.contains(reason),
            "{refused:?}"
        );
    }
    assert!(home.join("record.db").exists() && place.workspace().exists());
}

#[cfg(unix)]
#[test]
fn what_links_lead_to_stays_and_is_named() {
    let place = place_with_data();
    let dotfiles = PathBuf::from(place.create_outside_folder("dotfiles"));
    let settings = place.data().join("settings.toml");
    fs::rename(&settings, dotfiles.join("settings.toml")).unwrap();
    std::os::unix::fs::symlink(dotfiles.join("settings.toml"), &settings).unwrap();
    let history = place.data().join("history");
    fs::rename(&history, dotfiles.join("history")).unwrap();
    std::os::unix::fs::symlink(dotfiles.join("history"), &history).unwrap();

    let ran = place.run(&["data", "erase", "--yes"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for name in ["settings.toml", "history"] {
        let target = dotfiles.join(name);
        assert!(target.exists(), "{name}");
        let said = format!("{} was not removed", target.display());
        assert!(ran.out.contains(&said), "{ran:?}");
    }
    assert!(dotfiles.join("history/entries").is_dir());
    assert!(!place.data().exists());
}

#[cfg(unix)]
#[test]
fn connected_agents_are_disconnected_first() {
    let place = place_with_data();
    place.connect_claude_code();
    let refused = place.run(&["data", "erase", "--yes"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.err.contains("countersign disconnect claude-code"),
        "{refused:?}"
    );
    assert!(place.data().exists());
    // The hooks ask that folder, and not another one.
    let other = place.data().with_file_name("other").display().to_string();
    place.run_ok(&["sessions", "--data-dir", &other]);
    place.run_ok(&["data", "erase", "--yes", "--data-dir", &other]);

    place.run_ok(&["disconnect", "claude-code", "--yes"]);
    place.run_ok(&["data", "erase", "--yes"]);
    assert!(!place.data().exists());
}

/// The usual data folder goes with what the window keeps; and a keychain that cannot be reached is said.
#[cfg(target_os = "linux")]
#[test]
fn the_window_s_folders_go_with_the_usual_data_folder_alone() {
    let place = place_with_data();
    let home = place.data().with_file_name("home");
    let window = [
        ".local/share/app.countersign.desktop",
        ".config/app.countersign.desktop",
        ".cache/app.countersign.desktop",
    ]
    .map(|folder| home.join(folder));
    for folder in &window {
        fs::create_dir_all(folder.join("storage")).unwrap();
        fs::write(folder.join("storage/x"), "x").unwrap();
    }
    let starts = home.join(".config/autostart");
    let (own, other) = (
        starts.join("Countersign.desktop"),
        starts.join("other.desktop"),
    );
    fs::create_dir(&starts).unwrap();
    for entry in [&own, &other] {
        fs::write(entry, "[Desktop Entry]\n").unwrap();
    }
    place.run_ok(&["data", "erase", "--yes"]);
    assert!(window.iter().all(|folder| folder.exists()) && own.exists());

    let usual = home.join(".local/share/countersign");
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        let nowhere = format!("unix:path={}", home.join("no-bus").display());
        command
            .env_remove("COUNTERSIGN_DATA_DIR")
            .env("DBUS_SESSION_BUS_ADDRESS", nowhere);
        command.output().unwrap()
    };
    assert!(run(&["sessions"]).status.success() && usual.exists());
    let output = run(&["data", "erase", "--yes"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the key of `anthropic`"), "{told}");
    assert!(!usual.exists() && !window.iter().any(|folder| folder.exists()));
    assert!(home.join(".local/share").exists() && !own.exists() && other.exists());
}
