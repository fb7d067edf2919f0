//! The rig: the real app on a screen of its own, driven as a person would, found by `data-testid`.
//!
//! Every [`Rig`] has its own X display, message bus, data folder and driver, so rigs do not see each other,
//! nor an app that a person has open. It stands on `Xvfb`, `dbus-daemon` and `WebKitWebDriver`; `cargo xtask test`
//! installs them.

#![allow(
    dead_code,
    reason = "the rig is a vocabulary: a word may be waiting for its first story"
)]

mod input;
pub mod notifications;
mod page;
mod processes;
pub mod screen_reader;
pub mod site;
pub mod story;
pub mod tour;

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use tempfile::TempDir;
use thirtyfour::prelude::*;

use processes::Group;

/// How long anything that a test waits for may take on a busy machine.
const WAIT: Duration = Duration::from_secs(30);

/// How often a test looks again while it waits.
const LOOK_EVERY: Duration = Duration::from_millis(25);

/// The program under test.
const APP: &str = env!("CARGO_BIN_EXE_countersign-desktop");

/// The app in a window, with everything around it.
pub struct Rig {
    window: Option<WebDriver>,
    driver: Option<Group>,
    /// The display and the bus: they outlive a restart of the app.
    stage: Vec<Group>,
    env: Vec<(String, String)>,
    folders: TempDir,
}

impl Rig {
    /// Starts the app on an empty data folder and waits until its page is there.
    pub async fn start() -> Self {
        Self::start_on(|_| ()).await
    }

    /// The same, on a data folder that `prepare` put something into.
    pub async fn start_on(prepare: impl FnOnce(&Path)) -> Self {
        let mut rig = Self::prepare();
        // Nobody listens, and to look for somebody takes time.
        rig.env.push(("NO_AT_BRIDGE".into(), "1".into()));
        prepare(&rig.data_dir());
        rig.open().await;
        rig
    }

    /// Starts the app so that a screen reader is told of its page.
    pub async fn start_for_screen_reader() -> Self {
        let mut rig = Self::prepare();
        rig.open().await;
        rig
    }

    /// A display, a bus and folders, with nothing in them.
    fn prepare() -> Self {
        let folders = tempfile::Builder::new()
            .prefix("countersign-window-")
            .tempdir()
            .unwrap();
        let (screen, display) = processes::screen();
        let (bus, bus_address) = processes::bus();
        let mut env: Vec<(String, String)> = vec![
            ("DISPLAY".into(), display),
            ("DBUS_SESSION_BUS_ADDRESS".into(), bus_address),
            ("GDK_BACKEND".into(), "x11".into()),
        ];
        for (name, folder) in [
            ("COUNTERSIGN_DATA_DIR", "data"),
            ("HOME", "home"),
            ("CLAUDE_CONFIG_DIR", "home/.claude"),
            ("XDG_DATA_HOME", "home/data"),
            ("XDG_CONFIG_HOME", "home/config"),
            ("XDG_CACHE_HOME", "home/cache"),
            ("XDG_RUNTIME_DIR", "home/run"),
        ] {
            let path = folders.path().join(folder);
            std::fs::create_dir_all(&path).unwrap();
            env.push((name.into(), path.to_str().unwrap().into()));
        }
        // Programs that a story puts there are found before those of the machine.
        let programs = folders.path().join("programs");
        std::fs::create_dir(&programs).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        env.push(("PATH".into(), format!("{}:{path}", programs.display())));
        Self {
            window: None,
            driver: None,
            stage: vec![screen, bus],
            env,
            folders,
        }
    }

    /// Kills the app as a power cut would (`kill -9`) and starts it again on the same data.
    pub async fn restart(&mut self) {
        let killed = processes::kill_app(Path::new(APP), &self.data_dir());
        assert_ne!(killed, 0, "no running app was found to kill");
        self.forget();
        self.open().await;
    }

    /// Kills the engine alone, and waits until the page was loaded anew.
    pub async fn kill_engine(&self) {
        // An engine that breaks off right after its start is not started again by itself.
        tokio::time::sleep(Duration::from_secs(6)).await;
        self.ask("window.isOfBefore = true; return true", vec![])
            .await;
        let killed = processes::kill_engine(Path::new(APP), &self.data_dir());
        assert_ne!(killed, 0, "no running engine was found to kill");
        let is_new = self.comes(WAIT, async |rig| {
            let script =
                "return window.isOfBefore === undefined && document.readyState === 'complete'";
            rig.ask(script, vec![]).await == true
        });
        assert!(is_new.await, "the page is not loaded anew");
    }

