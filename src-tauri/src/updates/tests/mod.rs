//! The updater against a server on loopback, which offers files that are signed with keys of the test.

#![allow(
    clippy::disallowed_methods,
    reason = "tests set up real files, and a server"
)]

mod fixture;

use std::time::Duration;

use axum::http::StatusCode;
use minisign::KeyPair;
use protocol::engine_process::OngoingWork;
use protocol::update::UpdateState;
use serde_json::json;
use tauri::Manager as _;
use tokio::net::TcpListener;

use super::*;
use fixture::{
    Fixture, NEWER, NEWER_BYTES, PRESENT, PRESENT_BYTES, Served, Server, at_rest, build_app, newer,
    open_page,
};

#[tokio::test]
async fn a_newer_version_is_offered_with_what_changes_in_it() {
    let desk = Fixture::start().await;
    desk.serve_newer();
    assert_eq!(desk.state(), UpdateState::Unknown);
    desk.check().await.unwrap();
    assert_eq!(desk.state(), UpdateState::Available { release: newer() });
    assert_eq!(
        *lock(&desk.server.asked),
        ["release"],
        "nothing is downloaded"
    );
}

#[tokio::test]
async fn a_version_that_is_not_newer_is_not_offered() {
    let desk = Fixture::start().await;
    for version in [PRESENT, "0.0.9", "0.1.0-rc.1"] {
        desk.serve_version(version, &desk.key, version);
        desk.check().await.unwrap();
        assert_eq!(desk.state(), UpdateState::Newest, "{version}");
    }
    let nothing = desk.updates.download().await.unwrap_err();
    assert_eq!(nothing.message, "No newer version is known.");
}

#[tokio::test]
async fn what_is_downloaded_waits_until_it_is_installed() {
    let desk = Fixture::start().await;
    desk.serve_newer();
    desk.check().await.unwrap();
    let mut page = open_page(&desk.updates);
    desk.updates.download().await.unwrap();
    let staged = UpdateState::Staged { release: newer() };
    assert_eq!(desk.state(), staged);
    assert_eq!(desk.app_file(), PRESENT_BYTES);
    let mut told = Vec::new();
    while let Ok(view) = page.try_recv() {
        told.push(view.state);
    }
    let downloading = |received_bytes, total_bytes| UpdateState::Downloading {
        release: newer(),
        received_bytes,
        total_bytes,
    };
    let bytes = NEWER_BYTES.len() as u64;
    assert_eq!(
        told,
        [
            UpdateState::Available { release: newer() },
            downloading(0, None),
            downloading(bytes, Some(bytes)),
            staged.clone(),
        ]
    );
    // The same release stays downloaded.
    desk.check().await.unwrap();
    assert_eq!(desk.state(), staged);
}

#[tokio::test]
async fn nothing_is_installed_while_a_call_waits_or_a_session_works() {
    let desk = Fixture::start().await;
    desk.serve_newer();
    desk.check().await.unwrap();
    desk.updates.download().await.unwrap();
    for (waiting_calls, active_sessions, why) in [
        (1, 1, "A call waits for you, so nothing is installed now."),
        (3, 1, "3 calls wait for you, so nothing is installed now."),
        (0, 1, "A session is at work, so nothing is installed now."),
    ] {
        let work = OngoingWork {
            active_sessions,
            waiting_calls,
        };
        assert_eq!(AtRest::confirm(&work).unwrap_err().message, why);
    }
    assert_eq!(desk.state(), UpdateState::Staged { release: newer() });

    // It is over.
    desk.updates.install(&at_rest(), AfterInstall::End).unwrap();
    assert_eq!(desk.app_file(), NEWER_BYTES);
    let twice = desk
        .updates
        .install(&at_rest(), AfterInstall::End)
        .unwrap_err();
    assert_eq!(twice.message, "No newer version is downloaded.");
}

#[tokio::test]
async fn what_cannot_be_installed_is_kept_and_said() {
    let desk = Fixture::start().await;
    desk.serve_newer();
    desk.check().await.unwrap();
    desk.updates.download().await.unwrap();
    let elsewhere = desk.folder.path().join("moved");
    std::fs::rename(desk.app_path(), &elsewhere).unwrap();
    let fault = desk
        .updates
        .install(&at_rest(), AfterInstall::End)
        .unwrap_err();
    assert_eq!(
        fault.message,
        "The file of the app is not where it was started from."
    );
    assert_eq!(desk.state(), UpdateState::Staged { release: newer() });
    std::fs::rename(elsewhere, desk.app_path()).unwrap();
    desk.updates.install(&at_rest(), AfterInstall::End).unwrap();
    assert_eq!(desk.app_file(), NEWER_BYTES);
}

#[tokio::test]
async fn a_file_that_another_key_signed_is_refused() {
    let desk = Fixture::start().await;
    let another = KeyPair::generate_unencrypted_keypair().unwrap();
    desk.serve_version(NEWER, &another, NEWER);
    let why = "The download is not signed with the key of this app, so it is not installed.";
    assert_eq!(desk.refused_download().await, why);
    // Neither is one that was changed after it was signed.
    desk.serve_newer();
    *lock(&desk.server.file) = Served::Bytes(b"another newer version".to_vec());
    assert_eq!(desk.refused_download().await, why);
}

/// Who controls the server cannot bring an old version back by a new number.
#[tokio::test]
async fn an_older_version_under_a_newer_number_is_refused() {
    let desk = Fixture::start().await;
    desk.serve_version(NEWER, &desk.key, "0.0.9");
    assert_eq!(
        desk.refused_download().await,
        "The download is signed as version 0.0.9 and offered as 0.2.0, so it is not installed."
    );
    desk.serve_signed(NEWER, &desk.key, "timestamp:0\tfile:app.AppImage");
    assert_eq!(
        desk.refused_download().await,
        "The signature of the download names no version, so it is not installed."
    );
}

