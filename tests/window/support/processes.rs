//! The programs around the app, each started in a process group that ends with it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::{LOOK_EVERY, WAIT};

/// Title of the window of [`other_program`].
pub const OTHER_TITLE: &str = "^Empty$";
/// How long a group has to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(3);

/// A program and whatever it starts; dropping it ends all of them.
pub struct Group {
    leader: Child,
}

impl Group {
    fn start(command: &mut Command, package: &str) -> Self {
        let program = command.get_program().to_string_lossy().into_owned();
        let leader = command.process_group(0).spawn().unwrap_or_else(|error| {
            panic!("`{program}` could not be started ({error}); {package} brings it")
        });
        Self { leader }
    }

    /// The first line that the program prints.
    fn first_line(&mut self) -> String {
        let stdout: ChildStdout = self.leader.stdout.take().expect("standard output is piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        assert_ne!(
            line.trim(),
            "",
            "the program ended before it said where it listens"
        );
        line.trim().to_owned()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(group) = Pid::from_raw(self.leader.id().cast_signed()) else {
            return;
        };
        let _ = kill_process_group(group, Signal::TERM);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline && matches!(self.leader.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK_EVERY);
        }
        // Also when the leader is gone: what it started may not be.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.leader.wait();
    }
}

/// A screen that nobody sees, and its name. Xvfb chooses a free number by itself, and does not begin anew when the last
/// program leaves it: one that comes at that moment, as after a restart, would be turned away.
pub fn screen() -> (Group, String) {
    let mut command = Command::new("Xvfb");
    command
        .args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1440x900x24",
            "-nolisten",
            "tcp",
            "-noreset",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut screen = Group::start(&mut command, "the package xvfb");
    let display = format!(":{}", screen.first_line());
    (screen, display)
}

