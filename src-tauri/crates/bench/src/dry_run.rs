//! Measures the sandbox: entering it beside a plain start and beside bubblewrap, over workspaces of any size; and
//! committing effects beside `cp -a`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use policy::RuleSet;
use runtime::{ClosedFiles, DryRunEnvironment, NetworkClient, Workspace};
use sandbox::{
    CommandEnd, SandboxConnection, SandboxLimits, SandboxReport, SandboxSpec, WorkspaceLayers,
    read_report,
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::BenchResult;
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_difference, format_ratio, format_time, print_table};
use crate::undo_history::{HistoryFixture, create_tree, time_copy};

/// Number of times that each side starts a command.
const START_COUNT: usize = 201;
/// Number of times that each side commits effects.
const ROUNDS: usize = 5;
/// Number of files in the workspaces over which a sandbox is entered.
const WORKSPACE_FILE_COUNTS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Number of files per folder in these workspaces.
pub const FILES_PER_FOLDER: usize = 1_000;

/// Measures and prints.
pub fn run() -> BenchResult<()> {
    let program = build_sandbox()?;
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    measure_entry(&program, &tokio)?;
    measure_workspace_sizes(&program, &tokio)?;
    measure_commit(&program, &tokio)
}

/// Builds the sandbox program as it is shipped; returns its path.
pub fn build_sandbox() -> BenchResult<PathBuf> {
    Ok(build_programs("sandbox")?.join("countersign-sandbox"))
}

/// Builds the programs of a package as they are shipped; returns their folder.
pub fn build_programs(package: &str) -> BenchResult<PathBuf> {
    let built = Command::new("cargo")
        .args(["build", "--release", "--package", package, "--bins"])
        .status()?;
    if !built.success() {
        return Err(format!("the programs of `{package}` were not built").into());
    }
    let here = std::env::current_exe()?;
    let folder = here.parent().ok_or("this program has no folder")?;
    Ok(folder.to_owned())
}

/// Measures `true` in a sandbox beside a plain start and beside bubblewrap, and a whole dry run of `true`.
fn measure_entry(program: &Path, tokio: &Runtime) -> BenchResult<()> {
    let place = HistoryFixture::new()?;
    let folder = place.workspace.root();
    let environment = create_environment(program, &place)?;
    let mut sides = vec![
        Contender::new("plain", || time_plain_start(&mut Command::new("true"))),
        Contender::new("plain, by a shell", || {
            time_plain_start(Command::new("bash").args(["-c", "true"]))
        }),
        Contender::new("new sandbox", || {
            time_sandboxed_start(program, &place, SandboxStart::Now)
        }),
        Contender::new("standby sandbox", || {
            time_sandboxed_start(program, &place, SandboxStart::Ahead)
        }),
        Contender::new("dry run", || {
            time_dry_run(&environment, &place.workspace, "true", tokio)
        }),
    ];
    let has_peer = Command::new("bwrap")
        .arg("--version")
        .output()
        .is_ok_and(|said| said.status.success());
    if has_peer {
        sides.push(Contender::new("bubblewrap", || {
            time_plain_start(&mut bubblewrap_command(folder))
        }));
    }
    let taken = measure_medians(&mut sides, START_COUNT)?;
    let [bare, shell, fresh, ready, dry_run, peer @ ..] = taken.as_slice() else {
        return Err("a side is missing".into());
    };
    let line = |what: &str, (ours, theirs): (&Duration, &Duration), ratio, aim| TableRow {
        what: what.to_owned(),
        ours: format_time(*ours),
        theirs: format_time(*theirs),
        ratio,
        aim,
    };
    let mut lines = vec![
        line(
            "`true` in the standby sandbox, beside a plain start",
            (ready, bare),
            format_difference(*ready, *bare),
            "+2 ms",
        ),
        line(
            "`true` in a new sandbox, beside a plain start",
            (fresh, bare),
            format_difference(*fresh, *bare),
            "",
        ),
        line(
            "a dry run of `true`, from the call to its effects, beside a plain start by a shell",
            (dry_run, shell),
            format_difference(*dry_run, *shell),
            "",
        ),
    ];
    match peer {
        [peer] => lines.push(line(
            "`true` in a new sandbox, beside bubblewrap",
            (fresh, peer),
            format_ratio(*fresh, *peer),
            "1×",
        )),
        _ => println!("\nBubblewrap (`bwrap`) is not installed, so nothing stands beside it."),
    }
    print_table("Sandbox", &lines);
    Ok(())
}

