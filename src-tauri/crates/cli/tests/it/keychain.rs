//! Servers at an address on a machine with a keychain, and on one without.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::{CliFixture, CliRun};

#[path = "../../../mcp/tests/it/authorization_server.rs"]
#[allow(dead_code, reason = "of the authority these tests need a part")]
mod authority;

use authority::Authority;

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A message bus of its own, with a keychain that is unlocked.
struct Keychain {
    address: String,
    _keyring: Running,
    _bus: Running,
}

impl Keychain {
    fn open(folder: &Path) -> Self {
        let mut bus = Command::new("dbus-daemon");
        bus.args(["--session", "--nofork", "--print-address=1"]);
        let mut bus = started(bus.stdout(Stdio::piped()), "dbus");
        let mut address = String::new();
        let out = bus.0.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();

        let mut keyring = Command::new("gnome-keyring-daemon");
        keyring
            .args(["--foreground", "--unlock", "--components=secrets"])
            .arg(format!("--control-directory={}", folder.display()))
            .env("HOME", folder)
            .env("XDG_DATA_HOME", folder)
            .env("XDG_RUNTIME_DIR", folder)
            .env("DBUS_SESSION_BUS_ADDRESS", &address)
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        let mut keyring = started(&mut keyring, "gnome-keyring");
        let mut password = keyring.0.stdin.take().unwrap();
        password.write_all(b"password").unwrap();
        drop(password);
        let keychain = Self {
            address,
            _keyring: keyring,
            _bus: bus,
        };
        keychain.wait();
        keychain
    }