/// A message bus of its own, and its address: the app's single-instance check asks there.
pub fn bus() -> (Group, String) {
    let mut command = Command::new("dbus-daemon");
    command
        .args(["--session", "--nofork", "--print-address=1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut bus = Group::start(&mut command, "the package dbus");
    let address = bus.first_line();
    (bus, address)
}

/// Takes a screenshot of a display as a PNG without a date.
pub fn photograph(display: &str) -> Vec<u8> {
    let taken = Command::new("import")
        .args(["-silent", "-window", "root"])
        .args(["-define", "png:exclude-chunks=date,time", "png:-"])
        .env("DISPLAY", display)
        .output()
        .expect("`import` is there; the package imagemagick brings it");
    assert!(
        taken.status.success(),
        "{display} could not be photographed"
    );
    taken.stdout
}

/// Whether a picture, as the bytes of its file, is of one colour all over: a window whose page was never painted.
pub fn is_blank(picture: &[u8]) -> bool {
    let mut asked = Command::new("identify")
        .args(["-format", "%k", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`identify` is there; the package imagemagick brings it");
    let mut stdin = asked.stdin.take().expect("standard input is piped");
    stdin.write_all(picture).unwrap();
    drop(stdin);
    let colours = asked.wait_with_output().unwrap().stdout;
    let colours: u32 = String::from_utf8_lossy(&colours).trim().parse().unwrap();
    colours == 1
}

#[test]
fn a_picture_of_one_colour_is_blank() {
    // Three points each, in the plainest format there is.
    assert!(is_blank(b"P3 3 1 255  9 9 9  9 9 9  9 9 9\n"));
    assert!(!is_blank(b"P3 3 1 255  9 9 9  9 9 9  9 9 8\n"));
}

/// Starts another program that has a window, called [`OTHER_TITLE`]. It is built beside the app.
pub fn other_program(app: &Path, env: &[(String, String)]) -> Group {
    let folder = app.parent().expect("the app lies in a folder");
    start(&folder.join("examples/empty-window"), &[], env)
}

/// Starts the app with arguments in that environment, without a driver.
fn start(app: &Path, arguments: &[&str], env: &[(String, String)]) -> Group {
    let mut command = Command::new(app);
    command
        .args(arguments)
        .envs(env.iter().map(|(name, value)| (name, value)))
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null());
    Group::start(&mut command, "cargo")
}

/// Runs the app with arguments in that environment until it ends by itself.
pub async fn run_to_end(app: &Path, arguments: &[&str], env: &[(String, String)]) -> ExitStatus {
    let mut group = start(app, arguments, env);
    let deadline = Instant::now() + WAIT;
    loop {
        if let Some(status) = group.leader.try_wait().unwrap() {
            return status;
        }
        assert!(
            Instant::now() < deadline,
            "the app did not end by itself in {WAIT:?}"
        );
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Starts the driver of the web view, and returns it with its address once it listens. It starts the app itself.
pub fn driver(env: &[(String, String)]) -> (Group, String) {
    let port = free_port();
    let mut command = Command::new("WebKitWebDriver");
    command
        .args([format!("--port={port}"), "--host=127.0.0.1".to_owned()])
        .envs(env.iter().map(|(name, value)| (name, value)))
        // Without it the app gives its web view to no driver.
        .env("TAURI_WEBVIEW_AUTOMATION", "true")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut driver = Group::start(&mut command, "the package webkit2gtk-driver");
    let deadline = Instant::now() + WAIT;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let ended = driver.leader.try_wait().unwrap();
        assert_eq!(ended, None, "WebKitWebDriver ended");
        assert!(Instant::now() < deadline, "nothing listens on port {port}");
        std::thread::sleep(LOOK_EVERY);
    }
    (driver, format!("http://127.0.0.1:{port}"))
}

/// Starts the app in that environment, and stops the process of its page before it has one.
pub async fn start_without_page(app: &Path, env: &[(String, String)], data_dir: &Path) -> Group {
    let group = start(app, &[], env);
    let deadline = Instant::now() + WAIT;
    loop {
        let page = working_on(data_dir).into_iter().find(|(_, process)| {
            std::fs::read_link(process.join("exe"))
                .is_ok_and(|exe| exe.ends_with("WebKitWebProcess"))
        });
        if let Some((pid, _)) = page {
            kill_process(pid, Signal::STOP).unwrap();
            return group;
        }
        assert!(Instant::now() < deadline, "there is no process of a page");
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Name of the program that hosts the engine, beside the app.
const ENGINE: &str = "countersign";

/// Kills the app that works on that data folder and its engine, without warning, and waits until they are dead: only then
/// is the name free that lets one instance run. Answers how many processes these were.
pub fn kill_app(app: &Path, data_dir: &Path) -> usize {
    kill_programs(&[app, &app.with_file_name(ENGINE)], data_dir)
}

/// Kills the engine of the app alone. Answers how many processes these were.
pub fn kill_engine(app: &Path, data_dir: &Path) -> usize {
    kill_programs(&[&app.with_file_name(ENGINE)], data_dir)
}

fn kill_programs(programs: &[&Path], data_dir: &Path) -> usize {
    let programs = programs
        .iter()
        .map(|program| program.canonicalize().unwrap());
    let programs: Vec<PathBuf> = programs.collect();
    let mut killed = Vec::new();
    for (pid, process) in working_on(data_dir) {
        if std::fs::read_link(process.join("exe")).is_ok_and(|exe| programs.contains(&exe)) {
            kill_process(pid, Signal::KILL).unwrap();
            killed.push(process);
        }
    }
    let deadline = Instant::now() + WAIT;
    while !killed.iter().all(|process| is_dead(process)) {
        assert!(Instant::now() < deadline, "the app outlives its kill");
        std::thread::sleep(LOOK_EVERY);
    }
    killed.len()
}

/// Every process that was told of that data folder, with its folder in `/proc`.
fn working_on(data_dir: &Path) -> Vec<(Pid, PathBuf)> {
    let mark = format!("COUNTERSIGN_DATA_DIR={}", data_dir.display());
    let is_told = |process: &Path| {
        std::fs::read(process.join("environ")).is_ok_and(|environ| {
            environ
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
        })
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((Pid::from_raw(pid)?, entry.path()))
        })
        .filter(|(_, process)| is_told(process))
        .collect()
}

/// Whether a process, by its folder in `/proc`, is gone, or only its name is left.
fn is_dead(process: &Path) -> bool {
    std::fs::read_to_string(process.join("stat"))
        .map_or(true, |stat| stat.contains(") Z ") || stat.contains(") X "))
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}
