//! Servers that run in a sandbox: their rights there, how they are described, and that none is started or left running where
//! there is no sandbox.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use agent::Host;
use agent::rulebook::explain::ExplainOptions;
use protocol::server::mcp_servers::{ServerChange, ServerSandbox, ServerState, ServerTransport};
use protocol::settings::{DeniedPath, SandboxSettings};
use protocol::{CallState, Settings};
use serde::Serialize;
use serde_json::{Value, json};
use support::servers::{changed_paths, single_view};
use support::{Fixture, HEADLESS, WAIT_TIMEOUT, call_tool, say_text};

const ALLOW: &str = "[[rule]]\npermission = \"one__*\"\naction = \"allow\"\n";

/// A desk that has the sandbox program, or not.
async fn open_desk(turns: impl Serialize, host: Host, has_sandbox: bool) -> Fixture {
    let sandbox = has_sandbox.then_some(env!("CARGO_BIN_EXE_sandbox_program"));
    let mut desk = Fixture::with_sandbox(turns, host, sandbox).await;
    desk.write_file("old.txt", "first\n")
        .write_file(".env", "TOKEN=hush\n")
        .write_file(".git/hooks/pre-commit", "true\n");
    desk
}

/// The setup of a server whose sandbox is around a folder.
fn transport(folder: &Path, hosts: &[String]) -> ServerTransport {
    let root = folder.display().to_string();
    ServerTransport::Stdio {
        command: env!("CARGO_BIN_EXE_mcp_server").to_owned(),
        args: ["few", "files", "reach"].map(str::to_owned).to_vec(),
        env: BTreeMap::from([("FIXTURE_ROOT".to_owned(), root.clone())]),
        folder: None,
        sandbox: Some(ServerSandbox {
            workspace: root,
            hosts: hosts.to_vec(),
        }),
    }
}

async fn switch_on(desk: &Fixture) -> Result<(), protocol::UserError> {
    let on = ServerChange::Switch { enabled: true };
    desk.change_server(on).await.map(drop)
}

/// Gives a desk a server that runs in a sandbox around the workspace, and that no rule keeps from anything.
async fn let_do_everything(desk: &Fixture, hosts: &[String]) {
    desk.write_rules(ALLOW);
    desk.set_server(transport(&desk.workspace_root(), hosts))
        .await;
    switch_on(desk).await.unwrap();
}

/// It is called, and what it changes in the folder of its sandbox is shown, recorded and taken back.
#[tokio::test]
async fn a_server_in_a_sandbox_works_and_what_it_changes_is_undone() {
    let turns = [
        call_tool(
            "one__write_file",
            json!({ "path": "old.txt", "content": "second\n" }),
        ),
        call_tool("one__echo", json!({ "message": "hello" })),
        say_text("Done."),
    ];
    let mut desk = open_desk(turns, HEADLESS, true).await;
    let_do_everything(&desk, &[]).await;
    desk.play().await;
    let calls = desk.calls().await;
    assert_eq!(
        desk.call_outcomes().await[1],
        (CallState::Done, "hello".to_owned())
    );
    assert_eq!(desk.read_file("old.txt").unwrap(), "second\n");
    assert_eq!(changed_paths(&calls[0]), ["changed old.txt"]);
    assert_eq!(calls[1].undo, None);
    desk.undo_call(&calls[0]).await;
    assert_eq!(desk.read_file("old.txt").unwrap(), "first\n");
}

/// Attempts something that its arguments do not show, so that the sandbox alone stands in the way.
fn attempt(what: &str) -> Value {
    let hidden: String = what.bytes().map(|byte| format!("{byte:02x}")).collect();
    call_tool("one__attempt", json!({ "what": hidden }))
}

/// The results of the calls of a server in a sandbox, in order.
async fn attempted(desk: &mut Fixture) -> Vec<String> {
    desk.play().await;
    let outcomes = desk.call_outcomes().await.into_iter();
    outcomes
        .map(|(state, text)| match state {
            CallState::Done => text,
            other => panic!("{other:?}: {text}"),
        })
        .collect()
}

