//! Rules for the remotes that the repository of the workspace has: offered at the first card, and held to their address.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use agent::Host;
use protocol::event::CallChange;
use protocol::query::{Answer, Query};
use protocol::rule::backtest::RuleChange;
use protocol::rule::grants::{GrantOffer, GrantRequest, GrantScope};
use protocol::rule::rules_view::NewRule;
use protocol::settings::Posture;
use protocol::{
    CallState, CallView, Decision, EventBody, RuleAction, RuleScope, Settings, Verdict,
};
use serde_json::Value;
use support::{Fixture, call_bash, expect_variant, rule_text, say_text, shown_effects};

use crate::rules::changes_and_backtests::run_backtest;

/// Runs a script in a folder.
fn run(folder: &Path, script: &str) -> String {
    let mut shell = Command::new("sh");
    shell
        .args(["-ec", script])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    let ran = shell.output().unwrap();
    let error = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{script}: {error}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Serves the repositories in a folder, to be fetched from and pushed to.
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

/// Answers one request by git's own program for that.
fn answer(mut caller: TcpStream, folder: &Path) {
    let mut reader = BufReader::new(caller.try_clone().unwrap());
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let Some([method, target]) = head.first().map(|first| {
        let mut words = first.split(' ').map(str::to_owned);
        [(); 2].map(|()| words.next().unwrap_or_default())
    }) else {
        return;
    };
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let header = |name: &str| {
        let mut fields = head.iter().filter_map(|line| line.split_once(": "));
        let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let mut backend = Command::new("git");
    backend
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", folder)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", &method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("HTTP_GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut running = backend.spawn().unwrap();
    running.stdin.take().unwrap().write_all(&body).unwrap();
    let said = running.wait_with_output().unwrap().stdout;
    let _ = caller.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n");
    let _ = caller.write_all(&said);
}

/// A server with the repositories `app.git` and `other.git`, which are alike.
struct Server {
    folder: tempfile::TempDir,
    port: u16,
}

impl Server {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = "git init -q -b main work && cd work && git config user.name A && git config user.email a@b.example && \
            echo one > one && git add . && git commit -qm one && cd .. && \
            for name in app other; do git clone -q --bare work $name.git && git -C $name.git config http.receivepack true; done";
        run(folder.path(), script);
        let port = serve(folder.path().to_owned());
        Self { folder, port }
    }

    fn address(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }

    /// Commits something that nobody has fetched yet.
    fn commit(&self) -> String {
        let script = "cd work && echo two > two && git add . && git commit -qm two && git push -q ../app.git main && git rev-parse HEAD";
        run(self.folder.path(), script)
    }

    /// The branches of a repository, each with its commit.
    fn branches(&self, name: &str) -> String {
        let script =
            format!("git -C {name} for-each-ref --format='%(refname:short) %(objectname)'");
        run(self.folder.path(), &script)
    }
}

/// A desk that judges effects, whose workspace is a clone with a branch `new` that the server does not have.
async fn open_clone(server: &Server, commands: &[&str]) -> Fixture {
    let turns = commands.iter().copied().map(call_bash);
    let turns: Vec<Value> = turns.chain([say_text("Done.")]).collect();
    let program = Some(env!("CARGO_BIN_EXE_sandbox_program"));
    let desk = Fixture::with_sandbox(turns, Host::Person, program).await;
    desk.set_settings(Settings {
        posture: Some(Posture::AskAboutEffects),
        ..Settings::default()
    })
    .await;
    let script = format!(
        "git init -q -b main . && git config user.name A && git config user.email a@b.example && \
         git remote add origin {} && git fetch -q origin && git reset -q --hard origin/main && \
         git switch -qc new && echo new > new && git add . && git commit -qm new",
        server.address("app.git")
    );
    run(&desk.workspace_root(), &script);
    desk
}

async fn first_offer(desk: &Fixture, card: &CallView) -> GrantOffer {
    let query = Query::Offers {
        session: desk.session.clone(),
        call: card.call.id.clone(),
    };
    let offers = expect_variant!(desk.query(query).await, Answer::Offers(offers) => offers);
    let mut allowing = offers.offers.into_iter();
    allowing
        .find(|offer| offer.action == RuleAction::Allow)
        .unwrap_or_else(|| panic!("{:?}", offers.refused))
}

/// Answers a card with the rule that it offers first.
fn grant(offer: &GrantOffer) -> Decision {
    Decision::Allow {
        hunks: None,
        note: String::new(),
        always: Some(GrantRequest {
            lasts: GrantScope::Project,
            permission: offer.permission.clone(),
            pattern: offer.pattern.clone(),
            exactly: false,
            until_ms: None,
            max_uses: None,
        }),
    }
}

#[tokio::test]
async fn the_first_card_of_a_fetch_offers_the_remote_and_later_fetches_pass() {
    let server = Server::new();
    let mut desk = open_clone(
        &server,
        &["git fetch -q origin", "git fetch -q origin main"],
    )
    .await;
    let commit = server.commit();
    desk.start("Go.").await;
    let card = desk.wait_for_call().await;
    assert_eq!(shown_effects(&card).reached, []);
    let offer = first_offer(&desk, &card).await;
    assert_eq!(
        (&*offer.permission, offer.pattern.as_deref()),
        ("git.fetch", Some(&*server.address("app.git")))
    );
    desk.decide_call(&card, grant(&offer)).await.unwrap();
    desk.wait_until_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Done; 2]);
    let fetched = run(&desk.workspace_root(), "git rev-parse origin/main");
    assert_eq!(fetched, commit);
}

