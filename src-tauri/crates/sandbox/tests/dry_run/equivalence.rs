//! Effects equal the truth: commands that nobody thought of, run plainly on a copy and rehearsed and carried out on the
//! workspace, come to the same tree.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command as Plain;

use protocol::Plan;
use runtime::Isolation;

use crate::fixture::{Stage, furnish};
use crate::tree_snapshot::{Picture, dated, exact, picture, same};

/// Numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[usize::try_from(self.next() % all.len() as u64).unwrap()]
    }
}

/// Names of files, folders, links and of nothing, so that every command meets every kind of thing.
const PATHS: &[&str] = &[
    "a",
    "b",
    "run.sh",
    "link",
    "folder-link",
    "d",
    "d/x",
    "d/y",
    "d/e",
    "d/e/z",
    "d/e/f",
    "d/e/f/deep",
    "g",
    "'g/new\nline'",
    "g/none",
    "g/broken",
    "empty",
    "locked",
    "locked/in",
    "new",
    "new/inner",
    "d/new",
    "d/e/new",
    "$'od\\xffd'",
    "$'n\\xfew'",
    "'two\nlines'",
    "-dash",
];
const COMMANDS: &[&str] = &[
    "rm -f -- P",
    "rm -rf -- P",
    "rmdir -- P",
    "mkdir -- P",
    "mkdir -p -- P/Q",
    "echo text > P",
    "echo more >> P",
    "printf '' > P",
    "head -c 70000 /dev/zero > P",
    "cp -r -- P Q",
    "cp -a -- P Q",
    "mv -f -- P Q",
    "mv -fT -- P Q",
    "ln -sfn -- P Q",
    "ln -sT -- P Q",
    "ln -f -- P Q",
    "test -f P && chmod 600 -- P",
    "chmod 755 -- P",
    "chmod u-w -- P",
    "chmod -R go-rwx -- P",
    "chmod 4755 -- P; chmod u-s -- P",
    "touch -- P",
    "touch -d '2001-02-03' -- P",
    "sed -i s/s/t/ -- P",
    "truncate -s 5 -- P",
    "truncate -s 100000 -- P",
    "cat -- P > Q",
    "rm -rf -- P; mkdir -- P; echo again > P/again",
    "rm -rf -- P; echo file > P",
    "rm -rf -- P; ln -s -- target P",
    "rm -rf -- P; mkdir -p -- P/e; touch -- P/e/z",
    "tar cf t.tar -- P; rm -rf -- P; tar xf t.tar; rm t.tar",
    "find . -name e -exec rm -rf {} +",
    "find P -type f -delete",
    "exec 3<>P; exec 3>&-",
];

fn line(dice: &mut Dice) -> String {
    let many = 2 + dice.next() % 6;
    let mut all = Vec::new();
    for _ in 0..many {
        let command = dice.of(COMMANDS);
        let (one, other) = (dice.of(PATHS), dice.of(PATHS));
        // A folder copied into itself comes to whatever order its names happen to have.
        if command.starts_with("cp") && other.starts_with(one) {
            continue;
        }
        all.push(command.replace('P', one).replace('Q', other));
    }
    // A command that fails here fails there: the rest goes on.
    format!("umask 022; {}; true", all.join("; "))
}

/// Runs the line without a sandbox on a copy of the tree.
fn truth(line: &str, parent: &Path) -> Picture {
    let copy = tempfile::tempdir_in(parent).unwrap();
    let root = copy.path().join("workspace");
    fs::create_dir(&root).unwrap();
    furnish(&root);
    let ran = plain()
        .arg("-c")
        .arg(line)
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{line}: {ran:?}");
    picture(&root)
}

/// A shell without the rights of root over modes, which nobody has in a sandbox.
fn plain() -> Plain {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !root {
        return Plain::new("bash");
    }
    let mut plain = Plain::new("setpriv");
    plain.args([
        "--inh-caps=-all",
        "--bounding-set=-all",
        "--no-new-privs",
        "bash",
    ]);
    plain
}

/// Returns this many numbers from a first one on, or as many as `FUZZ_CASES` says.
fn seeds(first: u64, count: u64) -> std::ops::Range<u64> {
    let count = std::env::var("FUZZ_CASES").map_or(count, |many| many.parse().unwrap());
    first..first + count
}

