//! The history beside `cp -a`: taking copies, carrying out and taking back ten thousand files; and what a thousand edits
//! of one file take in the store.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use protocol::Plan;
use protocol::history::Restore;
use protocol::plan::{FileChange, Removal};
use runtime::{ActMeta, EntryMeta, History, TreeLimits, Workspace};

use crate::Outcome;
use crate::pairs::{Side, medians};
use crate::table::{Line, print, time, times};

/// Where workspaces and what is kept of them lie: a disk, and not memory.
pub const DISK: &str = "/var/tmp";
const ROUNDS: usize = 5;
const FILES: usize = 10_000;
const FOLDERS: usize = 100;
/// Length of each of them.
const BYTES: usize = 4_096;
const EDITS: usize = 1_000;
/// Length of the file that is edited, about.
const EDITED_BYTES: usize = 1_000_000;
/// A line of it, at most.
const LINE_BYTES: usize = 40;
/// What the copies of one entry may take.
const BYTES_MAX: u64 = 1 << 34;

/// Measures and prints.
pub fn run() -> Outcome<()> {
    let mut sides = [
        Side::new("cp -a", || copied(false)),
        Side::new("cp -a, and on disk", || copied(true)),
        Side::new("write", || Ok(written()?.0)),
        Side::new("write, undone", || Ok(written()?.1)),
        Side::new("delete", || Ok(deleted()?.0)),
        Side::new("delete, undone", || Ok(deleted()?.1)),
    ];
    let taken = medians(&mut sides, ROUNDS)?;
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
            lines.push(Line {
                what: format!("{what}, beside `{peer}`"),
                ours: time(*took),
                theirs: time(*theirs),
                ratio: times(*took, *theirs),
                aim: "3×",
            });
        }
    }
    print("History", &lines);
    let (held, took) = edited()?;
    println!(
        "\n1,000 edits of a file of 1 MB: the store holds {:.1} MB; an edit with its copies takes {}.",
        held as f64 / 1e6,
        time(took / u32::try_from(EDITS)?)
    );
    Ok(())
}

/// A workspace with a history.
pub struct Place {
    pub home: tempfile::TempDir,
    pub workspace: Workspace,
    history: History,
}

impl Place {
    /// An empty one, on the disk that keeps what is temporary.
    pub fn new() -> Outcome<Self> {
        let home = tempfile::tempdir_in(DISK)?;
        let root = home.path().join("workspace");
        std::fs::create_dir(&root)?;
        Ok(Self {
            workspace: Workspace::open(&root)?,
            history: History::open(&home.path().join("history"), BYTES_MAX)?,
            home,
        })
    }

    /// Copies, effect and seal, as a call does them.
    pub fn carry_out(&self, plan: &Plan, number: usize) -> Outcome<Duration> {
        let meta = EntryMeta {
            id: format!("und_{number}").into(),
            session: "ses".into(),
            call: "call".into(),
            at: i64::try_from(number)?,
            title: "Did it".into(),
        };
        let began = Instant::now();
        let entry = self.history.prepare(&self.workspace, plan, meta)?;
        self.history.carry_out(&self.workspace, plan)?;
        self.history.seal(&entry.id)?;
        Ok(began.elapsed())
    }

    /// Takes back the first entry.
    pub fn undo(&self) -> Outcome<Duration> {
        let restore = Restore::Undo {
            entries: vec!["und_1".into()],
        };
        let meta = ActMeta {
            id: "und_2".into(),
            at: 2,
        };
        let began = Instant::now();
        self.history.restore(&restore, &[], meta)?;
        Ok(began.elapsed())
    }
}

fn path_of(number: usize) -> String {
    format!("tree/folder{}/file{number}.txt", number % FOLDERS)
}

fn content_of(number: usize) -> Vec<u8> {
    let mut content = format!("{number}\n").repeat(BYTES / 4).into_bytes();
    content.truncate(BYTES);
    content
}

/// Makes ten thousand files below `tree`, and waits until they are on the disk.
pub fn furnish(root: &Path) -> Outcome<()> {
    for number in 0..FILES {
        let path = root.join(path_of(number));
        if number < FOLDERS {
            std::fs::create_dir_all(path.parent().unwrap_or(root))?;
        }
        std::fs::write(path, content_of(number))?;
    }
    sync(root)
}

/// Waits for the disk.
pub fn sync(path: &Path) -> Outcome<()> {
    match Command::new("sync").arg("-f").arg(path).status()?.success() {
        true => Ok(()),
        false => Err("sync failed".into()),
    }
}

/// `cp -a` of the same files; with waiting for the disk, as ours waits.
pub fn copied(to_disk: bool) -> Outcome<Duration> {
    let home = tempfile::tempdir_in(DISK)?;
    furnish(home.path())?;
    let (from, to) = (home.path().join("tree"), home.path().join("copy"));
    let began = Instant::now();
    let copied = Command::new("cp").arg("-a").arg(&from).arg(&to).status()?;
    if to_disk {
        sync(&to)?;
    }
    let took = began.elapsed();
    match copied.success() {
        true => Ok(took),
        false => Err("cp failed".into()),
    }
}

fn written() -> Outcome<(Duration, Duration)> {
    let place = Place::new()?;
    let changes = (0..FILES).map(|number| FileChange {
        path: path_of(number),
        before: None,
        after: Some(content_of(number)),
        from: None,
    });
    let took = place.carry_out(&Plan::Write(changes.collect()), 1)?;
    Ok((took, place.undo()?))
}

fn deleted() -> Outcome<(Duration, Duration)> {
    let place = Place::new()?;
    furnish(place.workspace.root())?;
    let tree = place.workspace.tree("tree", TreeLimits::default())?;
    let plan = Plan::Remove(Removal {
        path: "tree".into(),
        listing: tree.digest,
        files: tree.files,
        bytes: tree.bytes,
    });
    let took = place.carry_out(&plan, 1)?;
    Ok((took, place.undo()?))
}

/// Lines of which no two are the same, as in a program's text or a table.
fn lines(bytes: usize) -> String {
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

/// What the store holds after many small edits of a large file, and how long all of them took.
fn edited() -> Outcome<(u64, Duration)> {
    let place = Place::new()?;
    let mut content = lines(EDITED_BYTES).into_bytes();
    std::fs::write(place.workspace.root().join("large.txt"), &content)?;
    let mut took = Duration::ZERO;
    for number in 0..EDITS {
        let before = content.clone();
        let digits = format!("{number:06}");
        content[number * 100..number * 100 + digits.len()].copy_from_slice(digits.as_bytes());
        let plan = Plan::Write(vec![FileChange {
            path: "large.txt".into(),
            before: Some(before),
            after: Some(content.clone()),
            from: None,
        }]);
        took += place.carry_out(&plan, number + 1)?;
    }
    Ok((place.history.size()?, took))
}
