//! Measures what the gate adds to a command in the posture *Ask about effects*: the whole call, beside the same command
//! started by a shell.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::BenchResult;
use crate::command_desk::CommandDesk;
use crate::dry_run::{CACHE_WARMUP, FILES_PER_FOLDER, PRESTART_WAIT, build_sandbox};
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_difference, format_ratio, format_time, print_table};
use crate::undo_history::{DISK_FOLDER, sync_disk};

/// Number of files in each workspace, and how often each side runs a command there.
const WORKSPACES: [(usize, usize); 3] = [(1_000, 101), (100_000, 31), (1_000_000, 5)];
/// Commands that change nothing.
const READING_COMMANDS: [&str; 2] = ["true", "git status"];
/// One file in so many is ignored by git.
const IGNORED_INTERVAL: usize = 10;
/// Number of files that a build makes.
const OUTPUT_COUNT: usize = 10_000;
/// Number of folders in which a build makes them.
const OUTPUT_FOLDERS: usize = 100;
/// Number of functions in each source file of the build.
const FUNCTIONS_PER_SOURCE: usize = 20;

/// Measures commands that change nothing, in workspaces of growing size.
pub fn run_readers() -> BenchResult<()> {
    let (sandbox, runtime) = (build_sandbox()?, Runtime::new()?);
    let mut lines = Vec::new();
    for (files, rounds) in WORKSPACES {
        let place = GatedFolder::create(|root| create_files(root, files), &sandbox, &runtime)?;
        // Files made a moment ago are examined anew each time; those of a person's workspace are older than that.
        std::thread::sleep(CACHE_WARMUP);
        for command in READING_COMMANDS {
            let [ours, bare] = place.measure(rounds, &|_| command.to_owned(), &|| Ok(()))?;
            lines.push(TableRow {
                what: format!("`{command}` in a workspace of {files} files, beside a shell"),
                ours: format_time(ours),
                theirs: format_time(bare),
                ratio: format_difference(ours, bare),
                aim: "+15 ms",
            });
        }
    }
    print_table("Commands that change nothing, asking about effects", &lines);
    Ok(())
}

/// Runs one command repeatedly through the engine, for a profiler: `commands "git status" 1000 50`.
pub fn run_repeatedly(command: &str, files: &str, rounds: &str) -> BenchResult<()> {
    let (sandbox, runtime) = (build_sandbox()?, Runtime::new()?);
    let files = files.parse()?;
    let place = GatedFolder::create(|root| create_files(root, files), &sandbox, &runtime)?;
    std::thread::sleep(CACHE_WARMUP);
    let [ours, bare] = place.measure(rounds.parse()?, &|_| command.to_owned(), &|| Ok(()))?;
    println!("{}, beside {}", format_time(ours), format_time(bare));
    Ok(())
}

/// Measures commands that make ten thousand files, with the commit of them.
pub fn run_builds() -> BenchResult<()> {
    let (sandbox, runtime) = (build_sandbox()?, Runtime::new()?);
    let place = GatedFolder::create(create_sources, &sandbox, &runtime)?;
    // Each round makes other contents, as a build does after a change.
    let compile = |round| format!("make -s -j2 CPPFLAGS=-DROUND={round}");
    let mut lines = Vec::new();
    for (what, rounds, command) in [
        (
            "write 10,000 files of 4 kB by `awk`",
            5,
            &write_command as &dyn Fn(usize) -> String,
        ),
        ("compile 10,000 C files by `make`", 1, &compile),
    ] {
        let [ours, bare] = place.measure(rounds, command, &|| place.remove_outputs())?;
        lines.push(TableRow {
            what: format!("{what}, beside a shell"),
            ours: format_time(ours),
            theirs: format_time(bare),
            ratio: format_ratio(ours, bare),
            aim: "1.3×",
        });
    }
    print_table("Commands that build, asking about effects", &lines);
    Ok(())
}

/// A workspace on the disk, and a desk in it.
struct GatedFolder<'a> {
    runtime: &'a Runtime,
    desk: RefCell<CommandDesk>,
    /// Removed last, when nothing is open in it any more.
    home: TempDir,
}

