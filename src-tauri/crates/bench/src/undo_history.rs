//! Measures the undo history beside `cp -a`: copying for undo, committing and undoing ten thousand files; and the size
//! of the store after a thousand edits of one file.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use protocol::Plan;
use protocol::call::plan::{FileChange, Removal};
use protocol::history::RestoreRequest;
use runtime::{History, RestoreMeta, TreeLimits, UndoEntryMeta, Workspace};

use crate::BenchResult;
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_ratio, format_time, print_table};

/// Folder for workspaces and their copies: on a disk, not in memory.
pub const DISK_FOLDER: &str = "/var/tmp";
const ROUNDS: usize = 5;
const FILE_COUNT: usize = 10_000;
const FOLDER_COUNT: usize = 100;
/// Size of each of the ten thousand files, in bytes.
const FILE_BYTES: usize = 4_096;
const EDIT_COUNT: usize = 1_000;
/// Approximate size of the edited file, in bytes.
const EDITED_BYTES: usize = 1_000_000;
/// Maximum length of a line of the edited file, in bytes.
const LINE_BYTES: usize = 40;
/// Maximum size of the copies of one undo entry, in bytes.
const COPY_BYTES_MAX: u64 = 1 << 34;

/// Measures and prints.
pub fn run() -> BenchResult<()> {
    let mut sides = [
        Contender::new("cp -a", || time_copy(false)),
        Contender::new("cp -a, and on disk", || time_copy(true)),
        Contender::new("write", || Ok(time_writes()?.0)),
        Contender::new("write, undone", || Ok(time_writes()?.1)),
        Contender::new("delete", || Ok(time_deletes()?.0)),
        Contender::new("delete, undone", || Ok(time_deletes()?.1)),
    ];
    let taken = measure_medians(&mut sides, ROUNDS)?;
    let [plain, on_disk, ours @ ..] = taken.as_slice() else {
        return Err("a side is missing".into());
    };
    let names = [
        "write 10,000 files, with copies",
        "undo of it",
        "delete 10,000 files, with copies",
        "undo of it",
    ];
    let mut lines = Vec::new();
    for (what, took) in names.iter().zip(ours) {
        for (peer, theirs) in [("cp -a", plain), ("cp -a, and on disk", on_disk)] {
            lines.push(TableRow {
                what: format!("{what}, beside `{peer}`"),
                ours: format_time(*took),
                theirs: format_time(*theirs),
                ratio: format_ratio(*took, *theirs),
                aim: "3×",
            });
        }
    }
    print_table("History", &lines);
    let (held, took) = measure_edits()?;
    println!(
        "\n1,000 edits of a file of 1 MB: the store holds {:.1} MB; an edit with its copies takes {}.",
        held as f64 / 1e6,
        format_time(took / u32::try_from(EDIT_COUNT)?)
    );
    Ok(())
}

/// A workspace with an undo history.
pub struct HistoryFixture {
    pub home: tempfile::TempDir,
    pub workspace: Workspace,
    history: History,
}

impl HistoryFixture {
    /// Creates an empty workspace, in the disk's folder for temporary files.
    pub fn new() -> BenchResult<Self> {
        let home = tempfile::tempdir_in(DISK_FOLDER)?;
        let root = home.path().join("workspace");
        std::fs::create_dir(&root)?;
        Ok(Self {
            workspace: Workspace::open(&root)?,
            history: History::open(&home.path().join("history"), COPY_BYTES_MAX)?,
            home,
        })
    }

    /// Copies for undo, applies the effects and seals the entry, as a call does.
    pub fn apply_plan(&self, plan: &Plan, number: usize) -> BenchResult<Duration> {
        let meta = UndoEntryMeta {
            id: format!("und_{number}").into(),
            session: "ses".into(),
            call: "call".into(),
            at: i64::try_from(number)?,
            title: "Did it".into(),
        };
        let began = Instant::now();
        let entry = self.history.prepare_entry(&self.workspace, plan, meta)?;
        self.history.apply_plan(&self.workspace, plan)?;
        self.history.mark_applied(&entry.id)?;
        Ok(began.elapsed())
    }