    /// It answers on the bus a moment after it was started.
    fn wait(&self) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
        let name = "string:org.freedesktop.secrets";
        let asked = [
            "--print-reply=literal",
            "--dest=org.freedesktop.DBus",
            "/org/freedesktop/DBus",
        ];
        loop {
            let owned = Command::new("dbus-send")
                .arg(format!("--bus={}", self.address))
                .args(asked)
                .args(["org.freedesktop.DBus.NameHasOwner", name])
                .output()
                .unwrap();
            if String::from_utf8_lossy(&owned.stdout).contains("true") {
                return;
            }
            assert!(std::time::Instant::now() < until, "no keychain came up");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

fn started(command: &mut Command, package: &str) -> Running {
    let child = command.stderr(Stdio::null()).spawn();
    Running(child.unwrap_or_else(|error| {
        let program = command.get_program().display();
        panic!("`{program}` cannot be started ({error}); the package {package} brings it")
    }))
}

/// The program with this message bus.
fn on_bus(place: &CliFixture, address: &str, args: &[&str]) -> Command {
    let mut command = place.command(args);
    command.env("DBUS_SESSION_BUS_ADDRESS", address);
    command
}

fn ran(mut command: Command) -> CliRun {
    let output = command.output().unwrap();
    CliRun {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Opens an address as a browser does, and goes where it leads.
fn visit(url: &str) -> String {
    let (address, path) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    match page.split("Location: ").nth(1) {
        Some(leads) => visit(leads.lines().next().unwrap().trim()),
        None => page,
    }
}

/// No bus, so no keychain: a server that asks for no sign-in is used, and one that does says what is needed and the way without.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_keychain_servers_are_used_and_a_sign_in_says_the_way_on() {
    let (authority, place) = (Authority::open().await, CliFixture::new());
    let nowhere = format!("unix:path={}", place.data().join("no-bus").display());
    let run = |args: &[&str]| ran(on_bus(&place, &nowhere, args));
    authority.is(|mood| mood.asks_nobody = true);
    run(&["servers", "add", "far", "--url", &authority.server()]);
    let on = run(&["servers", "enable", "far"]);
    assert_eq!(on.code, 0, "{}", on.err);
    assert!(on.out.contains("far  connected"), "{}", on.out);
    let called = run(&["call", "far__hello", "{}", "--approve-all"]);
    assert_eq!(called.code, 0, "{}", called.err);
    let logs = run(&["servers", "logs", "far"]);
    assert!(
        logs.out.contains(
            "Connecting without a kept sign-in: The system keychain cannot be used here."
        ),
        "{}",
        logs.out
    );

    authority.is(|mood| mood.asks_nobody = false);
    let refused = run(&["servers", "restart", "far"]);
    assert!(
        refused.code == 1 && refused.err.contains("Sign in to it"),
        "{}",
        refused.err
    );
    let sign_in = run(&["servers", "sign-in", "far"]);
    assert_eq!(sign_in.code, 1);
    assert!(
        sign_in
            .err
            .contains("The system keychain cannot be used here.")
            && sign_in.err.contains("`Authorization`")
            && sign_in.err.contains("`Bearer ${NAME}`"),
        "{}",
        sign_in.err
    );
}

/// With a keychain a sign-in is kept from one command to the next, and a secret is put there and taken out.
#[tokio::test(flavor = "multi_thread")]
async fn with_a_keychain_a_sign_in_is_kept() {
    let (authority, place) = (Authority::open().await, CliFixture::new());
    let folder = tempfile::tempdir().unwrap();
    let keychain = Keychain::open(folder.path());
    let run = |args: &[&str]| ran(on_bus(&place, &keychain.address, args));
    run(&["servers", "add", "far", "--url", &authority.server()]);
    let on = run(&["servers", "enable", "far"]);
    assert!(on.err.contains("Sign in to it"), "{}", on.err);

    let mut sign_in = on_bus(
        &place,
        &keychain.address,
        &["servers", "sign-in", "far", "--json"],
    );
    let mut sign_in = sign_in.stdout(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    let mut out = BufReader::new(sign_in.stdout.take().unwrap());
    out.read_line(&mut told).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    let page = visit(told["open"].as_str().unwrap());
    assert!(page.contains("You are signed in."), "{page}");
    out.read_to_string(&mut String::new()).unwrap();
    assert_eq!(sign_in.wait().unwrap().code(), Some(0));

    let on = run(&["servers", "enable", "far"]);
    assert_eq!(on.code, 0, "{}", on.err);
    let called = run(&["call", "far__hello", "{}", "--approve-all"]);
    assert!(
        called.code == 0 && called.out.contains("hello"),
        "{called:?}"
    );
    let out = run(&["servers", "sign-out", "far"]);
    assert_eq!(out.code, 0, "{}", out.err);
    assert_eq!(run(&["servers", "restart", "far"]).code, 1);

    let mut secret = on_bus(
        &place,
        &keychain.address,
        &["servers", "secret", "far.token"],
    );
    let mut secret = secret
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    secret
        .stdin
        .take()
        .unwrap()
        .write_all(b"hush4hush4")
        .unwrap();
    assert_eq!(secret.wait().unwrap().code(), Some(0));
    authority.is(|mood| mood.asks_nobody = true);
    let header = "Authorization=keychain:far.token";
    run(&[
        "servers",
        "add",
        "named",
        "--url",
        &authority.server(),
        "--header",
        header,
    ]);
    let on = run(&["servers", "enable", "named"]);
    assert_eq!(on.code, 0, "{}", on.err);
    let shown = authority.heard.lock().unwrap().shown.clone();
    assert_eq!(shown.last().unwrap().as_deref(), Some("hush4hush4"));
}

/// What is erased is gone from the keychain too, and nothing that another program put there.
#[test]
fn erasing_the_usual_data_folder_takes_its_keys_out_of_the_keychain() {
    let place = CliFixture::new();
    let folder = tempfile::tempdir().unwrap();
    let keychain = Keychain::open(folder.path());
    let usual = place.data().with_file_name("home/.local/share/countersign");
    let run = |args: &[&str], input: &str| {
        let args = [args, &["--data-dir", usual.to_str().unwrap()]].concat();
        let mut command = on_bus(&place, &keychain.address, &args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(told).unwrap())
    };
    let (code, told) = run(&["keys", "set", "anthropic"], "hush-hush");
    assert_eq!(code, Some(0), "{told}");
    let (_, listed) = run(&["keys", "list"], "");
    assert!(listed.contains("from the system keychain"), "{listed}");
    let (code, told) = run(&["data", "erase", "--yes"], "");
    assert_eq!(code, Some(0), "{told}");
    assert!(!usual.exists());
    let (_, listed) = run(&["keys", "list"], "");
    assert!(!listed.contains("from the system keychain"), "{listed}");
}