/// Secrets, the app's own data, what the person closed, what runs later, and everything outside are as closed as to commands.
#[tokio::test]
async fn a_server_in_a_sandbox_reaches_nothing_else() {
    let beside = tempfile::tempdir_in("/var/tmp").unwrap();
    let closed = beside.path().join("closed");
    std::fs::write(&closed, "hush\n").unwrap();
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let turns = [
        attempt("read .env"),
        attempt(&format!("read {}", closed.display())),
        attempt("read ../data/rules.toml"),
        attempt(&format!("write {}", beside.path().join("new").display())),
        attempt("write .git/hooks/pre-commit"),
        attempt(&format!("get {}", outside.local_addr().unwrap())),
        attempt("read old.txt"),
        attempt("write new.txt"),
        say_text("Done."),
    ];
    let mut desk = open_desk(turns, HEADLESS, true).await;
    desk.set_settings(Settings {
        sandbox: SandboxSettings {
            closed: vec![DeniedPath::try_from(closed.display().to_string()).unwrap()],
            ..SandboxSettings::default()
        },
        ..Settings::default()
    })
    .await;
    let_do_everything(&desk, &[]).await;
    let came = attempted(&mut desk).await;
    for (attempt, came) in came[..6].iter().enumerate() {
        assert!(came.starts_with("failed: "), "{attempt}: {came}");
    }
    assert_eq!(came[6..], ["first\n", "written"]);
    assert!(!beside.path().join("new").exists());
    assert_eq!(desk.read_file(".git/hooks/pre-commit").unwrap(), "true\n");
    // Nobody came to the door, so nothing waits there.
    outside.set_nonblocking(true).unwrap();
    assert!(outside.accept().is_err());
}

/// A host that its person named is reached, by the proxy of the sandbox; no other is.
#[tokio::test]
async fn a_server_in_a_sandbox_reaches_the_hosts_that_were_named() {
    let (named, other) = (serve(), serve());
    let turns = [
        attempt(&format!("get {named}")),
        attempt(&format!("get {other}")),
        say_text("Done."),
    ];
    let mut desk = open_desk(turns, HEADLESS, true).await;
    let_do_everything(&desk, &[named]).await;
    let came = attempted(&mut desk).await;
    assert!(came[0].ends_with("said outside"), "{}", came[0]);
    assert!(came[1].contains("403"), "{}", came[1]);
    assert!(came[1].contains("is not among the hosts"), "{}", came[1]);
}

/// A server that says the same to everybody; its address.
fn serve() -> String {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for caller in server.incoming() {
            let mut caller = caller.unwrap();
            let _ = caller.read(&mut [0; 4096]);
            let answer = "HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\nsaid outside";
            let _ = caller.write_all(answer.as_bytes());
        }
    });
    address
}

/// A server that cannot be run in a sandbox is not started at all, and the person who switches it on hears why.
#[tokio::test]
async fn without_a_sandbox_a_server_is_not_started() {
    for (has_sandbox, command, around, why) in [
        (
            false,
            "touch",
            "",
            "`countersign-sandbox`, is not installed",
        ),
        (true, "touch", "no/such/folder", "sandbox cannot be created"),
        (
            true,
            "countersign-no-such-program",
            "",
            "could not be started in its sandbox: command: No such file",
        ),
    ] {
        let desk = open_desk(json!([]), HEADLESS, has_sandbox).await;
        let ran = desk.workspace_root().join("ran");
        let mut wanted = transport(&desk.workspace_root().join(around), &[]);
        if let ServerTransport::Stdio {
            command: program,
            args,
            ..
        } = &mut wanted
        {
            *program = command.to_owned();
            *args = vec![ran.display().to_string()];
        }
        desk.set_server(wanted).await;
        let fault = switch_on(&desk).await.unwrap_err().to_string();
        assert!(fault.contains(why), "{fault}");
        assert!(!ran.exists());
        assert_eq!(
            single_view(desk.server_views().await).state,
            ServerState::Off
        );
    }
}

/// A server that ended says what it was refused in its sandbox.
#[tokio::test]
async fn what_a_server_was_refused_is_said_when_it_ended() {
    let desk = open_desk(json!([]), HEADLESS, true).await;
    let mut wanted = transport(&desk.workspace_root(), &[]);
    if let ServerTransport::Stdio { command, args, .. } = &mut wanted {
        *command = "cat".to_owned();
        *args = vec![".env".to_owned()];
    }
    desk.set_server(wanted).await;
    let fault = switch_on(&desk).await.unwrap_err().to_string();
    let refused = desk.workspace_root().join(".env").display().to_string();
    let says = format!("Its sandbox refused secret {refused}");
    assert!(fault.contains(&says), "{fault}");
}