/// Measures one start of a program, until it ends.
fn time_plain_start(command: &mut Command) -> BenchResult<Duration> {
    let began = Instant::now();
    let ended = command.stdin(Stdio::null()).output()?;
    match ended.status.success() {
        true => Ok(began.elapsed()),
        false => Err(String::from_utf8_lossy(&ended.stderr).into_owned().into()),
    }
}

/// Builds the bubblewrap command closest to a sandbox: own namespaces, a read-only system, a writable workspace. It
/// mounts no overlay.
fn bubblewrap_command(workspace: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command
        .args(["--unshare-all", "--die-with-parent", "--new-session"])
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        .args(["--tmpfs", "/tmp", "--bind"])
        .args([workspace, workspace])
        .arg("--chdir")
        .arg(workspace)
        .arg("true");
    command
}

/// Time at which the program of a sandbox is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SandboxStart {
    /// On demand, as for the first command.
    Now,
    /// Ahead of time, after the previous command, as for every later command.
    Ahead,
}

/// Time after which the content of a folder is cached.
pub const CACHE_WARMUP: Duration = Duration::from_secs(4);

/// Time after which a sandbox started ahead has prepared everything that all sandboxes need.
pub const PRESTART_WAIT: Duration = Duration::from_millis(20);

/// Measures one `true` in a sandbox with an overlay, excluding the creation of the overlay's folders, and including the
/// sandbox's report of its end.
fn time_sandboxed_start(
    program: &Path,
    place: &HistoryFixture,
    start: SandboxStart,
) -> BenchResult<Duration> {
    let state = tempfile::tempdir_in(place.home.path())?;
    let (upper, work) = (state.path().join("upper"), state.path().join("work"));
    std::fs::create_dir(&upper)?;
    std::fs::create_dir(&work)?;
    let workspace = place.workspace.root().to_owned();
    let spec = SandboxSpec {
        folder: workspace.clone(),
        workspace,
        layers: Some(WorkspaceLayers {
            upper,
            work: Some(work),
        }),
        private: Vec::new(),
        read_only: Vec::new(),
        masked: Vec::new(),
        readable_by_git: Vec::new(),
        watched_reads: sandbox::WatchedReads::default(),
        limits: SandboxLimits::default(),
        bare: None,
        proxy: false,
        input: false,
        command: vec!["/usr/bin/true".to_owned()],
        environment: Vec::new(),
        told: state.path().join("told"),
    };
    let (outside, inside) = SandboxConnection::new_pair()?;
    let mut began = Instant::now();
    let mut child = Command::new(program)
        .env_clear()
        .stdin(inside)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if start == SandboxStart::Ahead {
        std::thread::sleep(PRESTART_WAIT);
        began = Instant::now();
    }
    outside.send_spec(&spec)?;
    child.wait()?;
    let told = read_report(&spec.told)?;
    let took = began.elapsed();
    // As the app does it: by a thread of its own, which is waited for here, so that no round pays for another.
    std::thread::spawn(move || drop(outside))
        .join()
        .map_err(|_| "releasing the sandbox failed")?;
    match told {
        Some(SandboxReport::Ended {
            end: CommandEnd::Exit(0),
            ..
        }) => {}
        told => return Err(format!("the sandbox said {told:?}").into()),
    }
    // The kernel leaves a folder there that nobody may look into.
    let left = state.path().join("work/work");
    let _ = Command::new("chmod").arg("700").arg(left).status();
    Ok(took)
}

fn create_environment(program: &Path, place: &HistoryFixture) -> BenchResult<DryRunEnvironment> {
    let folder = place.home.path().join("sandboxes");
    Ok(DryRunEnvironment::open(
        Some(program.to_owned()),
        &folder,
        Vec::new(),
    )?)
}

fn shell_command(workspace: &Workspace, line: &str) -> runtime::ShellCommand {
    runtime::ShellCommand {
        line: line.to_owned(),
        workspace: workspace.clone(),
        folder: String::new(),
        env: Vec::new(),
        timeout_ms: 600_000,
        output_bytes_max: 1_000_000,
        spill: None,
        errors: None,
        mask_secrets: true,
    }
}

/// Measures a dry run, including its clean-up.
fn time_dry_run(
    environment: &DryRunEnvironment,
    workspace: &Workspace,
    line: &str,
    tokio: &Runtime,
) -> BenchResult<Duration> {
    let began = Instant::now();
    drop(run_dry(environment, workspace, line, tokio)?);
    Ok(began.elapsed())
}

