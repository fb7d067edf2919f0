//! Commands with a way to the network: what the door admits is reached and counted, everything else is refused and told.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use protocol::CommandExit;
use protocol::view::effects::{NetworkContact, Refusal, RefusalKind};
use runtime::{DryRunOutput, HostResolver, NetworkClient, NetworkPolicy, ShellCommand};
use tokio_util::sync::CancellationToken;

use crate::fixture::Stage;

const SAID: &str = "said outside\n";

/// Every name leads to this machine.
struct Here;

#[async_trait]
impl HostResolver for Here {
    async fn resolve_host(&self, _host: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(vec![Ipv4Addr::LOCALHOST.into()])
    }
}

/// Lets `let.example` and `inside.example` be asked for, each at one port, and only the first lead to this machine.
struct Door(u16);

impl NetworkPolicy for Door {
    fn allows_url(&self, url: &str) -> Result<(), String> {
        let port = self.0;
        let is_let = |host| {
            let site = format!("//{host}.example:{port}/");
            url.split_once(':').is_some_and(|(_, rest)| rest == site)
        };
        match is_let("let") || is_let("inside") {
            true => Ok(()),
            false => Err("it is not among the hosts of this run.".to_owned()),
        }
    }

    fn allows_ip(&self, url: &str, ip: IpAddr) -> Result<(), String> {
        match ip.is_loopback() && !url.contains("//let.") {
            true => Err(format!("it leads to {ip}.")),
            false => Ok(()),
        }
    }
}

/// Lets `localhost` be asked for at one port.
struct LocalDoor(u16);

impl NetworkPolicy for LocalDoor {
    fn allows_url(&self, url: &str) -> Result<(), String> {
        match url.ends_with(&format!("//localhost:{}/", self.0)) {
            true => Ok(()),
            false => Err("it is not among the hosts of this run.".to_owned()),
        }
    }

    fn allows_ip(&self, _url: &str, _ip: IpAddr) -> Result<(), String> {
        Ok(())
    }

    fn allows_loopback(&self, name: &str) -> bool {
        name == "localhost"
    }
}

/// A server outside: it says the same to everybody, but for whoever asks for `/forever`. When that one goes, it is told.
fn server() -> (u16, Receiver<()>) {
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    let (gone, goes) = channel();
    thread::spawn(move || {
        for caller in server.incoming() {
            let gone = gone.clone();
            thread::spawn(move || answer(caller.unwrap(), &gone));
        }
    });
    (port, goes)
}

fn answer(mut caller: TcpStream, gone: &Sender<()>) {
    let mut reader = BufReader::new(caller.try_clone().unwrap());
    let lines = reader.by_ref().lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let Some(first) = head.first() else { return };
    if first.starts_with("POST / ") {
        let mut body = [0; 4];
        reader.read_exact(&mut body).unwrap();
        assert_eq!(&body, b"some");
    } else {
        assert!(first.starts_with("GET /"), "{first}");
    }
    assert!(!head.iter().any(|line| line.starts_with("Proxy-")));
    if first.starts_with("GET /forever ") {
        caller
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
            .unwrap();
        let _ = caller.read(&mut [0]);
        gone.send(()).unwrap();
        return;
    }
    let length = SAID.len();
    let _ = write!(
        caller,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{SAID}"
    );
}

fn run(stage: &Stage, port: u16, command: &ShellCommand) -> DryRunOutput {
    run_with(stage, Arc::new(Door(port)), command)
}

fn run_with(stage: &Stage, policy: Arc<dyn NetworkPolicy>, command: &ShellCommand) -> DryRunOutput {
    let net = NetworkClient::offline()
        .with_resolver(Arc::new(Here))
        .with_policy(policy);
    let never = CancellationToken::new();
    let environment = &stage.environment;
    stage
        .block_on(environment.dry_run(command, &net, |_| {}, &never))
        .unwrap()
}

fn refused(target: &str) -> BTreeSet<Refusal> {
    let kind = RefusalKind::Network;
    let targets = target.split(' ').filter(|target| !target.is_empty());
    let one = |target: &str| Refusal {
        kind,
        target: target.to_owned(),
    };
    targets.map(one).collect()
}

