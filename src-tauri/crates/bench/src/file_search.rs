//! Measures our `grep` and `glob` beside ripgrep: the whole call beside the whole process, on the same tree, for the
//! same lines.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use runtime::{GrepQuery, Workspace};
use tokio_util::sync::CancellationToken;

use crate::BenchResult;
use crate::paired_timing::{Contender, measure_medians};
use crate::results_table::{TableRow, format_ratio, format_time, print_table};
use crate::search_tree::{self, RARE_WORD};

/// Number of searches per side.
const ROUNDS: usize = 11;
/// Limit of matches, higher than the number of matches of any search.
const MATCHES_MAX: usize = 1_000_000;

/// Target of a search.
enum SearchQuery {
    /// Lines that match a pattern.
    Lines(&'static str),
    /// Files whose name matches a pattern.
    Names(&'static str),
}

/// Measures every search and prints the results.
pub fn run() -> BenchResult<()> {
    let folder = tempfile::tempdir()?;
    search_tree::create_tree(folder.path())?;
    let workspace = Workspace::open(folder.path())?;
    let mut lines = Vec::new();
    for (what, wanted) in [
        ("grep, a rare word", SearchQuery::Lines(RARE_WORD)),
        (
            "grep, a pattern that few lines match",
            SearchQuery::Lines(r"compute_\w+\(1999\d, 17\)"),
        ),
        (
            "grep, a line of every file",
            SearchQuery::Lines(r"_100 = compute"),
        ),
        ("glob, a third of all names", SearchQuery::Names("**/*.rs")),
        ("glob, one name", SearchQuery::Names("**/file19999.*")),
    ] {
        let (ours, theirs) = (
            search_with_engine(&workspace, &wanted)?.1,
            search_with_ripgrep(folder.path(), &wanted)?.1,
        );
        if ours != theirs {
            return Err(format!("{what}: {} found beside {}", ours.len(), theirs.len()).into());
        }
        let mut sides = [
            Contender::new("ours", || {
                Ok(self::search_with_engine(&workspace, &wanted)?.0)
            }),
            Contender::new("ripgrep", || {
                Ok(self::search_with_ripgrep(folder.path(), &wanted)?.0)
            }),
        ];
        let taken = measure_medians(&mut sides, ROUNDS)?;
        let [took, rg] = taken.as_slice() else {
            return Err("two sides give two medians".into());
        };
        lines.push(TableRow {
            what: format!("{what} ({} found)", ours.len()),
            ours: format_time(*took),
            theirs: format_time(*rg),
            ratio: format_ratio(*took, *rg),
            aim: "1.2×",
        });
    }
    print_table("Search", &lines);
    Ok(())
}

/// Duration of a search, and its matches: paths, or paths with line numbers.
type TimedMatches = (Duration, BTreeSet<String>);

fn search_with_engine(workspace: &Workspace, wanted: &SearchQuery) -> BenchResult<TimedMatches> {
    let cancel = CancellationToken::new();
    let began = Instant::now();
    match wanted {
        SearchQuery::Lines(pattern) => {
            let query = GrepQuery {
                pattern: (*pattern).to_owned(),
                ..GrepQuery::default()
            };
            let found = runtime::search_lines(workspace, &query, MATCHES_MAX, &cancel)?;
            let took = began.elapsed();
            let named = found.matches.iter();
            Ok((
                took,
                named.map(|m| format!("{}:{}", m.path, m.line)).collect(),
            ))
        }
        SearchQuery::Names(pattern) => {
            let found = runtime::find_files(
                workspace,
                &runtime::GlobQuery::files_matching(pattern, MATCHES_MAX),
                &cancel,
            )?;
            Ok((began.elapsed(), found.paths.into_iter().collect()))
        }
    }
}

fn search_with_ripgrep(root: &Path, wanted: &SearchQuery) -> BenchResult<TimedMatches> {
    let mut rg = Command::new("rg");
    rg.current_dir(root)
        .args(["--hidden", "--no-require-git", "--glob", "!.git"]);
    match wanted {
        SearchQuery::Lines(pattern) => {
            rg.args(["--line-number", "--no-heading", "--regexp", pattern, "."])
        }
        SearchQuery::Names(pattern) => rg.args(["--files", "--glob", pattern, "."]),
    };
    let began = Instant::now();
    let output = rg.output()?;
    let took = began.elapsed();
    let text = String::from_utf8(output.stdout)?;
    let found = text.lines().map(|line| {
        let line = line.strip_prefix("./").unwrap_or(line);
        match wanted {
            SearchQuery::Lines(_) => line.splitn(3, ':').take(2).collect::<Vec<_>>().join(":"),
            SearchQuery::Names(_) => line.to_owned(),
        }
    });
    Ok((took, found.collect()))
}
