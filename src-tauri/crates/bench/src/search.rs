//! Our `grep` and `glob` beside ripgrep: the whole call beside the whole process, on the same tree, for the same lines.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use runtime::{GrepQuery, Workspace};
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::pairs::{Side, medians};
use crate::table::{Line, print, time, times};
use crate::tree::{self, RARE};

/// How often each side searches.
const ROUNDS: usize = 11;
/// More than any of the searches finds.
const MATCHES_MAX: usize = 1_000_000;

/// What is looked for.
enum Wanted {
    /// Lines that match.
    Lines(&'static str),
    /// Files whose name fits.
    Names(&'static str),
}

/// Measures every search and prints them.
pub fn run() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    tree::make(folder.path())?;
    let workspace = Workspace::open(folder.path())?;
    let mut lines = Vec::new();
    for (what, wanted) in [
        ("grep, a rare word", Wanted::Lines(RARE)),
        (
            "grep, a pattern that few lines match",
            Wanted::Lines(r"compute_\w+\(1999\d, 17\)"),
        ),
        (
            "grep, a line of every file",
            Wanted::Lines(r"_100 = compute"),
        ),
        ("glob, a third of all names", Wanted::Names("**/*.rs")),
        ("glob, one name", Wanted::Names("**/file19999.*")),
    ] {
        let (ours, theirs) = (
            ours(&workspace, &wanted)?.1,
            theirs(folder.path(), &wanted)?.1,
        );
        if ours != theirs {
            return Err(format!("{what}: {} found beside {}", ours.len(), theirs.len()).into());
        }
        let mut sides = [
            Side::new("ours", || Ok(self::ours(&workspace, &wanted)?.0)),
            Side::new("ripgrep", || Ok(self::theirs(folder.path(), &wanted)?.0)),
        ];
        let taken = medians(&mut sides, ROUNDS)?;
        let [took, rg] = taken.as_slice() else {
            return Err("two sides give two medians".into());
        };
        lines.push(Line {
            what: format!("{what} ({} found)", ours.len()),
            ours: time(*took),
            theirs: time(*rg),
            ratio: times(*took, *rg),
            aim: "1.2×",
        });
    }
    print("Search", &lines);
    Ok(())
}

/// How long it took, and what was found: paths, or paths with line numbers.
type Found = (Duration, BTreeSet<String>);

fn ours(workspace: &Workspace, wanted: &Wanted) -> Outcome<Found> {
    let cancel = CancellationToken::new();
    let began = Instant::now();
    match wanted {
        Wanted::Lines(pattern) => {
            let query = GrepQuery {
                pattern: (*pattern).to_owned(),
                ..GrepQuery::default()
            };
            let found = runtime::grep(workspace, &query, MATCHES_MAX, &cancel)?;
            let took = began.elapsed();
            let named = found.matches.iter();
            Ok((
                took,
                named.map(|m| format!("{}:{}", m.path, m.line)).collect(),
            ))
        }
        Wanted::Names(pattern) => {
            let found = runtime::glob(
                workspace,
                &runtime::GlobQuery::files(pattern, MATCHES_MAX),
                &cancel,
            )?;
            Ok((began.elapsed(), found.paths.into_iter().collect()))
        }
    }
}

fn theirs(root: &Path, wanted: &Wanted) -> Outcome<Found> {
    let mut rg = Command::new("rg");
    rg.current_dir(root)
        .args(["--hidden", "--no-require-git", "--glob", "!.git"]);
    match wanted {
        Wanted::Lines(pattern) => {
            rg.args(["--line-number", "--no-heading", "--regexp", pattern, "."])
        }
        Wanted::Names(pattern) => rg.args(["--files", "--glob", pattern, "."]),
    };
    let began = Instant::now();
    let output = rg.output()?;
    let took = began.elapsed();
    let text = String::from_utf8(output.stdout)?;
    let found = text.lines().map(|line| {
        let line = line.strip_prefix("./").unwrap_or(line);
        match wanted {
            Wanted::Lines(_) => line.splitn(3, ':').take(2).collect::<Vec<_>>().join(":"),
            Wanted::Names(_) => line.to_owned(),
        }
    });
    Ok((took, found.collect()))
}
