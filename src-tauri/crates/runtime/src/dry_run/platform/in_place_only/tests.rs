//! Tests of commands that run for real over a snapshot, with only the methods that every system has: the parts that
//! other systems use are tested on all.

use std::fs;

use protocol::history::RestoreRequest;
use protocol::view::effects::{Effect, EffectKind};
use protocol::{CommandExit, UndoId};

use crate::RestoreMeta;
use crate::dry_run::platform::in_place_only::*;
use crate::dry_run::platform::unconfined::UnconfinedRunner;
use crate::dry_run::{DryRunEnvironment, InPlaceResult};

/// The same lines for each system's shell.
#[cfg(unix)]
const LINES: &str = "echo more >> a; rm b; mkdir n; echo new > n/new; mv d/c d/e; exit 3";
#[cfg(windows)]
const LINES: &str =
    "echo more>> a& del b& mkdir n& echo new> n\\new& move d\\c d\\e >nul& exit /b 3";

struct Stage {
    home: tempfile::TempDir,
    workspace: Workspace,
    elsewhere: InPlaceOnly<UnconfinedRunner>,
    history: History,
}

/// Every file below a folder with its content; folders with none.
fn tree(at: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => {
                all.push((path.clone(), None));
                all.extend(tree(&path));
            }
            false => all.push((path.clone(), Some(fs::read(&path).unwrap()))),
        }
    }
    all.sort();
    all
}

impl Stage {
    fn new(copier: CopyMethod) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("workspace");
        fs::create_dir_all(root.join("d")).unwrap();
        for (path, text) in [("a", "first\n"), ("b", "b\n"), ("d/c", "c\n")] {
            fs::write(root.join(path), text).unwrap();
        }
        let opened = InPlaceOnly::open(
            Some("sandbox".into()),
            &home.path().join("sandboxes"),
            Vec::new(),
            &[],
            &[],
        );
        Self {
            workspace: Workspace::open(&root).unwrap(),
            elsewhere: InPlaceOnly {
                copier,
                ..opened.unwrap()
            },
            history: History::open(&home.path().join("history"), 1 << 30).unwrap(),
            home,
        }
    }

    fn command(&self, line: &str) -> ShellCommand {
        ShellCommand {
            line: line.to_owned(),
            timeout_ms: 60_000,
            ..noop_command(&self.workspace)
        }
    }

    async fn pictured(&self, id: &str) -> Snapshot {
        let meta = UndoEntryMeta {
            id: id.into(),
            session: "ses_1".into(),
            call: "call_1".into(),
            at: 1_000,
            title: "a command".into(),
        };
        let picture = self
            .elsewhere
            .take_snapshot(&self.workspace, &self.history, meta);
        picture.await.unwrap()
    }

    async fn runs(&self, line: &str, picture: &Snapshot) -> InPlaceRun {
        let (command, net, never) = (
            self.command(line),
            NetworkClient::offline(),
            CancellationToken::new(),
        );
        let request = SandboxRequest {
            command: &command,
            net: &net,
            cancel: &never,
        };
        let ran = self.elsewhere.run_in_place(request, picture, |_: &str| {});
        ran.await.unwrap()
    }

    fn takes_back(&self, id: &str) {
        let undo = RestoreRequest::Undo {
            entries: vec![UndoId(id.into())],
        };
        let act = RestoreMeta {
            id: UndoId(format!("{id}_undone")),
            at: 2_000,
        };
        self.history.restore(&undo, &[], act).unwrap();
    }

    fn pictures(&self) -> usize {
        fs::read_dir(self.home.path().join("history/pictures")).map_or(0, Iterator::count)
    }
}

fn told(changes: &[Effect]) -> Vec<(EffectKind, &str)> {
    let each = changes.iter();
    each.map(|effect| (effect.kind, effect.path.as_str()))
        .collect()
}

const DONE: [(EffectKind, &str); 5] = [
    (EffectKind::Changed, "a"),
    (EffectKind::Deleted, "b"),
    (EffectKind::Renamed, "d/e"),
    (EffectKind::Added, "n"),
    (EffectKind::Added, "n/new"),
];

/// Changes are reported, recorded, undone and redone, on every system and with only the methods that every system has.
#[tokio::test]
async fn what_a_command_did_for_real_is_told_and_taken_back() {
    for copier in [CopyMethod::System, CopyMethod::Plain] {
        let stage = Stage::new(copier);
        let before = tree(stage.workspace.root());
        let picture = stage.pictured("und_1").await;
        let ran = stage.runs(LINES, &picture).await;
        assert_eq!(ran.command.exit, CommandExit::Code(3));
        let after = tree(stage.workspace.root());
        let done: InPlaceResult = DryRunEnvironment::record_changes(picture).unwrap();
        let changes: Vec<_> = told(&done.effects.changes)
            .into_iter()
            .map(|(kind, path)| (kind, path.replace('\\', "/")))
            .collect();
        assert_eq!(changes, DONE.map(|(kind, path)| (kind, path.to_owned())));
        assert_eq!(done.effects.assurance, Assurance::Snapshot);
        assert!(done.entry.is_some());
        assert_eq!(fs::read(done.before.root().join("b")).unwrap(), b"b\n");
        drop(done);
        assert_eq!(stage.pictures(), 0);
        stage.takes_back("und_1");
        assert_eq!(tree(stage.workspace.root()), before);
        stage.takes_back("und_1_undone");
        assert_eq!(tree(stage.workspace.root()), after);
    }
}

