//! The files that commands name beside the real programs: what a program really read or wrote must be among what was seen
//! in its words before.
//!
//! The commands are generated from programs and the ways in which an option and its value may be spelled, and run in a
//! temporary folder with nothing in it that matters.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use policy::shell;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use protocol::Capability;

/// Commands that are generated and run, unless `FUZZ_CASES` says how many.
const CASES: u32 = 250;
/// Content of the file, which stands nowhere else.
const TOKEN: &str = "tok7en";

/// An option that takes a file: what stands before it, its letter, its long name, and what stands behind.
type OptionCase = (
    &'static str,
    Option<char>,
    Option<&'static str>,
    &'static str,
);

const OPTIONS: [OptionCase; 19] = [
    ("sort", Some('o'), Some("output"), "other"),
    ("sort -u", Some('T'), Some("temporary-directory"), "other"),
    ("shuf", Some('o'), Some("output"), "other"),
    ("iconv", Some('o'), Some("output"), "other"),
    ("date", Some('f'), Some("file"), ""),
    ("grep", Some('f'), Some("file"), "other"),
    ("diff", None, Some("from-file"), "other"),
    ("diff", None, Some("to-file"), "other"),
    ("wc", None, Some("files0-from"), ""),
    ("sort", None, Some("files0-from"), ""),
    ("du", Some('X'), Some("exclude-from"), "."),
    ("tar -c", Some('f'), Some("file"), "other"),
    ("tar -cf-", Some('T'), Some("files-from"), ""),
    ("tar -cf-", None, Some("add-file"), ""),
    ("sed -n", Some('f'), Some("file"), "other"),
    ("cp other", Some('t'), Some("target-directory"), ""),
    ("touch", Some('r'), Some("reference"), "other"),
    ("xargs -r echo", Some('a'), Some("arg-file"), ""),
    ("git diff --no-index", None, Some("output"), "other plain"),
];

/// Commands that name a file as a word: `@` is where it stands.
const OPERANDS: [&str; 30] = [
    "cat @",
    "tac @",
    "head -n1 @",
    "nl @",
    "od -c @",
    "cut -c1-9 @",
    "paste @ other",
    "comm other @",
    "join @ other",
    "uniq @",
    "uniq other @",
    "tee @",
    "cp other @",
    "cp @ made",
    "mv other @",
    "dd if=@",
    "dd if=other of=@",
    "sed -n p @",
    "sed -i s/t/x/ @",
    "sed 'r @' other",
    "sed -n 'w @' other",
    "awk 1 @",
    "truncate -s 0 @",
    "ln -f other @",
    "install other @",
    "split other @",
    "base64 @",
    "fmt @",
    "tar cf @ other",
    "rm @",
];

/// The file in one of its spellings.
fn file() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "f.env",
        "./f.env",
        "sub/../f.env",
        "'f.env'",
        "f\\.env",
        "\"f.env\"",
        "././f.env",
    ])
    .prop_map(str::to_owned)
}

/// An option with its value, in one of its spellings.
fn optioned() -> impl Strategy<Value = String> {
    let option = prop::sample::select(OPTIONS.to_vec());
    (option, file(), 0..6_usize, 1..20_usize).prop_map(|(option, file, how, cut)| {
        let (before, letter, long, behind) = option;
        let long = long.unwrap_or_default();
        let short = &long[..cut.min(long.len())];
        let given = match (how, letter) {
            (0, Some(letter)) => format!("-{letter} {file}"),
            (1 | 2, Some(letter)) => format!("-{letter}{file}"),
            (3, _) => format!("--{short} {file}"),
            (4, _) => format!("--{short}={file}"),
            _ => format!("--{long}={file}"),
        };
        format!("{before} {given} {behind}")
    })
}

fn command() -> impl Strategy<Value = String> {
    let operand = (prop::sample::select(OPERANDS.to_vec()), file());
    let operand = operand.prop_map(|(template, file)| {
        // Within quotes of its own the plain name stands.
        let file = if template.contains('\'') {
            "f.env"
        } else {
            &file
        };
        template.replace('@', file)
    });
    let around = prop::sample::select(vec!["", "env ", "timeout 5 ", "nice -n 1 ", "command "]);
    (around, prop_oneof![optioned(), operand])
        .prop_map(|(around, command)| format!("{around}{command}"))
}

/// Uses of the file by a command that ran.
struct CommandTrace {
    is_read: bool,
    is_written: bool,
}

fn run(command: &str) -> CommandTrace {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    for (name, text) in [("f.env", TOKEN), ("other", "text"), ("plain", "more")] {
        fs::write(at(name), format!("{text}\n")).unwrap();
    }
    let output = Command::new("bash")
        .args(["-c", command])
        .current_dir(folder.path())
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let says = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(TOKEN);
    let made = || fs::read_to_string(at("made")).is_ok_and(|text| text.contains(TOKEN));
    CommandTrace {
        is_read: says(&output.stdout) || says(&output.stderr) || made(),
        is_written: fs::read_to_string(at("f.env")).ok() != Some(format!("{TOKEN}\n")),
    }
}

/// Whether the facts of a command name the file with one of these capabilities.
fn sees(command: &str, capabilities: &[Capability]) -> bool {
    let facts = shell::parse_command(command);
    facts.accesses().iter().any(|touch| {
        let is_file = Path::new(&touch.target)
            .file_name()
            .is_some_and(|name| name == "f.env");
        is_file && capabilities.contains(&touch.capability)
    })
}

#[test]
fn what_a_program_does_with_a_file_was_seen() {
    let cases = std::env::var("FUZZ_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(CASES);
    let (read, written) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&command(), |command| {
            let done = run(&command);
            read.set(read.get() + u32::from(done.is_read));
            written.set(written.get() + u32::from(done.is_written));
            if done.is_read {
                prop_assert!(sees(&command, &[Capability::FsRead]), "{command} read it");
            }
            if done.is_written {
                let changes = [Capability::FsWrite, Capability::FsDelete];
                prop_assert!(sees(&command, &changes), "{command} wrote it");
            }
            Ok(())
        })
        .unwrap();
    // Most cut options are ambiguous; where few of them work, nothing was compared.
    assert!(
        read.get() > cases / 10 && written.get() > cases / 10,
        "{read:?} {written:?}"
    );
}
