//! The way out that is watched: programs of a sandbox reach through it what somebody outside lets them reach, and
//! nothing else.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use sandbox::DenialKind::Network;
use sandbox::{SandboxConnection, SandboxReport, SandboxSpec, WorkspaceLayers, read_report};

use crate::lifecycle::{Place, refused};
use crate::runner::{SANDBOX_PROGRAM, has_sandbox, run};

const LET: &str = "let.example";
const SAID: &str = "said outside\n";

fn spec(place: &Place, command: &str) -> SandboxSpec {
    SandboxSpec {
        proxy: true,
        ..place.spec(command)
    }
}

/// Starts the program with the other end of `SandboxConnection` as its input.
pub fn start(spec: &SandboxSpec) -> (Command, Child, SandboxConnection) {
    let (outside, inside) = SandboxConnection::new_pair().unwrap();
    let mut program = Command::new(SANDBOX_PROGRAM);
    program
        .stdin(inside)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let running = program.spawn().unwrap();
    outside.send_spec(spec).unwrap();
    (program, running, outside)
}

/// A server outside that says the same to everybody.
fn server() -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    thread::spawn(move || {
        for caller in server.incoming() {
            let mut caller = caller.unwrap();
            head(&caller);
            let length = SAID.len();
            let _ = write!(
                caller,
                "HTTP/1.0 200 OK\r\nContent-Length: {length}\r\n\r\n{SAID}"
            );
        }
    });
    port
}

/// The head of what is asked for, as lines.
fn head(from: &TcpStream) -> Vec<String> {
    let lines = BufReader::new(from).lines().map(Result::unwrap);
    lines.take_while(|line| !line.is_empty()).collect()
}

/// Lets one host be reached, and stands for its names.
fn judge(listener: TcpListener, port: u16) {
    for caller in listener.incoming() {
        let mut caller = caller.unwrap();
        let head = head(&caller);
        let wanted = head[0].split(' ').nth(1).unwrap();
        let host = wanted
            .trim_start_matches("http://")
            .split(['/', ':'])
            .next();
        if host != Some(LET) {
            let _ = caller.write_all(b"HTTP/1.0 403 Not let\r\nContent-Length: 0\r\n\r\n");
            continue;
        }
        let mut there = TcpStream::connect(("127.0.0.1", port)).unwrap();
        match head[0].starts_with("CONNECT ") {
            true => caller.write_all(b"HTTP/1.0 200 Open\r\n\r\n").unwrap(),
            false => write!(there, "{}\r\n\r\n", head.join("\r\n")).unwrap(),
        }
        let (mut asks, mut asked) = (caller.try_clone().unwrap(), there.try_clone().unwrap());
        let asking = thread::spawn(move || std::io::copy(&mut asks, &mut asked));
        let _ = std::io::copy(&mut there, &mut caller);
        let _ = caller.shutdown(Shutdown::Both);
        let _ = asking.join().unwrap();
    }
}

#[test]
fn programs_reach_what_they_are_let_reach() {
    if !has_sandbox() {
        return;
    }
    for (command, said, told) in [
        ("curl -s http://let.example/", SAID, &[][..]),
        ("curl -s --proxytunnel http://let.example/", SAID, &[]),
        (
            "HTTP_PROXY= http_proxy= curl -s http://let.example/",
            SAID,
            &[],
        ),
        (
            "curl -s -o got -w '%{http_code}' http://other.example/",
            "403",
            &[],
        ),
        (
            "curl -s --proxytunnel http://other.example/; echo $?",
            "56\n",
            &[],
        ),
        // A request past it reaches nothing, and is reported.
        (
            "curl -s --noproxy '*' http://let.example/; echo $?",
            "6\n",
            &[(Network, "let.example")],
        ),
        (
            "curl -s --noproxy '*' http://192.0.2.1/; echo $?",
            "7\n",
            &[(Network, "192.0.2.1:80")],
        ),
        // All that a command holds of it is its address.
        ("ls -l /proc/self/fd | grep -c socket:", "0\n", &[]),
        (
            "test $http_proxy = $HTTPS_PROXY && echo $ALL_PROXY | grep -c ^http://127.0.0.1:",
            "1\n",
            &[],
        ),
        ("echo $no_proxy", "localhost,127.0.0.1,::1\n", &[]),
    ] {
        let place = Place::new();
        let spec = spec(&place, &format!("{command}; exit 0"));
        let (_program, mut running, outside) = start(&spec);
        let listener = outside.receive_listener().unwrap();
        assert!(listener.local_addr().unwrap().ip().is_loopback());
        let port = server();
        thread::spawn(move || judge(listener, port));
        let mut text = String::new();
        running
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        running.wait().unwrap();
        assert_eq!(text, said, "{command}");
        assert_eq!(
            read_report(&spec.told).unwrap(),
            refused(0, told),
            "{command}"
        );
    }
}

#[test]
fn without_a_sandbox_there_is_no_way_out() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let nowhere = SandboxSpec {
        layers: Some(WorkspaceLayers {
            upper: place.state.path().join("nowhere"),
            work: Some(place.state.path().join("work")),
        }),
        ..spec(&place, "true")
    };
    // The program is kept, and with it the other end of the pair: nobody waits for that to close.
    let (_program, mut running, outside) = start(&nowhere);
    let error = outside.receive_listener().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    running.wait().unwrap();
    let told = read_report(&nowhere.told).unwrap();
    assert!(
        matches!(told, Some(SandboxReport::NotEntered { ref step, .. }) if step == "overlay"),
        "{told:?}"
    );
    // Through a pipe no way leads out, and nobody runs a command that was promised one.
    let told = run(&spec(&place, "true")).told;
    assert!(
        matches!(told, Some(SandboxReport::NotEntered { ref step, .. }) if step == "proxy"),
        "{told:?}"
    );
}

#[test]
fn a_sandbox_with_a_way_out_ends_when_nobody_wants_it() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let spec = spec(&place, "trap '' TERM HUP; echo begun; sleep 1000");
    let (_program, mut running, outside) = start(&spec);
    let mut output = BufReader::new(running.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    drop(outside);
    running.wait().unwrap();
    assert_eq!(output.read_line(&mut line).unwrap(), 0);
}