#[test]
fn what_is_admitted_is_reached_and_counted_and_nothing_else_is() {
    let stage = Stage::new();
    if !stage.works() {
        return;
    }
    let (port, _goes) = server();
    let (free, _) = server();
    for (line, said, connections, not_let) in [
        ("curl -s http://let.example:PORT/", SAID, 1, ""),
        ("curl -s -p http://let.example:PORT/", SAID, 1, ""),
        ("curl -s -d some http://let.example:PORT/", SAID, 1, ""),
        (
            "curl -s http://let.example:PORT/ http://let.example:PORT/x",
            "said outside\nsaid outside\n",
            2,
            "",
        ),
        // One connection to the proxy, two destinations: each is judged.
        (
            "curl -s -o one -o two -w '%{http_code} ' http://let.example:PORT/ http://other.example:PORT/; grep -c 'not among the hosts' two",
            "200 403 1\n",
            1,
            "other.example:PORT",
        ),
        // The address counts, not the `Host` header.
        (
            "curl -s -o x -w '%{http_code}' -H 'Host: let.example:PORT' http://other.example:PORT/",
            "403",
            0,
            "other.example:PORT",
        ),
        (
            "curl -s -p http://other.example:PORT/; echo $?",
            "56\n",
            0,
            "other.example:PORT",
        ),
        // Another port of a host that is let is another place.
        (
            "curl -s -p http://let.example:FREE/; echo $?",
            "56\n",
            0,
            "let.example:FREE",
        ),
        (
            "curl -s -o x -w '%{http_code}' http://127.0.0.1:PORT/ --noproxy ''",
            "403",
            0,
            "127.0.0.1:PORT",
        ),
        // A name that leads into this machine is let by its name and refused by where it leads.
        (
            "curl -s http://inside.example:PORT/ | grep -c 'it leads to 127.0.0.1'",
            "1\n",
            0,
            "inside.example:PORT",
        ),
        // A request past the proxy reaches nothing.
        (
            "curl -s --noproxy '*' http://192.0.2.1/; echo $?",
            "7\n",
            0,
            "192.0.2.1:80",
        ),
        // Requests with no address for a proxy.
        (
            "curl -s -o x -w '%{http_code}' --noproxy '*' $http_proxy/",
            "400",
            0,
            "",
        ),
    ] {
        let put = |text: &str| {
            let text = text.replace("PORT", &port.to_string());
            text.replace("FREE", &free.to_string())
        };
        let rehearsed = run(&stage, port, &stage.command(&put(line)));
        let output = String::from_utf8_lossy(&rehearsed.command.head).into_owned();
        assert_eq!(output, said, "{line}");
        let told: BTreeSet<Refusal> = rehearsed.effects.refused.iter().cloned().collect();
        assert_eq!(told, refused(&put(not_let)), "{line}");
        match &rehearsed.effects.reached[..] {
            [] => assert_eq!(connections, 0, "{line}"),
            [one] => {
                let counted = NetworkContact {
                    host: "let.example".to_owned(),
                    port,
                    connections,
                    ..one.clone()
                };
                assert_eq!(*one, counted, "{line}");
                assert!(one.sent > 20, "{line}: {one:?}");
                assert!(
                    one.received > u64::from(connections) * 30,
                    "{line}: {one:?}"
                );
            }
            more => panic!("{line}: {more:?}"),
        }
    }
}

#[test]
fn a_name_of_this_machine_that_is_admitted_leads_outside_and_the_others_to_the_sandbox_itself() {
    let stage = Stage::new();
    if !stage.works() {
        return;
    }
    let (port, _goes) = server();
    for (line, said, refused_hosts) in [
        (
            "echo $no_proxy $NO_PROXY",
            "127.0.0.1,::1 127.0.0.1,::1\n",
            "",
        ),
        ("curl -s http://localhost:PORT/", SAID, ""),
        // Another port of the name is asked for outside, and refused there.
        (
            "curl -s -o x -w '%{http_code}' http://localhost:1/",
            "403",
            "localhost:1",
        ),
        // Nothing listens there in the sandbox.
        ("curl -s http://127.0.0.1:PORT/; echo $?", "7\n", ""),
        ("curl -s -g 'http://[::1]:PORT/'; echo $?", "7\n", ""),
    ] {
        let line = line.replace("PORT", &port.to_string());
        let ran = run_with(&stage, Arc::new(LocalDoor(port)), &stage.command(&line));
        assert_eq!(String::from_utf8_lossy(&ran.command.head), said, "{line}");
        let told: BTreeSet<Refusal> = ran.effects.refused.iter().cloned().collect();
        assert_eq!(told, refused(refused_hosts), "{line}");
    }
}

#[test]
fn what_came_from_the_network_is_an_effect_like_any_other() {
    let mut stage = Stage::new();
    if !stage.works() {
        return;
    }
    let (port, _goes) = server();
    let line = format!("curl -s -o got http://let.example:{port}/");
    let rehearsed = run(&stage, port, &stage.command(&line));
    assert!(!stage.root().join("got").exists());
    stage.commit(&rehearsed.plan);
    assert_eq!(
        std::fs::read_to_string(stage.root().join("got")).unwrap(),
        SAID
    );
}

#[test]
fn the_way_out_ends_with_the_command() {
    let stage = Stage::new();
    if !stage.works() {
        return;
    }
    let (port, goes) = server();
    let url = format!("http://let.example:{port}/forever");
    // It ends by itself and leaves something behind that would go on; then it does not end by itself.
    for (line, timeout_ms, exit) in [
        (
            format!("curl -sN {url} > got & until grep -q begun got; do :; done"),
            60_000,
            CommandExit::Code(0),
        ),
        (format!("curl -sN {url}"), 1_500, CommandExit::TimedOut),
    ] {
        let command = ShellCommand {
            timeout_ms,
            ..stage.command(&line)
        };
        let rehearsed = run(&stage, port, &command);
        assert_eq!(rehearsed.command.exit, exit, "{line}");
        assert_eq!(rehearsed.effects.reached.len(), 1, "{line}");
        goes.recv_timeout(Duration::from_secs(30)).unwrap();
    }
}