fn run_dry(
    environment: &DryRunEnvironment,
    workspace: &Workspace,
    line: &str,
    tokio: &Runtime,
) -> BenchResult<runtime::DryRunOutput> {
    let (command, never) = (shell_command(workspace, line), CancellationToken::new());
    let net = NetworkClient::offline();
    let rehearsed = tokio.block_on(environment.dry_run(&command, &net, |_: &str| {}, &never))?;
    match rehearsed.effects.exit_code {
        Some(0) => Ok(rehearsed),
        _ => Err(String::from_utf8_lossy(&rehearsed.command.head)
            .into_owned()
            .into()),
    }
}

/// Returns the files that a session hides from a command, according to the built-in protections.
fn protected_files(rules: &Arc<RuleSet>) -> ClosedFiles {
    let (rules, by) = (rules.clone(), rules.clone());
    ClosedFiles::new(move |path| rules.masks_path(path, 0)).with_source(move || Some(by.clone()))
}

/// Measures the same dry run, which changes one file, over workspaces of growing size.
fn measure_workspace_sizes(program: &Path, tokio: &Runtime) -> BenchResult<()> {
    let rules = Arc::new(RuleSet::builtin());
    let mut places = Vec::new();
    for files in WORKSPACE_FILE_COUNTS {
        let place = HistoryFixture::new()?;
        for folder in 0..files / FILES_PER_FOLDER {
            let folder = place.workspace.root().join(format!("folder{folder}"));
            std::fs::create_dir(&folder)?;
            for file in 0..FILES_PER_FOLDER {
                std::fs::write(folder.join(format!("file{file}")), "")?;
            }
        }
        let environment = create_environment(program, &place)?;
        let workspace = place
            .workspace
            .clone()
            .with_closed_files(protected_files(&rules));
        places.push((place, workspace, environment));
    }
    // Files made a moment ago are examined anew each time; those of a person's workspace are older than that.
    std::thread::sleep(CACHE_WARMUP);
    const CHANGES: &str = "echo more >> folder0/file0";
    let side = |(_, workspace, environment): &(HistoryFixture, Workspace, DryRunEnvironment)| {
        time_dry_run(environment, workspace, CHANGES, tokio)
    };
    let mut sides: Vec<Contender<'_>> = places
        .iter()
        .map(|place| Contender::new("dry run", move || side(place)))
        .collect();
    let taken = measure_medians(&mut sides, START_COUNT / 10)?;
    let least = taken.first().copied().unwrap_or_default();
    let lines = WORKSPACE_FILE_COUNTS
        .iter()
        .zip(&taken)
        .map(|(files, took)| TableRow {
            what: format!("a dry run that changes one of {files} files"),
            ours: format_time(*took),
            theirs: format_time(least),
            ratio: format_ratio(*took, least),
            aim: "1×",
        });
    print_table(
        "Sandbox by files (theirs: ours over 1,000 files)",
        &lines.collect::<Vec<_>>(),
    );
    Ok(())
}

/// Measures committing and undoing the ten thousand files that a command created, beside `cp -a` of as many.
fn measure_commit(program: &Path, tokio: &Runtime) -> BenchResult<()> {
    let once = || -> BenchResult<(Duration, Duration)> {
        let place = HistoryFixture::new()?;
        create_tree(place.workspace.root())?;
        let environment = create_environment(program, &place)?;
        let rehearsed = run_dry(&environment, &place.workspace, "cp -a tree copy", tokio)?;
        let took = place.apply_plan(&rehearsed.plan, 1)?;
        Ok((took, place.undo_first()?))
    };
    let mut sides = [
        Contender::new("cp -a", || time_copy(false)),
        Contender::new("cp -a, and on disk", || time_copy(true)),
        Contender::new("commit", || Ok(once()?.0)),
        Contender::new("undo", || Ok(once()?.1)),
    ];
    let taken = measure_medians(&mut sides, ROUNDS)?;
    let [cp, on_disk, commit, undo] = taken.as_slice() else {
        return Err("a side is missing".into());
    };
    let mut lines = Vec::new();
    for (what, took) in [("commit", commit), ("undo", undo)] {
        for (peer, theirs) in [("cp -a", cp), ("cp -a, and on disk", on_disk)] {
            lines.push(TableRow {
                what: format!("{what} of 10,000 new files, beside `{peer}`"),
                ours: format_time(*took),
                theirs: format_time(*theirs),
                ratio: format_ratio(*took, *theirs),
                aim: "3×",
            });
        }
    }
    print_table("Sandbox, committed", &lines);
    Ok(())
}