    /// Undoes the first entry.
    pub fn undo_first(&self) -> BenchResult<Duration> {
        let restore = RestoreRequest::Undo {
            entries: vec!["und_1".into()],
        };
        let meta = RestoreMeta {
            id: "und_2".into(),
            at: 2,
        };
        let began = Instant::now();
        self.history.restore(&restore, &[], meta)?;
        Ok(began.elapsed())
    }
}

fn file_path(number: usize) -> String {
    format!("tree/folder{}/file{number}.txt", number % FOLDER_COUNT)
}

fn file_content(number: usize) -> Vec<u8> {
    let mut content = format!("{number}\n").repeat(FILE_BYTES / 4).into_bytes();
    content.truncate(FILE_BYTES);
    content
}

/// Creates ten thousand files below `tree`, and waits until they are on disk.
pub fn create_tree(root: &Path) -> BenchResult<()> {
    for number in 0..FILE_COUNT {
        let path = root.join(file_path(number));
        if number < FOLDER_COUNT {
            std::fs::create_dir_all(path.parent().unwrap_or(root))?;
        }
        std::fs::write(path, file_content(number))?;
    }
    sync_disk(root)
}

/// Waits until all data is on disk.
pub fn sync_disk(path: &Path) -> BenchResult<()> {
    match Command::new("sync").arg("-f").arg(path).status()?.success() {
        true => Ok(()),
        false => Err("sync failed".into()),
    }
}

/// Measures `cp -a` of the same files; with `to_disk` until they are on disk, as ours waits.
pub fn time_copy(to_disk: bool) -> BenchResult<Duration> {
    let home = tempfile::tempdir_in(DISK_FOLDER)?;
    create_tree(home.path())?;
    let (from, to) = (home.path().join("tree"), home.path().join("copy"));
    let began = Instant::now();
    let copied = Command::new("cp").arg("-a").arg(&from).arg(&to).status()?;
    if to_disk {
        sync_disk(&to)?;
    }
    let took = began.elapsed();
    match copied.success() {
        true => Ok(took),
        false => Err("cp failed".into()),
    }
}

fn time_writes() -> BenchResult<(Duration, Duration)> {
    let place = HistoryFixture::new()?;
    let changes = (0..FILE_COUNT).map(|number| FileChange {
        path: file_path(number),
        before: None,
        after: Some(file_content(number)),
        from: None,
    });
    let took = place.apply_plan(&Plan::Write(changes.collect()), 1)?;
    Ok((took, place.undo_first()?))
}

fn time_deletes() -> BenchResult<(Duration, Duration)> {
    let place = HistoryFixture::new()?;
    create_tree(place.workspace.root())?;
    let tree = place.workspace.list_tree("tree", TreeLimits::default())?;
    let plan = Plan::Remove(Removal {
        path: "tree".into(),
        listing: tree.digest,
        files: tree.files,
        bytes: tree.bytes,
    });
    let took = place.apply_plan(&plan, 1)?;
    Ok((took, place.undo_first()?))
}

/// Returns distinct lines, as in the text of a program or a table.
fn distinct_lines(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + LINE_BYTES);
    let mut seed = 1_u64;
    while text.len() < bytes {
        // Knuth's generator: the same lines each time.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&format!(
            "let value_{:05x} = \"{:08x}\";\n",
            seed >> 44,
            seed >> 32
        ));
    }
    text
}

/// Measures the size of the store after many small edits of a large file, and the duration of all edits.
fn measure_edits() -> BenchResult<(u64, Duration)> {
    let place = HistoryFixture::new()?;
    let mut content = distinct_lines(EDITED_BYTES).into_bytes();
    std::fs::write(place.workspace.root().join("large.txt"), &content)?;
    let mut took = Duration::ZERO;
    for number in 0..EDIT_COUNT {
        let before = content.clone();
        let digits = format!("{number:06}");
        content[number * 100..number * 100 + digits.len()].copy_from_slice(digits.as_bytes());
        let plan = Plan::Write(vec![FileChange {
            path: "large.txt".into(),
            before: Some(before),
            after: Some(content.clone()),
            from: None,
        }]);
        took += place.apply_plan(&plan, number + 1)?;
    }
    Ok((place.history.disk_bytes()?, took))
}
