//! Commands that run for real: in a sandbox, over a picture of the workspace, in each of the two kinds of sandboxes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Command as Plain, Stdio};

use protocol::view::effects::{Assurance, Refusal, RefusalKind};
use protocol::{CommandExit, UndoState};
use runtime::{
    DryRunEnvironment, FileError, History, Isolation, LayerKind, NetworkClient, SandboxRequest,
    Workspace,
};
use tokio_util::sync::CancellationToken;

use crate::fixture::{DISK, Stage, furnish, told};
use crate::tree_snapshot::{exact, same};

/// Set for the process that is killed while its command runs: where.
const ORDER: &str = "COUNTERSIGN_TEST_KILL_IN_PLACE";

fn each_way() -> impl Iterator<Item = (Isolation, Stage)> {
    let stages = [Isolation::Namespaces, Isolation::Landlock].map(|walls| {
        let stage = Stage::in_place(DISK.as_ref(), walls);
        furnish(&stage.root());
        (walls, stage)
    });
    stages.into_iter().filter(|(_, stage)| stage.works())
}

#[test]
fn a_probe_tells_that_commands_run_for_real_and_what_holds() {
    for (walls, stage) in each_way() {
        let probe = stage.block_on(stage.environment.probe(&stage.workspace));
        assert_eq!(
            (probe.assurance, probe.layer, probe.in_place),
            (Assurance::Snapshot, LayerKind::None, true)
        );
        assert!(probe.net_off && probe.unix_sockets_off);
        let said = probe.reasons.join(" ");
        assert!(said.contains("a snapshot of it is taken before"), "{said}");
        assert_eq!(
            said.contains("Landlock"),
            walls == Isolation::Landlock,
            "{said}"
        );
    }
    // A picture would hold itself.
    let Some((_, stage)) = each_way().next() else {
        return;
    };
    let around = Workspace::open(stage.home.path()).unwrap();
    let probe = stage.block_on(stage.environment.probe(&around));
    assert_eq!(probe.assurance, Assurance::GateOnly, "{probe:?}");
    assert!(probe.reasons[0].contains("the data folder lies in the workspace"));
}

#[test]
fn what_is_done_for_real_is_told_and_taken_back() {
    for (_, mut stage) in each_way() {
        let before = exact(&stage.root());
        let line = "echo more >> a; rm -r d; mkdir new; echo in > new/in; chmod 700 run.sh; \
                    ln -sfn b link; mv b moved; echo said; exit 3";
        let (ran, done) = stage.run_in_place(line).unwrap();
        assert_eq!(
            (ran.command.exit, ran.command.head.as_slice()),
            (CommandExit::Code(3), &b"said\n"[..])
        );
        let read = |path: &str| fs::read_to_string(stage.root().join(path)).unwrap();
        assert_eq!(
            (read("a"), read("new/in")),
            ("first\nsecond\nmore\n".into(), "in\n".into())
        );
        assert_eq!(
            (done.effects.assurance, done.effects.exit_code),
            (Assurance::Snapshot, Some(3))
        );
        let changes = told(&done.effects.changes);
        for one in [
            "Changed a",
            "Deleted d/e/f/deep",
            "Added new/in",
            "Mode run.sh",
            "Link link",
            "Renamed b -> moved",
        ] {
            assert!(changes.contains(&one.to_owned()), "{one}: {changes:?}");
        }
        let notes = done.effects.notes.join(" ");
        assert!(notes.contains("cannot be told apart"), "{notes}");
        let entry = done.entry.clone().unwrap();
        assert_eq!(entry.state, UndoState::Applied);
        drop(done);
        stage.take_back(&entry.id);
        same(&exact(&stage.root()), &before, "undone");
        assert_eq!(stage.pictures(), 0);
    }
}

#[test]
fn nothing_but_the_workspace_can_be_written_and_nothing_reached() {
    for (walls, mut stage) in each_way() {
        let outside = stage.home.path().join("outside");
        fs::write(&outside, "mine").unwrap();
        fs::create_dir(stage.root().join(".git")).unwrap();
        fs::write(stage.root().join(".git/config"), "[core]\n").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let line = format!(
            "echo x > '{0}'; truncate -s 0 '{0}'; rm '{0}'; ln -s '{0}' way; echo x > way; \
             (echo x > /dev/tcp/127.0.0.1/{port}) && echo reached; \
             echo x > .git/config; echo x > /dev/null; echo in > a",
            outside.display()
        );
        let (ran, done) = stage.run_in_place(&line).unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
        let said = String::from_utf8_lossy(&ran.command.head).into_owned();
        assert!(
            !said.contains("reached") && !said.contains("/dev/null"),
            "{said}"
        );
        let changes = told(&done.effects.changes);
        match walls {
            Isolation::Namespaces => {
                assert_eq!(changes, ["Changed a", "Link way"]);
                assert!(ran.refused.contains(&Refusal {
                    kind: RefusalKind::Write,
                    target: outside.display().to_string(),
                }));
            }
            // Nothing in the workspace is read-only here. That nobody looked is said, and not that nothing was refused.
            Isolation::Landlock => {
                assert_eq!(changes, ["Changed .git/config", "Changed a", "Link way"]);
                let notes = done.effects.notes.join(" ");
                assert!(notes.contains("is not known"), "{notes}");
            }
        }
    }
}