/// The state that a crash leaves: no process holds the snapshot, and nothing is recorded.
#[tokio::test]
async fn what_a_crash_left_is_taken_up_at_the_next_start() {
    for copier in [CopyMethod::System, CopyMethod::Plain] {
        let stage = Stage::new(copier);
        let before = tree(stage.workspace.root());
        let picture = stage.pictured("und_1").await;
        stage.runs(LINES, &picture).await;
        drop(picture);
        assert_eq!(stage.pictures(), 1);
        // A process that another test starts holds the lock too, for its first moment.
        let mut up = DryRunEnvironment::recover_runs(&stage.history);
        while up.entries.is_empty() && up.failed.is_empty() && stage.pictures() == 1 {
            tokio::task::yield_now().await;
            up = DryRunEnvironment::recover_runs(&stage.history);
        }
        assert_eq!((up.entries.len(), up.failed.len()), (1, 0));
        assert_eq!(stage.pictures(), 0);
        stage.takes_back("und_1");
        assert_eq!(tree(stage.workspace.root()), before);
    }
}

#[tokio::test]
async fn where_nothing_changed_there_is_no_act() {
    for copier in [CopyMethod::System, CopyMethod::Plain] {
        let stage = Stage::new(copier);
        let picture = stage.pictured("und_1").await;
        stage
            .runs(&noop_command(&stage.workspace).line, &picture)
            .await;
        let done = DryRunEnvironment::record_changes(picture).unwrap();
        assert_eq!((&done.entry, done.effects.changes.len()), (&None, 0));
    }
}

#[tokio::test]
async fn a_probe_says_what_does_not_hold() {
    let stage = Stage::new(CopyMethod::System);
    let probe = stage.elsewhere.probe(&stage.workspace).await;
    let reasons = UnconfinedRunner::GUARANTEES.reasons.iter();
    let all: Vec<String> = [NO_LAYER_REASON.to_owned()]
        .into_iter()
        .chain(reasons.copied().map(str::to_owned))
        .chain([snapshot_only_reason(), SNAPSHOT_NOT_SYNCED_NOTE.to_owned()])
        .collect();
    assert_eq!(
        probe,
        SandboxProbe {
            assurance: Assurance::Snapshot,
            in_place: true,
            ..SandboxProbe::gate_only(all)
        }
    );
    // Where nobody asks for it, and where no picture can be taken, nothing is promised.
    let nobody =
        InPlaceOnly::<UnconfinedRunner>::open(None, stage.home.path(), Vec::new(), &[], &[])
            .unwrap();
    let why = "Commands cannot be run in place: no program for it is named.";
    assert_eq!(
        nobody.probe(&stage.workspace).await,
        SandboxProbe::gate_only(vec![why.to_owned()])
    );
    let around = Workspace::open(stage.home.path()).unwrap();
    let probe = stage.elsewhere.probe(&around).await;
    assert_eq!(
        probe,
        SandboxProbe::gate_only(vec![
            "No snapshot can be taken: the data folder lies in the workspace.".to_owned()
        ])
    );
}

#[tokio::test]
async fn what_cannot_be_kept_to_is_not_begun() {
    let stage = Stage::new(CopyMethod::System);
    let (net, never) = (NetworkClient::offline(), CancellationToken::new());
    let command = stage.command(LINES);
    let request = SandboxRequest {
        command: &command,
        net: &net,
        cancel: &never,
    };
    let options = DryRunOptions::default();
    let shown = stage.elsewhere.dry_run(request, options, |_: &str| {});
    assert_eq!(
        shown.await.map(drop),
        Err(FileError::sandbox_unavailable(NO_LAYER_REASON))
    );
    let talks = CompanionCommand {
        program: "true".to_owned(),
        args: Vec::new(),
        folder: stage.workspace.root().to_owned(),
        inherited: crate::InheritedEnv::default(),
        env: Vec::new(),
    };
    let talking = stage
        .elsewhere
        .start_companion(&talks, &stage.workspace, &net);
    assert_eq!(
        talking.await.map(drop),
        Err(FileError::sandbox_unavailable(NO_COMPANION_REASON))
    );
    let state = KeptState {
        name: "ses_1".to_owned(),
        folders: Vec::new(),
    };
    let layered = stage
        .elsewhere
        .start_layered_companion(&talks, &stage.workspace, &net, &state);
    assert_eq!(
        layered.await.map(drop),
        Err(FileError::sandbox_unavailable(NO_COMPANION_REASON))
    );
    let large = fs::File::create(stage.workspace.root().join("large")).unwrap();
    large.set_len(crate::limits::COPY_BYTES_MAX + 1).unwrap();
    let probe = stage.elsewhere.probe(&stage.workspace).await;
    assert_eq!(
        probe,
        SandboxProbe::gate_only(vec![
            "The workspace cannot be copied for a command: it is larger than 512 MiB.".to_owned()
        ])
    );
}
