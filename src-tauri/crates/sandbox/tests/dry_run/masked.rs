//! Commands over a folder with secrets in it: what is carried out of one is what the same command does where nothing is masked, or
//! nothing, because it was refused a secret.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command as Starter;

use protocol::view::effects::RefusalKind;
use runtime::{ClosedFiles, SandboxOptions, ShellCommand};

use crate::fixture::{DISK, Stage};
use crate::single_commands::each_way;

/// Outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// It needs no secret.
    Same,
    /// It is refused one.
    Nothing,
}
use Comes::{Nothing, Same};

/// Commands, each with the program that it needs.
const TABLE: &[(&str, &str, Comes)] = &[
    // Git may compare what it has itself.
    ("git", "git add src && git commit -qm more", Same),
    ("git", "git status --short > status", Same),
    ("git", "git add -A", Nothing),
    ("git", "git add -A; git commit -qm more; true", Nothing),
    ("git", "git commit -qam more", Same),
    ("git", "git stash", Same),
    ("git", "git checkout -- .", Nothing),
    (
        "git",
        "git rm -q --cached .env; git commit -qm more; true",
        Same,
    ),
    ("git", "git clean -fdxq", Nothing),
    ("git", "git archive -o all.tar HEAD", Same),
    ("git", "git diff > diff || true", Same),
    ("git", "git switch -qc other && git switch -q -", Same),
    // Neither to print it, nor by another's hand.
    ("git", "git grep -l secret > found; true", Nothing),
    (
        "git",
        "git diff --no-index /dev/null .env > text; true",
        Nothing,
    ),
    (
        "git",
        "cp $(command -v git) . && ./git status; rm git",
        Nothing,
    ),
    (
        "git",
        "git -c alias.show-it='!cat .env' show-it > text; true",
        Nothing,
    ),
    ("tar", "tar cf src.tar src", Same),
    ("tar", "tar cf all.tar .env src || true", Nothing),
    ("cp", "cp -r src copy", Same),
    (
        "cp",
        "mkdir copy; cp .env new.key src/a.txt copy || true",
        Nothing,
    ),
    ("rsync", "rsync -a src/ copy/", Same),
    ("rsync", "rsync -a --exclude .git . copy || true", Nothing),
    ("zip", "zip -qrX src.zip src", Same),
    ("zip", "zip -qr all.zip .env src || true", Nothing),
    ("sed", "sed -i s/one/two/ src/a.txt", Same),
    ("sed", "sed -i s/one/two/ .env src/a.txt || true", Nothing),
    (
        "python3",
        "python3 -c 'import pathlib\nfor p in pathlib.Path(\".\").glob(\"src/*\"): p.write_text(p.read_text().strip())'",
        Same,
    ),
    (
        "python3",
        "python3 -c 'import os\nfor n in (\".env\", \"src/a.txt\"):\n  if os.access(n, os.R_OK): open(n + \".out\", \"w\").write(open(n).read())'",
        Nothing,
    ),
    ("make", "make -s built", Same),
    ("make", "make -s bundle || true", Nothing),
    ("sha256sum", "sha256sum src/* > sums", Same),
    ("sha256sum", "sha256sum .env src/* > sums || true", Nothing),
    (
        "grep",
        "grep -rl one . --exclude-dir=.git > found; true",
        Nothing,
    ),
    ("grep", "grep -rl one src > found; true", Same),
    // Lengths and times are the real ones.
    (
        "find",
        "find . -maxdepth 2 -not -path './.git*' -empty -delete",
        Same,
    ),
    (
        "find",
        "find . -name .env -size -5c -exec rm {} +; echo x > y",
        Same,
    ),
    ("test", "test -s .env || echo x > .env", Same),
    ("test", "test .env -nt src/a.txt || echo x > older", Same),
    ("test", "test -r .env || echo x > missing", Nothing),
    ("rm", "rm -f .env", Nothing),
    ("mv", "mv .env src/env", Nothing),
    (
        "mv",
        "mv keys elsewhere; cat elsewhere/tracked.pem > out || true",
        Nothing,
    ),
    ("cp", "cp src/a.txt .env", Nothing),
    ("sh", "echo x > .env", Nothing),
    ("sh", "echo x >> new.key", Nothing),
    (
        "ln",
        "ln .env name || ln -s .env name && cat name > text",
        Nothing,
    ),
    ("chmod", "chmod 644 .env", Nothing),
    ("touch", "touch .env", Nothing),
];

