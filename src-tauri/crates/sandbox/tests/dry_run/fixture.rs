//! A workspace, an environment and a history to try commands with.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use protocol::history::RestoreRequest;
use protocol::view::effects::{Assurance, Effect};
use protocol::{Plan, UndoId};
use runtime::{
    DryRunEnvironment, DryRunOutput, FileError, History, InPlaceResult, InPlaceRun, Isolation,
    LayerKind, NetworkClient, RestoreMeta, SandboxRequest, ShellCommand, UndoEntryMeta, Workspace,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Where the data folder lies: a disk, and not in `/tmp`, which a sandbox has of its own.
pub const DISK: &str = "/var/tmp";

pub struct Stage {
    pub home: TempDir,
    pub workspace: Workspace,
    pub environment: DryRunEnvironment,
    pub history: History,
    tokio: Runtime,
    _folder: TempDir,
    entries: u32,
}

impl Stage {
    pub fn new() -> Self {
        Self::below(Path::new(DISK), "workspace")
    }

    pub fn below(parent: &Path, name: &str) -> Self {
        Self::with(
            parent,
            name,
            &[LayerKind::Disk, LayerKind::Memory],
            &[Isolation::Namespaces],
        )
    }

    /// Where no layer can lie over the workspace.
    pub fn over_a_copy(parent: &Path) -> Self {
        Self::with(parent, "workspace", &[LayerKind::Copy], &[])
    }

    /// Where commands can only be run for real.
    pub fn in_place(parent: &Path, walls: Isolation) -> Self {
        Self::with(parent, "workspace", &[], &[walls])
    }

    fn with(parent: &Path, name: &str, kinds: &[LayerKind], isolations: &[Isolation]) -> Self {
        let home = tempfile::tempdir_in(DISK).unwrap();
        let folder = tempfile::tempdir_in(parent).unwrap();
        let root = folder.path().join(name);
        fs::create_dir(&root).unwrap();
        let environment = DryRunEnvironment::open_with(
            Some(env!("CARGO_BIN_EXE_countersign-sandbox").into()),
            &home.path().join("sandboxes"),
            Vec::new(),
            kinds,
            isolations,
        )
        .unwrap();
        Self {
            workspace: Workspace::open(&root).unwrap(),
            environment,
            history: History::open(&home.path().join("history"), 1 << 30).unwrap(),
            tokio: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
            home,
            _folder: folder,
            entries: 0,
        }
    }

    pub fn root(&self) -> PathBuf {
        self.workspace.root().to_owned()
    }

    /// Whether a command can be rehearsed here at all. Where the tests must not be passed by, as in continuous integration,
    /// it is a failure if not.
    pub fn works(&self) -> bool {
        let probe = self.tokio.block_on(self.environment.probe(&self.workspace));
        let works = probe.assurance != Assurance::GateOnly;
        assert!(works || std::env::var_os("CI").is_none(), "{probe:?}");
        if !works {
            println!("left out, because this system does not allow a sandbox: {probe:?}");
        }
        works
    }

    pub fn command(&self, line: &str) -> ShellCommand {
        ShellCommand {
            line: line.into(),
            workspace: self.workspace.clone(),
            folder: String::new(),
            env: Vec::new(),
            timeout_ms: 60_000,
            output_bytes_max: 100_000,
            spill: None,
            errors: None,
            mask_secrets: true,
        }
    }

    pub fn rehearse(&self, line: &str) -> DryRunOutput {
        self.try_rehearse(&self.command(line)).unwrap()
    }

    pub fn try_rehearse(&self, command: &ShellCommand) -> Result<DryRunOutput, FileError> {
        let never = CancellationToken::new();
        self.block_on(
            self.environment
                .dry_run(command, &NetworkClient::offline(), |_| {}, &never),
        )
    }

    /// Runs a command for real, as the engine does, and records what it did.
    pub fn run_in_place(&mut self, line: &str) -> Result<(InPlaceRun, InPlaceResult), FileError> {
        let meta = self.meta();
        let (command, never) = (self.command(line), CancellationToken::new());
        let ran = self.block_on(async {
            let (environment, net) = (&self.environment, NetworkClient::offline());
            let picture = environment.take_snapshot(&self.workspace, &self.history, meta);
            let picture = picture.await?;
            let request = SandboxRequest {
                command: &command,
                net: &net,
                cancel: &never,
            };
            let ran = environment.run_in_place(request, &picture, |_| {});
            Ok((ran.await?, picture))
        });
        let (ran, picture) = ran?;
        Ok((ran, DryRunEnvironment::record_changes(picture)?))
    }

    /// Metadata of the next entry.
    pub fn meta(&mut self) -> UndoEntryMeta {
        self.entries += 1;
        UndoEntryMeta {
            id: UndoId(format!("und_{}", self.entries)),
            session: "ses_1".into(),
            call: "call_1".into(),
            at: 1_000,
            title: "a command".into(),
        }
    }

    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.tokio.block_on(work)
    }

    /// Carries a plan out as the engine does, and gives the entry by which it can be taken back.
    pub fn commit(&mut self, plan: &Plan) -> UndoId {
        let meta = self.meta();
        let id = meta.id.clone();
        self.history
            .prepare_entry(&self.workspace, plan, meta)
            .unwrap();
        self.history.apply_plan(&self.workspace, plan).unwrap();
        self.history.mark_applied(&id).unwrap();
        id
    }

    /// Takes an entry back.
    pub fn take_back(&mut self, id: &UndoId) {
        self.entries += 1;
        let act = RestoreMeta {
            id: UndoId(format!("und_{}", self.entries)),
            at: 2_000,
        };
        let undo = RestoreRequest::Undo {
            entries: vec![id.clone()],
        };
        self.history.restore(&undo, &[], act).unwrap();
    }

    /// Brings an entry again.
    pub fn do_again(&mut self, id: &UndoId) {
        self.entries += 1;
        let act = RestoreMeta {
            id: UndoId(format!("und_{}", self.entries)),
            at: 3_000,
        };
        let redo = RestoreRequest::Redo { entry: id.clone() };
        self.history.restore(&redo, &[], act).unwrap();
    }

    /// How many pictures are left.
    pub fn pictures(&self) -> usize {
        let folder = self.home.path().join("history/pictures");
        fs::read_dir(folder).map_or(0, Iterator::count)
    }

    /// Layers that are left on disk.
    pub fn layers(&self) -> Vec<PathBuf> {
        let mut left = Vec::new();
        for ours in fs::read_dir(self.home.path().join("sandboxes")).unwrap() {
            let ours = ours.unwrap().path();
            if ours.is_dir() {
                left.extend(
                    fs::read_dir(ours)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            }
        }
        left.retain(|path| path.is_dir());
        left
    }
}

/// A tree with a little of everything.
pub fn furnish(root: &Path) {
    for folder in ["d", "d/e", "d/e/f", "g", "empty", "locked"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for (file, text) in [
        ("a", "first\nsecond\n"),
        ("b", "b\n"),
        ("run.sh", "#!/bin/sh\necho hello\n"),
        ("d/x", "x\n"),
        ("d/y", "x\n"),
        ("d/e/z", "zzz"),
        ("d/e/f/deep", "deep\n"),
        ("g/new\nline", "in a name\n"),
        ("g/none", ""),
        ("locked/in", "in\n"),
    ] {
        fs::write(root.join(file), text).unwrap();
    }
    symlink("a", root.join("link")).unwrap();
    symlink("d", root.join("folder-link")).unwrap();
    symlink("nowhere", root.join("g/broken")).unwrap();
    let mode = |path: &str, mode| {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("run.sh", 0o755);
    mode("b", 0o600);
    mode("locked", 0o700);
    let odd = std::ffi::OsString::from_vec(b"od\xffd".to_vec());
    fs::write(root.join(odd), "odd\n").unwrap();
}

use std::os::unix::ffi::OsStringExt as _;

/// "kind path", in short.
pub fn told(changes: &[Effect]) -> Vec<String> {
    changes
        .iter()
        .map(|effect| {
            let from = effect
                .from
                .as_ref()
                .map_or(String::new(), |from| format!("{from} -> "));
            format!("{:?} {from}{}", effect.kind, effect.path)
        })
        .collect()
}