#[tokio::test]
async fn a_server_without_a_release_for_this_system_is_told_in_words() {
    let desk = Fixture::start().await;
    let why = async |served| {
        *lock(&desk.server.release) = served;
        let fault = desk.check().await.unwrap_err();
        assert_eq!(desk.updates.view().fault, Some(fault.clone()));
        fault.message
    };
    let missing = Served::Status(StatusCode::NOT_FOUND);
    assert_eq!(
        why(missing).await,
        "The server with the releases tells of none."
    );
    let page = Served::Bytes(b"<html>Sign in</html>".to_vec());
    assert_eq!(
        why(page).await,
        "The server with the releases answers what is no release."
    );
    let other = json!({ "version": NEWER, "platforms": {} }).to_string();
    assert_eq!(
        why(Served::Bytes(other.into_bytes())).await,
        "The newest release has nothing for this system."
    );
    // The next success says nothing of it.
    desk.serve_newer();
    desk.check().await.unwrap();
    assert_eq!(desk.updates.view().fault, None);
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_told_in_words() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let app = build_app(json!({ "endpoints": [format!("http://{address}/")], "pubkey": "a key" }));
    let copy = InstalledCopy::in_appimage("/home/me/a.AppImage".into(), "/mount".into());
    let updates = Updates::new(app.handle(), copy, UpdateLimits::default());
    let fault = updates.check(app.handle()).await.unwrap_err();
    assert_eq!(
        fault.message,
        "The server with the releases cannot be reached."
    );
}

#[tokio::test]
async fn a_server_that_stops_answering_is_given_up() {
    let desk = Fixture::start_with(UpdateLimits {
        patience: Duration::from_millis(300),
        ..UpdateLimits::default()
    })
    .await;
    *lock(&desk.server.release) = Served::Beginning(b"{");
    let fault = desk.check().await.unwrap_err();
    assert_eq!(
        fault.message,
        "The server with the releases did not answer in time."
    );
    desk.serve_newer();
    *lock(&desk.server.file) = Served::Beginning(b"the ");
    assert_eq!(desk.refused_download().await, "The download stands still.");
}

#[tokio::test]
async fn a_file_without_an_end_is_not_downloaded_to_it() {
    let desk = Fixture::start_with(UpdateLimits {
        download_bytes_max: 8,
        ..UpdateLimits::default()
    })
    .await;
    desk.serve_newer();
    *lock(&desk.server.file) = Served::Beginning(b"more than eight bytes");
    assert_eq!(
        desk.refused_download().await,
        "The download is larger than 0 MiB, which no version of the app is."
    );
}

#[tokio::test]
async fn a_missing_file_is_told_in_words() {
    let desk = Fixture::start().await;
    desk.serve_newer();
    *lock(&desk.server.file) = Served::Status(StatusCode::NOT_FOUND);
    assert_eq!(
        desk.refused_download().await,
        "The server does not have the file of the newer version."
    );
}

#[tokio::test]
async fn one_step_is_taken_at_a_time() {
    let desk = Fixture::start().await;
    let step = desk.updates.begin(Activity::Checking).unwrap();
    let fault = desk.check().await.unwrap_err();
    assert_eq!(
        fault.message,
        "A step to a newer version is being taken already."
    );
    drop(step);
    desk.serve_newer();
    desk.check().await.unwrap();
}

#[tokio::test]
async fn a_build_without_a_key_asks_nobody() {
    let (server, address) = Server::start().await;
    for config in [
        json!({ "endpoints": [format!("{address}/latest.json")], "pubkey": "" }),
        json!({ "endpoints": [], "pubkey": "a key" }),
    ] {
        let app = build_app(config);
        let copy = InstalledCopy::in_appimage("/home/me/a.AppImage".into(), "/mount".into());
        let updates = Updates::new(app.handle(), copy, UpdateLimits::default());
        assert_eq!(updates.view().way, UpdateWay::NoKey);
        let fault = updates.check(app.handle()).await.unwrap_err();
        assert!(fault.message.contains("knows no key"), "{fault}");
    }
    assert!(lock(&server.asked).is_empty());
}

/// The settings decide whether anything is asked, and what is done with the answer.
#[tokio::test]
async fn the_app_does_by_itself_what_the_settings_say() {
    let Fixture {
        app,
        updates,
        server,
        folder,
        ..
    } = {
        let desk = Fixture::start().await;
        desk.serve_newer();
        desk
    };
    app.manage(updates);
    let updates = app.state::<Updates>();
    let mut page = open_page(&updates);
    let follower = tokio::spawn(follow_mode(app.handle().clone()));
    let mut wait_for = async |state: UpdateState| {
        while page.recv().await.unwrap().state != state {}
    };
    wait_for(UpdateState::Unknown).await;
    updates.set_mode(UpdateMode::Notify);
    wait_for(UpdateState::Available { release: newer() }).await;
    // None of it was asked while it was off.
    assert_eq!(*lock(&server.asked), ["release"]);
    assert!(!updates.installs_at_exit());
    updates.set_mode(UpdateMode::Automatic);
    wait_for(UpdateState::Staged { release: newer() }).await;
    assert_eq!(*lock(&server.asked), ["release", "release", "file"]);
    assert!(updates.installs_at_exit());
    let file = folder.path().join("Countersign.AppImage");
    assert_eq!(std::fs::read(file).unwrap(), PRESENT_BYTES);
    // Whoever changes their mind gets nothing.
    updates.set_mode(UpdateMode::Off);
    assert!(!updates.installs_at_exit());
    follower.abort();
}
