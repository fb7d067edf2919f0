//! Faults that a person did not cause: settings that cannot be read, a record of a newer version, a second start.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::Rig;

/// Where SQLite keeps the format of a database within its first page.
const USER_VERSION: std::ops::Range<usize> = 60..64;

#[tokio::test]
async fn broken_settings_are_told_with_their_line_and_everything_asks() {
    let text = "theme = \"dark\"\ndiff = \"sideways\"\n";
    let rig = Rig::start_on(|data| std::fs::write(data.join("settings.toml"), text).unwrap()).await;
    rig.shows("settings.toml, line 2").await;
    rig.screenshot("trouble-settings").await;

    // Even what only reads waits now.
    rig.click("play-demo").await;
    let first = rig.card("Find where a sign gets its power").await;
    rig.allow_by_click(&first).await;
    rig.card("Minus").await;
    let file = rig.data_dir().join("settings.toml");
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        text,
        "the file is left as it is"
    );
    rig.end().await;
}

#[tokio::test]
async fn a_record_of_a_newer_version_is_refused_untouched() {
    let mut rig = Rig::start().await;
    rig.find("play-demo").await;
    let mut newer = Vec::new();
    rig.reopen(|data| newer = make_newer(&record(data))).await;
    rig.wait_for_text("broken", "newer version").await;
    rig.screenshot("trouble-newer").await;
    let file = record(&rig.data_dir());
    rig.end_and_then(|_| assert!(std::fs::read(&file).unwrap() == newer, "it was touched"))
        .await;
}

/// The database in a data folder.
fn record(data: &Path) -> std::path::PathBuf {
    let mut found = std::fs::read_dir(data)
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    found
        .find(|path| {
            path.extension()
                .is_some_and(|ext| ext == "db" || ext == "sqlite")
        })
        .expect("the data folder has a database")
}

/// Gives a database a format that is far ahead; answers its bytes.
fn make_newer(file: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(file).unwrap();
    bytes[USER_VERSION].copy_from_slice(&9_000_u32.to_be_bytes());
    std::fs::write(file, &bytes).unwrap();
    bytes
}

#[tokio::test]
async fn a_window_is_shown_although_its_page_does_not_come() {
    let mut rig = Rig::start().await;
    rig.find("play-demo").await;
    rig.reopen_without_page().await;
    rig.reopen(|_| ()).await;
    rig.find("play-demo").await;
    rig.end().await;
}

#[tokio::test]
async fn a_second_start_shows_the_first_window_and_ends() {
    let rig = Rig::start().await;
    let write = rig.play().await;
    let status = rig.start_again().await;
    assert!(status.success(), "the second start ended with {status}");
    // The first window is the only one, and stands as it stood.
    assert_eq!(rig.window().windows().await.unwrap().len(), 1);
    assert!(rig.waits(&write).await);
    rig.end().await;
}

/// An instance of the app that dies when it is called, before it answers.
struct Dying(mpsc::Sender<()>);

#[zbus::interface(name = "org.SingleInstance.DBus")]
impl Dying {
    async fn execute_callback(&self, _argv: Vec<String>, _folder: String) {
        self.0.send(()).unwrap();
        std::future::pending::<()>().await;
    }
}

impl Dying {
    /// Takes the place of the running instance as soon as it is free, until the first call. Answers what tells whether it was
    /// called.
    fn wait_on(bus_address: &str) -> mpsc::Receiver<()> {
        let deadline = Instant::now() + Duration::from_secs(30);
        let (called, calls) = mpsc::channel();
        let connection = loop {
            let claimed = zbus::blocking::connection::Builder::address(bus_address)
                .unwrap()
                .serve_at(
                    "/app/countersign/desktop/SingleInstance",
                    Self(called.clone()),
                )
                .unwrap()
                .name("app.countersign.desktop.SingleInstance")
                .unwrap()
                .build();
            match claimed {
                Err(zbus::Error::NameTaken) if Instant::now() < deadline => {}
                claimed => break claimed.unwrap(),
            }
        };
        let (died, deaths) = mpsc::channel();
        std::thread::spawn(move || {
            if calls.recv().is_ok() {
                connection.close().unwrap();
                died.send(()).unwrap();
            }
        });
        deaths
    }
}

#[tokio::test]
async fn a_start_takes_over_from_an_instance_that_dies_while_it_is_asked() {
    let mut rig = Rig::start().await;
    rig.find("play-demo").await;
    let bus_address = rig.bus_address().to_owned();
    let mut deaths = None;
    rig.reopen(|_| deaths = Some(Dying::wait_on(&bus_address)))
        .await;
    rig.find("play-demo").await;
    assert_eq!(deaths.unwrap().try_recv(), Ok(()), "nobody was asked");
    rig.end().await;
}