    /// Closes the app, lets `meanwhile` do something to its data folder, and starts it again.
    pub async fn reopen(&mut self, meanwhile: impl FnOnce(&Path)) {
        self.close().await;
        meanwhile(&self.data_dir());
        self.open().await;
    }

    /// Starts the app once more beside the one that runs, as a second click on its icon does; answers how it ended.
    pub async fn start_again(&self) -> ExitStatus {
        processes::run_to_end(Path::new(APP), &[], &self.env).await
    }

    /// Opens a link to the app as the system does: by a second start with it, which ends.
    pub async fn open_link(&self, link: &str) -> ExitStatus {
        processes::run_to_end(Path::new(APP), &[link], &self.env).await
    }

    /// Closes the app, starts it again so that its page never comes, and waits until it shows a window: an empty one.
    pub async fn reopen_without_page(&mut self) {
        self.close().await;
        let nothing = processes::photograph(self.display());
        let app = processes::start_without_page(Path::new(APP), &self.env, &self.data_dir()).await;
        let is_shown = self.comes(WAIT, async |rig| {
            let seen = processes::photograph(rig.display());
            seen != nothing && processes::is_blank(&seen)
        });
        assert!(is_shown.await, "no empty window is shown");
        drop(app);
    }

    /// Closes the app and everything around it. Dropping the rig does the same, less politely.
    pub async fn end(mut self) {
        self.check_transcript().await;
        self.close().await;
    }

    /// The same, and lets `afterwards` look at the data folder that the app left.
    pub async fn end_and_then(mut self, afterwards: impl FnOnce(&Path)) {
        self.close().await;
        afterwards(&self.data_dir());
    }

    /// Where the app keeps its database and settings.
    pub fn data_dir(&self) -> PathBuf {
        self.folders.path().join("data")
    }

    /// The home folder of whoever the app runs for.
    pub fn home_dir(&self) -> PathBuf {
        self.folders.path().join("home")
    }

    /// Puts a program of the shell before those of the machine.
    pub fn program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let file = self.folders.path().join("programs").join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// The WebDriver session, for what the rig has no word for.
    pub fn window(&self) -> &WebDriver {
        self.window
            .as_ref()
            .expect("the window is open between start and end")
    }

    /// The address of the message bus that the app and its like meet on.
    pub fn bus_address(&self) -> &str {
        self.variable("DBUS_SESSION_BUS_ADDRESS")
    }

    fn display(&self) -> &str {
        self.variable("DISPLAY")
    }

    fn variable(&self, name: &str) -> &str {
        let found = self.env.iter().find(|(given, _)| given == name);
        found.map_or("", |(_, value)| value)
    }

    async fn open(&mut self) {
        let (driver, url) = processes::driver(&self.env);
        self.driver = Some(driver);
        let mut capabilities = Capabilities::new();
        let options = serde_json::json!({ "binary": APP, "args": [] });
        capabilities
            .set("webkitgtk:browserOptions", options)
            .unwrap();
        let window = WebDriver::builder(&url, capabilities)
            .request_timeout(WAIT)
            .await
            .expect("the app opens its window");
        self.window = Some(window);
        self.until("the page is loaded", async |rig| {
            let state = rig
                .window()
                .execute("return document.readyState", vec![])
                .await;
            state.is_ok_and(|state| state.json() == "complete")
        })
        .await;
        self.focus_window().await;
    }

    /// Closes the app as its driver does it, and the driver with it.
    async fn close(&mut self) {
        if let Some(window) = self.window.take() {
            window.quit().await.expect("the app closes its window");
        }
        self.driver = None;
    }

    /// Ends the driver without a word: with the app gone nobody would answer it, and to ask takes two minutes.
    fn forget(&mut self) {
        if let Some(window) = self.window.take() {
            let _ = window.leak();
        }
        self.driver = None;
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.forget();
        // The screen went up first and comes down last.
        while self.stage.pop().is_some() {}
    }
}
