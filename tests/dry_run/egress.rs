//! Commands with a way to the network: to the hosts that a person named or rules allow, shown with where they reached.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use agent::Host;
use protocol::event::CallChange;
use protocol::history::RestoreRequest;
use protocol::query::{Answer, Query};
use protocol::{CallState, Decision, EventBody, Gate, UserError};
use support::{
    Fixture, HEADLESS, HEADLESS_APPROVED, call_bash, expect_variant, rule_text, say_text,
    shown_effects,
};

/// A web server of this machine that gives the files of a folder.
fn serve(folder: PathBuf) -> u16 {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    thread::spawn(move || {
        for caller in server.incoming() {
            let folder = folder.clone();
            thread::spawn(move || answer(caller.unwrap(), &folder));
        }
    });
    port
}

fn answer(mut caller: TcpStream, folder: &Path) {
    let lines = BufReader::new(&caller).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let path = head.first().and_then(|first| first.split(' ').nth(1));
    let path = path.and_then(|path| path.split('?').next()).unwrap_or("/");
    let found = std::fs::read(folder.join(path.trim_start_matches('/')));
    let status = if found.is_ok() { "200 OK" } else { "404 None" };
    let body = found.unwrap_or_default();
    let length = body.len();
    let _ = write!(
        caller,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n"
    );
    let _ = caller.write_all(&body);
    let _ = caller.read(&mut [0]);
}

/// A folder with a file `said`, and a repository `repo.git` that is asked for by plain files.
fn site() -> (tempfile::TempDir, u16) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("said"), "said outside\n").unwrap();
    let script = "git init -q -b main work && cd work && echo hello > hello && git add hello && \
        git -c user.name=a -c user.email=a@b commit -qm one && cd .. && git clone -q --bare work repo.git && \
        git -C repo.git update-server-info";
    let mut made = Command::new("sh");
    made.args(["-c", script]).current_dir(folder.path());
    assert!(made.status().unwrap().success());
    let port = serve(folder.path().to_owned());
    (folder, port)
}

/// A desk with a sandbox, whose agent runs one command.
async fn open_desk(command: &str, host: Host) -> Fixture {
    let turns = [call_bash(command), say_text("Done.")];
    Fixture::with_sandbox(turns, host, Some(env!("CARGO_BIN_EXE_sandbox_program"))).await
}

fn way_to(host: &str) -> Decision {
    Decision::WithNetwork {
        hosts: vec![host.to_owned()],
    }
}

#[tokio::test]
async fn a_person_gives_a_command_a_way_to_one_host_and_sees_what_came_of_it() {
    let (_site, port) = site();
    let host = format!("127.0.0.1:{port}");
    let line =
        format!("git fetch -q http://{host}/repo.git main && git show FETCH_HEAD:hello > hello");
    let mut desk = open_desk(&line, Host::Person).await;
    let mut made = Command::new("git");
    made.args(["init", "-q"]).current_dir(desk.workspace_root());
    assert!(made.status().unwrap().success());
    desk.start("Go.").await;
    desk.decide_next(Decision::DryRun).await;
    let sealed = desk.wait_for_call().await;
    assert_eq!(shown_effects(&sealed).exit_code, Some(128));
    assert_eq!(shown_effects(&sealed).reached, []);

    // Once more, with other hosts than it needs, then with the one that it does.
    desk.decide_call(&sealed, way_to("docs.rs")).await.unwrap();
    let other = desk.wait_for_call().await;
    assert_eq!(shown_effects(&other).exit_code, Some(128));
    assert_eq!(shown_effects(&other).reached, []);
    desk.decide_call(&other, way_to(&format!("http://{host}/x")))
        .await
        .unwrap();
    let shown = desk.wait_for_call().await;
    let did = shown_effects(&shown);
    assert_eq!(did.exit_code, Some(0), "{:?}", did.output);
    let [reached] = &did.reached[..] else {
        panic!("{:?}", did.reached);
    };
    assert_eq!((&*reached.host, reached.port), ("127.0.0.1", port));
    assert!(reached.connections > 1 && reached.sent > 100 && reached.received > 100);
    assert!(did.changes.iter().any(|change| change.path == "hello"));
    assert_eq!(desk.read_file("hello"), None);

    desk.allow_call(&shown).await;
    desk.wait_until_ended().await;
    assert_eq!(desk.read_file("hello").unwrap(), "hello\n");
    let done = desk.only_call().await;
    assert_eq!(done.state, CallState::Done);
    let text = done.outcome.as_ref().unwrap().model_text();
    assert!(text.contains("[It was let reach: 127.0.0.1.]"), "{text}");

    // On record is who was named, as it is looked up.
    let said = desk
        .events()
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Call {
                change:
                    CallChange::Decided {
                        decision: Decision::WithNetwork { hosts },
                        ..
                    },
                ..
            } => Some(hosts),
            _ => None,
        });
    assert_eq!(said.collect::<Vec<_>>(), [["docs.rs".to_owned()], [host]]);

    let restore = RestoreRequest::Undo {
        entries: vec![done.undo.unwrap().id],
    };
    let query = Query::Restore { restore };
    let before = expect_variant!(desk.query(query).await, Answer::Restore(before) => before);
    let covered = &before.coverage.text;
    let cannot = "; cannot undo: what it sent to 127.0.0.1.";
    assert!(covered.ends_with(cannot), "{covered}");
}