fn compare(seeds: std::ops::Range<u64>, parent: &str, stage: fn(&Path) -> Stage) {
    let parent = Path::new(parent);
    if !stage(parent).works() {
        return;
    }
    let mut changed = 0;
    for seed in seeds {
        let mut dice = Dice(seed);
        let line = line(&mut dice);
        let mut stage = stage(parent);
        furnish(&stage.root());
        let before = dated(&stage.root());
        let plainly = truth(&line, parent);
        let rehearsed = stage.rehearse(&line);
        same(
            &dated(&stage.root()),
            &before,
            &format!("{seed}: {line}: something changed"),
        );
        let plan = rehearsed.plan.clone();
        let Plan::Effects(captured) = &plan else {
            same(
                &picture(&stage.root()),
                &plainly,
                &format!("{seed}: {line}"),
            );
            continue;
        };
        changed += 1;
        if !seed.is_multiple_of(3) {
            // Without an entry it is the same, and sooner.
            stage.history.apply_plan(&stage.workspace, &plan).unwrap();
            same(
                &picture(&stage.root()),
                &plainly,
                &format!("{seed}: {line}"),
            );
            continue;
        }
        let id = stage.commit(&plan);
        same(
            &picture(&stage.root()),
            &plainly,
            &format!("{seed}: {line}"),
        );
        stage.take_back(&id);
        same(
            &dated(&stage.root()),
            &before,
            &format!("{seed}: {line}: undone"),
        );
        // A part of it: what was chosen is as it is after, the rest as it was before.
        let chosen: BTreeSet<u32> = (0..u32::try_from(rehearsed.effects.changes.len()).unwrap())
            .filter(|_| dice.next().is_multiple_of(2))
            .collect();
        let part = captured.select_effects(&chosen);
        let paths: BTreeSet<&Path> = part.steps.iter().map(|step| step.path.as_path()).collect();
        let mut expected = picture(&stage.root());
        expected.retain(|path, _| !paths.contains(path.as_path()));
        expected.extend(
            plainly
                .iter()
                .filter(|(path, _)| paths.contains(path.as_path()))
                .map(|(path, seen)| (path.clone(), seen.clone())),
        );
        let part = Plan::Effects(part.into());
        stage.commit(&part);
        same(
            &picture(&stage.root()),
            &expected,
            &format!("{seed}: {line}: {chosen:?}"),
        );
        drop(rehearsed);
        assert_eq!(stage.layers(), Vec::<std::path::PathBuf>::new());
    }
    assert!(changed > 0);
}

/// The same of commands that run for real, and are taken back.
fn compare_in_place(seeds: std::ops::Range<u64>, parent: &str, walls: Isolation) {
    let parent = Path::new(parent);
    if !Stage::in_place(parent, walls).works() {
        return;
    }
    let mut changed = 0;
    for seed in seeds {
        let line = line(&mut Dice(seed));
        let mut stage = Stage::in_place(parent, walls);
        furnish(&stage.root());
        let before = exact(&stage.root());
        let plainly = truth(&line, parent);
        let (_, done) = stage.run_in_place(&line).unwrap();
        let what = format!("{seed}: {line}");
        same(&picture(&stage.root()), &plainly, &what);
        let after = exact(&stage.root());
        let is_told = !done.effects.changes.is_empty();
        assert_eq!(
            is_told,
            dated(&stage.root()) != only_dated(&before),
            "{what}"
        );
        assert_eq!(is_told, done.entry.is_some(), "{what}");
        if let Some(entry) = &done.entry {
            changed += 1;
            stage.take_back(&entry.id);
            same(&exact(&stage.root()), &before, &format!("{what}: undone"));
            stage.do_again(&entry.id);
            same(
                &exact(&stage.root()),
                &after,
                &format!("{what}: done again"),
            );
        }
        drop(done);
        assert_eq!(stage.layers(), Vec::<std::path::PathBuf>::new());
        assert_eq!(stage.pictures(), 0);
    }
    assert!(changed > 0);
}

/// Without the times of folders.
fn only_dated(exact: &Picture) -> Picture {
    let mut all = exact.clone();
    for seen in all.values_mut().filter(|seen| seen.kind == 'd') {
        seen.mtime_ns = None;
    }
    all
}

fn layered(parent: &Path) -> Stage {
    Stage::below(parent, "workspace")
}

#[test]
fn on_a_disk() {
    compare(seeds(0, 40), crate::fixture::DISK, layered);
}

#[test]
fn in_a_folder_for_temporary_files() {
    compare(seeds(1_000, 20), "/tmp", layered);
}

#[test]
fn in_memory() {
    compare(seeds(2_000, 20), "/dev/shm", layered);
}

#[test]
fn over_a_copy() {
    compare(seeds(3_000, 30), crate::fixture::DISK, Stage::over_a_copy);
}

#[test]
fn over_a_copy_of_what_lies_in_memory() {
    compare(seeds(4_000, 15), "/dev/shm", Stage::over_a_copy);
}

#[test]
fn for_real() {
    compare_in_place(
        seeds(5_000, 25),
        crate::fixture::DISK,
        Isolation::Namespaces,
    );
}

#[test]
fn for_real_in_memory() {
    compare_in_place(seeds(6_000, 10), "/dev/shm", Isolation::Namespaces);
}

#[test]
fn for_real_where_nobody_may_make_namespaces() {
    compare_in_place(seeds(7_000, 20), crate::fixture::DISK, Isolation::Landlock);
}