impl<'a> GatedFolder<'a> {
    /// Makes a repository with these files, all of which are committed but those that git ignores.
    fn create(
        fill: impl FnOnce(&Path) -> BenchResult<()>,
        sandbox: &Path,
        runtime: &'a Runtime,
    ) -> BenchResult<Self> {
        let home = tempfile::tempdir_in(DISK_FOLDER)?;
        let root = home.path().join("workspace");
        std::fs::create_dir(&root)?;
        std::fs::write(root.join(".gitignore"), "target/\n*.log\n")?;
        fill(&root)?;
        let commit = "git init -q && git add -A \
            && git -c user.name=A -c user.email=a@b.example commit -qm 'Begin' && git status";
        time_in_shell(&root, commit)?;
        sync_disk(&root)?;
        let desk = CommandDesk::open(runtime, sandbox, &home.path().join("data"), &root)?;
        Ok(Self {
            runtime,
            desk: RefCell::new(desk),
            home,
        })
    }

    fn root(&self) -> PathBuf {
        self.home.path().join("workspace")
    }

    /// Measures a command of each round through the engine and by a shell, each after `prepare`; returns both medians.
    fn measure(
        &self,
        rounds: usize,
        command: &dyn Fn(usize) -> String,
        prepare: &dyn Fn() -> BenchResult<()>,
    ) -> BenchResult<[Duration; 2]> {
        let (mut round, mut bare_round) = (0, 0);
        let prepare_round = || {
            prepare()?;
            // The next sandbox is made meanwhile, as while a model thinks.
            std::thread::sleep(PRESTART_WAIT);
            BenchResult::Ok(())
        };
        let mut sides = [
            Contender::new("asking about effects", || {
                prepare_round()?;
                round += 1;
                let mut desk = self.desk.borrow_mut();
                desk.time_command(self.runtime, &command(round))
            }),
            Contender::new("by a shell", || {
                prepare_round()?;
                bare_round += 1;
                time_in_shell(&self.root(), &command(bare_round))
            }),
        ];
        let taken = measure_medians(&mut sides, rounds)?;
        Ok(taken.try_into().map_err(|_| "two sides give two medians")?)
    }

    /// Removes what a build made, and waits until the disk is at rest.
    fn remove_outputs(&self) -> BenchResult<()> {
        let outputs = self.root().join("target");
        if outputs.exists() {
            std::fs::remove_dir_all(outputs)?;
        }
        sync_disk(self.home.path())
    }
}

/// Measures one command that a shell runs in a folder.
fn time_in_shell(folder: &Path, command: &str) -> BenchResult<Duration> {
    let mut shell = Command::new("bash");
    shell.args(["-c", command]).current_dir(folder);
    let began = Instant::now();
    let ended = shell.stdin(Stdio::null()).output()?;
    let took = began.elapsed();
    match ended.status.success() {
        true => Ok(took),
        false => Err(String::from_utf8_lossy(&ended.stderr).into_owned().into()),
    }
}

fn create_files(root: &Path, count: usize) -> BenchResult<()> {
    for folder in 0..count / FILES_PER_FOLDER {
        let folder = root.join(format!("folder{folder}"));
        std::fs::create_dir(&folder)?;
        for file in 0..FILES_PER_FOLDER {
            let ending = match file % IGNORED_INTERVAL {
                0 => "log",
                _ => "txt",
            };
            std::fs::write(folder.join(format!("file{file}.{ending}")), "")?;
        }
    }
    Ok(())
}

/// Makes the sources of a build: small C files, and what compiles them.
fn create_sources(root: &Path) -> BenchResult<()> {
    let outputs = "target/%.o: src/%.c\n\t@mkdir -p $(@D)\n\t$(CC) $(CPPFLAGS) -c $< -o $@\n";
    let makefile =
        format!("all: $(patsubst src/%.c,target/%.o,$(wildcard src/*/*.c))\n\n{outputs}");
    std::fs::write(root.join("Makefile"), makefile)?;
    for number in 0..OUTPUT_COUNT {
        let folder = root.join(format!("src/{}", number % OUTPUT_FOLDERS));
        std::fs::create_dir_all(&folder)?;
        let mut text = String::new();
        for function in 0..FUNCTIONS_PER_SOURCE {
            writeln!(
                text,
                "int add_{number}_{function}(int one) {{ return one + ROUND * {function}; }}"
            )?;
        }
        std::fs::write(folder.join(format!("{number}.c")), text)?;
    }
    Ok(())
}

/// Returns a command that does nothing but write as many files as a build makes.
fn write_command(round: usize) -> String {
    format!(
        "mkdir -p target/{{0..{}}} && awk 'BEGIN {{ \
            for (n = 0; n < {OUTPUT_COUNT}; n++) {{ \
                out = \"target/\" n % {OUTPUT_FOLDERS} \"/\" n \".o\"; \
                for (line = 0; line < 200; line++) print {round}, n, line, \"of an output\" > out; \
                close(out) }} }}'",
        OUTPUT_FOLDERS - 1
    )
}