#[tokio::test]
async fn a_host_that_a_rule_denies_stays_closed_whoever_names_it() {
    let (_site, port) = site();
    let mut desk = open_desk(&format!("sh get.sh {port}"), Host::Person).await;
    desk.write_file("get.sh", "curl -s -o got http://127.0.0.1:$1/said\n");
    desk.write_rules(rule_text("net.fetch", "evil.example", "deny"));
    desk.start("Go.").await;
    let asked = desk.wait_for_call().await;
    for (host, why) in [
        ("a.evil.example", "`net.fetch evil.example`"),
        ("169.254.169.254", "hand out their own secrets"),
        ("no host", "is not a host"),
    ] {
        let UserError { message, .. } = desk.decide_call(&asked, way_to(host)).await.unwrap_err();
        assert!(message.contains(why), "{host}: {message}");
    }
    let none = Decision::WithNetwork { hosts: Vec::new() };
    assert!(desk.decide_call(&asked, none).await.is_err());
    // It waits as before, and nothing ran.
    let still = desk.find_call(asked.call.id.as_str()).await;
    assert_eq!(still.state, CallState::Waiting);
    assert!(still.started_at.is_none());

    desk.decide_call(&asked, way_to(&format!("127.0.0.1:{port}")))
        .await
        .unwrap();
    let shown = desk.wait_for_call().await;
    assert_eq!(shown_effects(&shown).reached.len(), 1);
    assert!(shown.trail.unwrap().lead.len() > 10);
}

#[tokio::test]
async fn where_nobody_is_only_rules_open_a_way_to_the_hosts_that_a_command_names() {
    let (_site, port) = site();
    let host = format!("127.0.0.1:{port}");
    let line = format!("curl -s -o got http://{host}/said");
    let (runs, opens) = (
        rule_text("bash", "curl*", "allow"),
        rule_text("net.fetch", &host, "allow"),
    );
    let writes = rule_text("fs.write", "got", "allow");

    let mut open = open_desk(&line, HEADLESS).await;
    open.write_rules([&*runs, &writes, &opens].concat());
    open.play().await;
    let done = open.only_call().await;
    assert_eq!(done.state, CallState::Done, "{:?}", done.trail);
    assert_eq!(open.read_file("got").unwrap(), "said outside\n");
    assert_eq!(shown_effects(&done).reached.len(), 1);
    let judged = open
        .events()
        .await
        .into_iter()
        .find_map(|event| match event.body {
            EventBody::Call {
                change: CallChange::Judged { trail, .. },
                ..
            } if trail.verdict == protocol::Verdict::Allow => Some(trail),
            _ => None,
        });
    let judged = judged.unwrap();
    let told = judged.steps.iter().filter(|step| step.gate == Gate::Rules);
    let told: Vec<&str> = told.map(|step| step.text.as_str()).collect();
    assert!(told[1].starts_with("It runs in a sandbox with access to the hosts that it names."));

    // Consent that was given beforehand is for the command, and opens no way.
    for (host, rules) in [(HEADLESS, runs + &writes), (HEADLESS_APPROVED, opens)] {
        let mut closed = open_desk(&line, host).await;
        closed.write_rules(rules);
        closed.play().await;
        let done = closed.only_call().await;
        assert_eq!(shown_effects(&done).reached, []);
        assert_eq!(closed.read_file("got"), None);
    }
}