const MAKEFILE: &str = "built: src/a.txt\n\tcat $^ > $@\nbundle: src/a.txt .env\n\tcat $^ > $@\n";

fn furnish(root: &Path) {
    for folder in ["src", "keys"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for (file, text) in [
        ("src/a.txt", "one \n"),
        ("src/b.txt", "one b\n"),
        (".env", "TOKEN=one-secret\n"),
        ("Makefile", MAKEFILE),
        ("keys/tracked.pem", "a secret that git has\n"),
    ] {
        fs::write(root.join(file), text).unwrap();
    }
    outside(
        root,
        "git init -q && git add -A && git commit -qm one && echo new > src/a.txt",
    );
    fs::write(root.join("new.key"), "a secret that git has not\n").unwrap();
    fs::write(root.join("nothing"), "").unwrap();
}

/// Fixed variables, so that two commits are the same.
const STEADY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "a"),
    ("GIT_AUTHOR_EMAIL", "a@example.org"),
    ("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "a"),
    ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z"),
];

/// Runs a command where nothing is masked.
fn outside(root: &Path, line: &str) {
    let ran = Starter::new("bash")
        .args(["-c", line])
        .envs(STEADY)
        .current_dir(root)
        .output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{line}: {ran:?}");
}

/// Every file with its content; of a repository only what it says, because its index keeps times.
fn content(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut next = vec![root.to_owned()];
    while let Some(folder) = next.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            match path.is_dir() {
                true if name == ".git" => {}
                true => next.push(path),
                false => drop(all.insert(name, fs::read(path).unwrap())),
            }
        }
    }
    let said = Starter::new("bash")
        .args([
            "-c",
            "git log -p --all; git status --porcelain; git ls-files -s",
        ])
        .current_dir(root)
        .output();
    all.insert(".git".to_owned(), said.unwrap().stdout);
    all
}