#[test]
fn nothing_that_a_command_starts_outlives_it() {
    for (walls, mut stage) in each_way() {
        let line = "(setsid sh -c 'while :; do echo x >> alive; sleep 0.02; done' >/dev/null 2>&1 &) ; \
                    until test -s alive; do sleep 0.02; done";
        let (ran, done) = stage.run_in_place(line).unwrap();
        assert_eq!(ran.command.exit, CommandExit::Code(0), "{walls:?}");
        let recorded = done.plan.digest();
        let length = || fs::metadata(stage.root().join("alive")).unwrap().len();
        let first = length();
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert_eq!(length(), first, "{walls:?}: it writes on");
        assert_eq!(done.plan.digest(), recorded);
        let id = done.entry.clone().unwrap().id;
        drop(done);
        stage.take_back(&id);
        assert!(!stage.root().join("alive").exists());
    }
}

#[test]
fn what_was_done_until_it_was_stopped_can_be_taken_back() {
    for (_, mut stage) in each_way() {
        let before = exact(&stage.root());
        let meta = stage.meta();
        let (stop, net) = (CancellationToken::new(), NetworkClient::offline());
        let mut command = stage.command("echo more >> a; echo begun; sleep 60");
        let seen = stop.clone();
        let (ran, picture) = stage.block_on(async {
            let picture = stage
                .environment
                .take_snapshot(&stage.workspace, &stage.history, meta)
                .await
                .unwrap();
            let stopping = |_: &str| seen.cancel();
            let request = SandboxRequest {
                command: &command,
                net: &net,
                cancel: &stop,
            };
            let ran = stage
                .environment
                .run_in_place(request, &picture, stopping)
                .await;
            (ran.unwrap(), picture)
        });
        assert_eq!(ran.command.exit, CommandExit::Cancelled);
        let done = DryRunEnvironment::record_changes(picture).unwrap();
        assert_eq!(told(&done.effects.changes), ["Changed a"]);
        let id = done.entry.clone().unwrap().id;
        drop(done);
        stage.take_back(&id);
        same(&exact(&stage.root()), &before, "undone");
        // Out of time.
        command.line = "rm a; sleep 60".into();
        command.timeout_ms = 300;
        let meta = stage.meta();
        let done = stage.block_on(async {
            let (environment, never) = (&stage.environment, CancellationToken::new());
            let picture = environment.take_snapshot(&stage.workspace, &stage.history, meta);
            let picture = picture.await.unwrap();
            let request = SandboxRequest {
                command: &command,
                net: &net,
                cancel: &never,
            };
            let ran = environment.run_in_place(request, &picture, |_| {});
            assert_eq!(ran.await.unwrap().command.exit, CommandExit::TimedOut);
            DryRunEnvironment::record_changes(picture).unwrap()
        });
        assert_eq!(done.effects.ended, "time limit");
        assert_eq!(told(&done.effects.changes), ["Deleted a"]);
    }
}

#[test]
fn a_command_that_writes_more_than_can_be_undone_is_ended_and_taken_back() {
    for (_, mut stage) in each_way() {
        stage.history = History::open(&stage.home.path().join("history"), 8 << 20).unwrap();
        let before = exact(&stage.root());
        let line = "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > new-$i; done";
        let (ran, done) = stage.run_in_place(line).unwrap();
        assert_eq!(ran.command.exit, CommandExit::Signal(9));
        let limits = ran
            .refused
            .iter()
            .filter(|one| one.kind == RefusalKind::Limit);
        assert!(limits.count() > 0, "{:?}", ran.refused);
        let id = done.entry.clone().unwrap().id;
        drop(done);
        stage.take_back(&id);
        same(&exact(&stage.root()), &before, "undone");
    }
}

#[test]
fn without_a_picture_nothing_runs() {
    for (_, mut stage) in each_way() {
        let sparse = fs::File::create(stage.root().join("sparse")).unwrap();
        sparse.set_len(5 << 30).unwrap();
        let why = "The workspace cannot be copied for a command: it is larger than 512 MiB.";
        let probe = stage.block_on(stage.environment.probe(&stage.workspace));
        assert_eq!(probe.assurance, Assurance::GateOnly);
        assert!(probe.reasons.contains(&why.to_owned()), "{probe:?}");
        let refused = stage.run_in_place("touch ran");
        assert_eq!(
            refused.map(drop),
            Err(FileError::SandboxUnavailable { reason: why.into() })
        );
        assert!(!stage.root().join("ran").exists());
        assert_eq!(stage.pictures(), 0);
    }
}