#[tokio::test]
async fn a_rule_for_a_remote_is_held_against_calls_on_record() {
    let server = Server::new();
    let mut desk = open_clone(&server, &["git fetch -q origin"]).await;
    desk.start("Go.").await;
    desk.reject_next("").await;
    desk.wait_until_ended().await;
    for (name, expected) in [("app.git", 1), ("other.git", 0)] {
        let rule = NewRule {
            permission: "git.fetch".to_owned(),
            pattern: Some(server.address(name)),
            action: RuleAction::Allow,
            ..NewRule::default()
        };
        let scope = RuleScope::User;
        let tested = run_backtest(&desk, RuleChange::Add { rule, scope }).await;
        let changed = tested
            .changed
            .iter()
            .filter(|group| (group.from, group.to) == (Verdict::Ask, Verdict::Allow));
        assert_eq!(
            changed.map(|group| group.calls).sum::<u64>(),
            expected,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_push_of_a_new_branch_passes_by_the_rule_for_its_remote() {
    let server = Server::new();
    let mut desk = open_clone(&server, &["git push -q -u origin new"]).await;
    desk.start("Go.").await;
    let card = desk.wait_for_call().await;
    let offer = first_offer(&desk, &card).await;
    assert_eq!(
        (&*offer.permission, offer.pattern.as_deref()),
        ("git.push", Some(&*server.address("app.git")))
    );
    desk.decide_call(&card, grant(&offer)).await.unwrap();
    desk.wait_until_ended().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    let own = run(&desk.workspace_root(), "git rev-parse new");
    assert!(server.branches("app.git").contains(&format!("new {own}")));
}

fn is_settled(body: &EventBody) -> bool {
    let EventBody::Call { change, .. } = body else {
        return false;
    };
    matches!(
        change,
        CallChange::Waiting { .. } | CallChange::Ended { .. }
    )
}

#[tokio::test]
async fn nothing_else_reaches_a_host_by_the_rules_for_a_remote() {
    let server = Server::new();
    let other = server.address("other.git");
    for (before, command) in [
        ("true", "git push -q --force origin new"),
        ("true", "git push -q origin +new"),
        ("true", "git push -q origin new:main"),
        ("true", "git push -q origin :main"),
        ("true", "git fetch -q --prune origin"),
        ("true", "GIT_TRACE=1 git push -q origin new"),
        ("true", "git -c push.default=current push -q origin new"),
        ("true", "git fetch -q origin; cat new"),
        ("true", &format!("git push -q {other} new")),
        ("git config core.sshCommand ./run", "git fetch -q origin"),
        (
            &format!("git remote set-url origin {other}"),
            "git push -q origin new",
        ),
        (
            &format!("git config remote.origin.pushurl {other}"),
            "git push -q origin new",
        ),
        (
            &format!(
                "git config url.{other}.insteadOf {}",
                server.address("app.git")
            ),
            "git push -q origin new",
        ),
        (
            &format!("git remote add other {other} && git fetch -q other"),
            "git push -q other new",
        ),
    ] {
        let mut desk = open_clone(&server, &[command]).await;
        run(&desk.workspace_root(), before);
        let address = server.address("app.git");
        let rules = [
            rule_text("git.fetch", &address, "allow"),
            rule_text("git.push", &address, "allow"),
        ];
        desk.write_rules(rules.concat());
        let branches = ["app.git", "other.git"].map(|name| server.branches(name));
        desk.start("Go.").await;
        desk.wait_for_event("a card or an outcome", is_settled)
            .await;
        let call = desk.only_call().await;
        assert_eq!(shown_effects(&call).reached, [], "{before}; {command}");
        if call.state == CallState::Waiting {
            desk.decide_call(&call, Decision::reject("No."))
                .await
                .unwrap();
        }
        desk.wait_until_ended().await;
        let after = ["app.git", "other.git"].map(|name| server.branches(name));
        assert_eq!(after, branches, "{before}; {command}");
    }
}