/// It does not start outside the folder of its sandbox either; a sandbox around a link is around what it leads to.
#[tokio::test]
async fn a_server_in_a_sandbox_starts_in_its_folder() {
    let desk = open_desk(json!([]), HEADLESS, true).await;
    let mut wanted = transport(&desk.workspace_root(), &[]);
    if let ServerTransport::Stdio { folder, .. } = &mut wanted {
        // The variable is read when the server is started.
        *folder = Some(format!(
            "{}/${{NO_SUCH:-..}}",
            desk.workspace_root().display()
        ));
    }
    desk.set_server(wanted).await;
    let fault = switch_on(&desk).await.unwrap_err().to_string();
    let beside = tempfile::tempdir_in("/var/tmp").unwrap();
    let link = beside.path().join("link");
    std::os::unix::fs::symlink(desk.workspace_root(), &link).unwrap();
    desk.set_server(transport(&link, &[])).await;
    switch_on(&desk).await.unwrap();
    assert!(
        fault.contains("starts outside the folder of its sandbox, so it was not started"),
        "{fault}"
    );
}

/// With the desk everything goes that a server started, also what left its session.
#[tokio::test]
async fn nothing_of_a_server_is_left_when_the_desk_closes() {
    let seconds = format!("1000.{}", std::process::id());
    let turns = [attempt(&format!("linger {seconds}")), say_text("Done.")];
    let mut desk = open_desk(turns, HEADLESS, true).await;
    let_do_everything(&desk, &[]).await;
    assert_eq!(attempted(&mut desk).await, ["lingers"]);
    until("it lingers", || is_running(&seconds)).await;
    desk.engine.close();
    until("it is gone", || !is_running(&seconds)).await;
}

/// Whether a program runs that has this argument.
fn is_running(argument: &str) -> bool {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
    let sleeps = format!("sleep\0{argument}\0");
    lines.into_iter().any(|line| line == sleeps.as_bytes())
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waited = async {
        while !is_so() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(WAIT_TIMEOUT, waited).await;
    assert!(waited.is_ok(), "waited in vain: {what}");
}

/// Its card and `policy explain` say that it runs in a sandbox: also in a workspace that its sandbox is not around.
#[tokio::test]
async fn a_server_in_a_sandbox_is_said_to_be_in_one() {
    let elsewhere = tempfile::tempdir_in("/var/tmp").unwrap();
    for (is_around, can_be_undone) in [(true, true), (false, false)] {
        let turns = [
            call_tool(
                "one__write_file",
                json!({ "path": "new.txt", "content": "x" }),
            ),
            say_text("Done."),
        ];
        let mut desk = open_desk(turns, Host::Person, true).await;
        let folder = match is_around {
            true => desk.workspace_root(),
            false => elsewhere.path().to_owned(),
        };
        desk.set_server(transport(&folder, &[])).await;
        switch_on(&desk).await.unwrap();
        let arguments = json!({ "path": "new.txt", "content": "x" });
        let explained = ExplainOptions {
            workspace: desk.workspace_root(),
            ..ExplainOptions::default()
        };
        let explainer = desk.engine.open_explainer(explained).unwrap();
        let arguments = arguments.as_object().unwrap();
        let trail = explainer.explain("one__write_file", arguments).await;
        let trail = trail.unwrap().trail;
        let said = trail.steps.iter().map(|step| step.text.as_str());
        let said = said.collect::<Vec<_>>().join("\n");
        assert!(said.contains("It runs in a sandbox"), "{said}");
        assert!(!said.contains("runs as you"), "{said}");
        desk.start("Go.").await;
        let waiting = desk.wait_for_call().await;
        let grants = &waiting.pending.as_ref().unwrap().grants;
        let said: String = grants.iter().map(|grant| grant.text.as_str()).collect();
        assert!(!said.contains("runs as you"), "{said}");
        let says = "It runs for real in a sandbox; what it changes in this folder can be undone.";
        assert_eq!(said.contains(says), can_be_undone, "{said}");
        assert_eq!(
            said.contains("It cannot be undone"),
            !can_be_undone,
            "{said}"
        );
    }
}