/// Whose a change was cannot be told apart, and that is said.
#[test]
fn what_a_person_does_meanwhile_counts_as_the_commands() {
    for (_, mut stage) in each_way() {
        let root = stage.root();
        let meanwhile = move |_: &str| fs::write(root.join("b"), "edited").unwrap();
        let meta = stage.meta();
        let (command, never) = (
            stage.command("echo begun; sleep 0.3; echo more >> a"),
            CancellationToken::new(),
        );
        let net = NetworkClient::offline();
        let done = stage.block_on(async {
            let environment = &stage.environment;
            let picture = environment.take_snapshot(&stage.workspace, &stage.history, meta);
            let picture = picture.await.unwrap();
            let request = SandboxRequest {
                command: &command,
                net: &net,
                cancel: &never,
            };
            let ran = environment.run_in_place(request, &picture, meanwhile);
            ran.await.unwrap();
            DryRunEnvironment::record_changes(picture).unwrap()
        });
        assert_eq!(told(&done.effects.changes), ["Changed a", "Changed b"]);
        let notes = done.effects.notes.join(" ");
        assert!(
            notes.contains("whose it was cannot be told apart"),
            "{notes}"
        );
    }
}

/// The process that is killed. Without its order it is no test.
#[test]
#[ignore = "started by the test beside it"]
fn the_one_that_is_killed() {
    let (walls, home) = std::env::var(ORDER)
        .unwrap()
        .split_once(' ')
        .map(|(walls, home)| {
            let walls = if walls == "all" {
                Isolation::Namespaces
            } else {
                Isolation::Landlock
            };
            (walls, std::path::PathBuf::from(home))
        })
        .unwrap();
    let mut stage = Stage::in_place(DISK.as_ref(), walls);
    stage.workspace = Workspace::open(&home.join("workspace")).unwrap();
    stage.history = History::open(&home.join("history"), 1 << 30).unwrap();
    let meta = stage.meta();
    let (command, never) = (
        stage.command(
            "echo more >> a; rm -r d; echo begun; while :; do echo x >> alive; sleep 0.02; done",
        ),
        CancellationToken::new(),
    );
    let net = NetworkClient::offline();
    stage.block_on(async {
        let environment = &stage.environment;
        let picture = environment.take_snapshot(&stage.workspace, &stage.history, meta);
        let picture = picture.await.unwrap();
        let begun = |_: &str| println!("begun");
        let request = SandboxRequest {
            command: &command,
            net: &net,
            cancel: &never,
        };
        let ran = environment.run_in_place(request, &picture, begun);
        ran.await.unwrap();
    });
}

#[test]
fn killed_while_the_command_runs_nothing_is_lost() {
    for (walls, name) in [
        (Isolation::Namespaces, "all"),
        (Isolation::Landlock, "landlock"),
    ] {
        let home = tempfile::tempdir_in(DISK).unwrap();
        let root = home.path().join("workspace");
        fs::create_dir(&root).unwrap();
        furnish(&root);
        if !Stage::in_place(DISK.as_ref(), walls).works() {
            continue;
        }
        let before = exact(&root);
        let mut child = Plain::new(std::env::current_exe().unwrap())
            .args([
                "in_place::the_one_that_is_killed",
                "--exact",
                "--ignored",
                "--nocapture",
            ])
            .env(ORDER, format!("{name} {}", home.path().display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("begun")), "{name}");
        child.kill().unwrap();
        child.wait().unwrap();
        let history = History::open(&home.path().join("history"), 1 << 30).unwrap();
        // It ends with whoever ran it, at once: its last words are read here to their end.
        drop(lines);
        settled(&root);
        history.recover_interrupted(|_| false).unwrap();
        let acts = DryRunEnvironment::recover_runs(&history).entries;
        assert_eq!(acts, history.entries().unwrap(), "{name}");
        let [act] = &acts[..] else {
            panic!("{name}: {acts:?}");
        };
        assert_eq!(
            fs::read_dir(home.path().join("history/pictures"))
                .unwrap()
                .count(),
            0
        );
        let undo = protocol::history::RestoreRequest::Undo {
            entries: vec![act.id.clone()],
        };
        let meta = runtime::RestoreMeta {
            id: "act_1".into(),
            at: 2_000,
        };
        history.restore(&undo, &[], meta).unwrap();
        same(&exact(&root), &before, name);
    }
}

/// Waits until nobody writes any more.
fn settled(root: &std::path::Path) {
    let length = || fs::metadata(root.join("alive")).map_or(0, |alive| alive.len());
    let mut last = u64::MAX;
    while last != length() {
        last = length();
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}