#[test]
fn what_is_carried_out_is_what_the_command_does_without_masks() {
    let closes = |path: &str| {
        let secrets = [".env", ".key", ".pem"];
        secrets.iter().any(|secret| path.ends_with(secret))
    };
    let mut failed = Vec::new();
    for (number, _) in each_way().iter().enumerate() {
        for (program, line, comes) in TABLE {
            let mut stage = match number {
                0 => Stage::new(),
                _ => Stage::over_a_copy(Path::new(DISK)),
            };
            let is_there = Starter::new("bash")
                .args(["-c", &format!("type {program}")])
                .output()
                .unwrap();
            assert!(is_there.status.success(), "{program} is not installed");
            let root = stage.root();
            furnish(&root);
            let twin = tempfile::tempdir_in(DISK).unwrap();
            // Git goes by times and lengths: a moment later it does not take one for the other.
            outside(&root, &format!("cp -a . {}", twin.path().display()));
            let before = content(&root);
            let command = ShellCommand {
                workspace: stage.workspace.with_closed_files(ClosedFiles::new(closes)),
                env: STEADY
                    .map(|(name, value)| (name.into(), value.into()))
                    .into(),
                ..stage.command(line)
            };
            let rehearsed = stage.try_rehearse(&command).unwrap();
            let refused = &rehearsed.effects.refused;
            let is_refused = refused.iter().any(|one| one.kind == RefusalKind::Secret);
            assert_eq!(content(&root), before, "{line}");
            match comes {
                Nothing if is_refused => {}
                Nothing => failed.push(format!("{line}: {:?}", rehearsed.effects)),
                Same if is_refused => failed.push(format!("{line}: {refused:?}")),
                Same => {
                    stage.commit(&rehearsed.plan);
                    outside(twin.path(), line);
                    let (here, there) = (content(&root), content(twin.path()));
                    if here != there {
                        failed.push(format!("{line}: not what it does outside"));
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A hard link that was made before shows what its file holds.
#[test]
fn a_secret_is_masked_under_its_other_names() {
    for stage in each_way() {
        let root = stage.root();
        fs::write(root.join(".env"), "TOKEN=one-secret\n").unwrap();
        fs::hard_link(root.join(".env"), root.join("notes")).unwrap();
        let command = ShellCommand {
            workspace: stage
                .workspace
                .with_closed_files(ClosedFiles::new(|path| path.ends_with(".env"))),
            ..stage.command("cat notes > text || true")
        };
        let rehearsed = stage.try_rehearse(&command).unwrap();
        let refused = rehearsed.effects.refused_secrets();
        assert!(
            refused.iter().any(|path| path.ends_with("notes")),
            "{rehearsed:?}"
        );
    }
}

/// A secret that is mounted a second time, in whole, in part or as one file, is masked there too.
#[test]
fn a_secret_is_masked_wherever_it_is_mounted_once_more() {
    const OF_ITS_OWN: &str = "MOUNTS_OF_ITS_OWN";
    if std::env::var_os(OF_ITS_OWN).is_none() {
        if !Stage::new().works() {
            return;
        }
        let again = Starter::new("unshare")
            .args(["--map-root-user", "--mount"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("masked::a_secret_is_masked_wherever_it_is_mounted_once_more")
            .env(OF_ITS_OWN, "yes")
            .output()
            .unwrap();
        assert!(again.status.success(), "{again:?}");
        return;
    }
    let stage = Stage::new();
    let (root, outside) = (stage.root(), tempfile::tempdir_in(DISK).unwrap());
    let at = |path: &str| outside.path().join(path);
    for folder in ["home/keys/below", "home-again", "keys-again", "root-again"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    fs::write(at("home/keys/id"), "one-secret\n").unwrap();
    fs::write(at("home/keys/below/id"), "one-secret\n").unwrap();
    fs::write(at("home/plain"), "plain\n").unwrap();
    fs::write(at("id-again"), "").unwrap();
    fs::write(root.join(".env"), "TOKEN=one-secret\n").unwrap();
    let mount = |from: &Path, to: &Path| {
        let mounted = Starter::new("mount")
            .arg("--bind")
            .args([from, to])
            .output();
        let mounted = mounted.unwrap();
        assert!(mounted.status.success(), "{mounted:?}");
    };
    mount(&at("home"), &at("home-again"));
    mount(&at("home/keys/below"), &at("keys-again"));
    mount(&at("home/keys/id"), &at("id-again"));
    mount(&root, &at("root-again"));

    let options = SandboxOptions::default();
    options.set_choice(vec![at("home/keys")], None);
    let seen = [
        "home-again/keys/id",
        "home-again/keys/below/id",
        "keys-again/id",
        "id-again",
        "root-again/.env",
    ];
    let paths = seen.map(|path| at(path).display().to_string());
    let line = format!(
        "cat {}; cat {}",
        paths.join(" "),
        at("home-again/plain").display()
    );
    let closes = ClosedFiles::new(|path| path.ends_with(".env"));
    let command = ShellCommand {
        workspace: stage
            .workspace
            .with_closed_files(closes)
            .with_sandbox_options(options),
        ..stage.command(&line)
    };
    for path in &paths {
        assert!(fs::read_to_string(path).unwrap().contains("one-secret"));
    }
    let rehearsed = stage.try_rehearse(&command).unwrap();
    let output = String::from_utf8_lossy(&rehearsed.command.head);
    assert!(!output.contains("one-secret"), "{output}");
    assert!(output.contains("plain\n"), "{output}");
    let refused = rehearsed.effects.refused_secrets();
    let masks = [
        "home-again/keys",
        "keys-again",
        "id-again",
        "root-again/.env",
    ];
    for mask in masks.map(|path| at(path).display().to_string()) {
        assert!(refused.contains(&mask), "{mask}: {refused:?}");
    }
}

/// A hard link far away is not looked for, and the person is told.
#[test]
fn names_of_a_secret_that_cannot_be_found_are_told_of() {
    for stage in each_way() {
        let (root, far) = (stage.root(), tempfile::tempdir_in(DISK).unwrap());
        fs::write(root.join(".env"), "TOKEN=one-secret\n").unwrap();
        fs::hard_link(root.join(".env"), far.path().join("elsewhere")).unwrap();
        let command = ShellCommand {
            workspace: stage
                .workspace
                .with_closed_files(ClosedFiles::new(|path| path.ends_with(".env"))),
            ..stage.command("echo hello")
        };
        let notes = stage.try_rehearse(&command).unwrap().effects.notes;
        let of = format!("`{}` has 1 other name ", root.join(".env").display());
        assert!(notes.iter().any(|note| note.starts_with(&of)), "{notes:?}");
    }
}
