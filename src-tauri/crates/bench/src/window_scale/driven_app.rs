//! The app as it is shipped, in a window of its own, driven through its web view.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use thirtyfour::prelude::*;

use crate::BenchResult;
use crate::virtual_screen::VirtualScreen;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Interval between two looks at what is waited for.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// What the measurements call in the page.
const PAGE_FUNCTIONS: &str = include_str!("page_functions.js");

/// The app, the driver of its web view, and its home.
pub struct DrivenApp {
    window: WebDriver,
    driver: Child,
    /// Process of the app.
    pub pid: u32,
    temporary_folder: PathBuf,
}

impl DrivenApp {
    /// Starts a program on a screen with a home folder, and waits until its page is loaded.
    pub async fn start(screen: &VirtualScreen, program: &Path, home: &Path) -> BenchResult<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new("WebKitWebDriver");
        command.args([format!("--port={port}"), "--host=127.0.0.1".to_owned()]);
        for name in [
            "HOME",
            "XDG_DATA_HOME",
            "XDG_CONFIG_HOME",
            "XDG_CACHE_HOME",
            "XDG_RUNTIME_DIR",
        ] {
            command.env(name, home);
        }
        let temporary_folder = home.join("tmp");
        std::fs::create_dir_all(&temporary_folder)?;
        command
            .env("COUNTERSIGN_DATA_DIR", home.join("data"))
            .env("TMPDIR", &temporary_folder)
            // Without it the app gives its web view to no driver.
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let driver = screen
            .attach(&mut command)
            .spawn()
            .map_err(|error| format!("WebKitWebDriver (the package webkit2gtk-driver): {error}"))?;
        wait_for_port(port)?;
        let mut capabilities = Capabilities::new();
        let options = serde_json::json!({ "binary": program, "args": [] });
        capabilities.set("webkitgtk:browserOptions", options)?;
        let window = WebDriver::builder(&format!("http://127.0.0.1:{port}"), capabilities)
            .request_timeout(PATIENCE)
            .await?;
        window.set_script_timeout(PATIENCE).await?;
        let pid = find_child(driver.id(), program)?;
        let app = Self {
            window,
            driver,
            pid,
            temporary_folder,
        };
        app.wait_until("return document.readyState === 'complete'", vec![])
            .await?;
        app.window.execute(PAGE_FUNCTIONS, vec![]).await?;
        Ok(app)
    }

    /// The folder for temporary files of the app and all that it starts, and of nothing else.
    pub fn temporary_folder(&self) -> &Path {
        &self.temporary_folder
    }

    /// Runs a script in the page and returns its result.
    pub async fn run_script(&self, script: &str, given: Vec<Value>) -> BenchResult<Value> {
        Ok(self.window.execute(script, given).await?.json().clone())
    }

    /// Calls one of the page functions, and waits for what it promises.
    pub async fn call(&self, function: &str, given: Vec<Value>) -> BenchResult<Value> {
        let script = format!(
            "const given = [...arguments]; const done = given.pop(); \
             window.measured.{function}(...given).then(done, (error) => done({{ failed: String(error) }}))"
        );
        let answer = self.window.execute_async(&script, given).await?;
        let answer = answer.json().clone();
        match answer.get("failed") {
            Some(why) => Err(format!("{function}: {why}").into()),
            None => Ok(answer),
        }
    }

    /// The same, for a function that promises milliseconds.
    pub async fn call_for_time(&self, function: &str, given: Vec<Value>) -> BenchResult<Duration> {
        let answer = self.call(function, given).await?;
        let millis = answer.as_f64().ok_or("a function promised a time")?;
        Ok(Duration::from_secs_f64(millis / 1e3))
    }

    /// Waits until a script says true.
    pub async fn wait_until(&self, script: &str, given: Vec<Value>) -> BenchResult<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = self.window.execute(script, given.clone()).await;
            if answer.is_ok_and(|answer| answer.json() == true) {
                return Ok(());
            }
            if Instant::now() > deadline {
                let text = self
                    .run_script("return document.body.innerText.slice(0, 2000)", vec![])
                    .await?;
                return Err(format!("waited in vain for `{script}`; the page: {text}").into());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Clicks the element with that `data-testid`, once it is there.
    pub async fn click(&self, testid: &str) -> BenchResult<()> {
        let script = "const found = document.querySelector(`[data-testid=\"${arguments[0]}\"]`); \
             found?.click(); return found !== null";
        self.wait_until(script, vec![testid.into()]).await
    }

    /// Presses keys, wherever the focus is.
    pub async fn press(&self, keys: &str) -> BenchResult<()> {
        self.window.action_chain().send_keys(keys).perform().await?;
        Ok(())
    }

    /// Closes the app, and the driver with it.
    pub async fn close(mut self) -> BenchResult<()> {
        self.window.clone().quit().await?;
        self.driver.kill()?;
        self.driver.wait()?;
        Ok(())
    }
}

fn wait_for_port(port: u16) -> BenchResult<()> {
    let deadline = Instant::now() + PATIENCE;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > deadline {
            return Err("WebKitWebDriver does not listen".into());
        }
        sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// Returns the process of a program that another process started.
fn find_child(parent: u32, program: &Path) -> BenchResult<u32> {
    crate::process_tree::list_processes(parent)?
        .into_iter()
        .find(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program))
        .ok_or_else(|| format!("{} does not run", program.display()).into())
}
