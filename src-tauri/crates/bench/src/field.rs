//! Puts Countersign beside other programs of its kind, in one table: how large they are, what they take, what they ask, and
//! what they let through and take back.
//!
//! Of others stands here what was published, with its source and date (`field.toml`); where nothing was, the table says so.
//! Of ours what takes a minute is measured at once, as far as it was built; the rest was measured before (`results.toml`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::BenchResult;
use crate::app_start::measure_starts;
use crate::process_tree::format_mebibytes;
use crate::results_table::format_time;

const PUBLISHED: &str = include_str!("../field.toml");
const KEPT: &str = include_str!("../results.toml");

/// Source of a figure of another program that was measured with this repository's own means.
const MEASURED_HERE: &str = "here";
/// Programs that an installation has.
const PROGRAMS: [&str; 3] = ["countersign-desktop", "countersign", "countersign-sandbox"];
/// Endings of packages; each kind lies in a folder with that name in lower case.
const PACKAGE_ENDINGS: [&str; 3] = ["deb", "rpm", "AppImage"];

/// What the programs are compared in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Subject {
    Package,
    Start,
    Memory,
    Idle,
    LongSession,
    Questions,
    Harms,
    Undo,
}

/// The lines of the table, in their order.
const LINES: [(Subject, &str); 8] = [
    (Subject::Package, "package"),
    (Subject::Start, "start to the picture that stays"),
    (Subject::Memory, "memory after the start"),
    (Subject::Idle, "idle"),
    (Subject::LongSession, "a session of 100,000 entries, opened"),
    (Subject::Questions, "questions a day"),
    (Subject::Harms, "harms that pass"),
    (Subject::Undo, "undo"),
];

/// The figures of others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedFigures {
    /// Columns of the table, in their order.
    program: Vec<Program>,
    figure: Vec<PublishedFigure>,
}

/// Another program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    name: String,
    /// What stands where it has no figure.
    missing: String,
}

/// A figure of another program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedFigure {
    subject: Subject,
    program: String,
    version: String,
    figure: String,
    /// Where it was published, or [`MEASURED_HERE`].
    source: String,
    /// Day of the publication, or on which a page without a date was read.
    date: String,
}

/// The figures of ours that were measured before.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptFigures {
    result: Vec<KeptFigure>,
}

/// A figure of ours that was measured before.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptFigure {
    subject: Subject,
    figure: String,
    /// What measured it.
    by: String,
    commit: String,
    date: String,
}

/// A figure of ours that was measured just now.
struct FreshFigure {
    subject: Subject,
    figure: String,
}

/// Measures what is quick and prints the table.
pub fn run() -> BenchResult<()> {
    let published: PublishedFigures = toml::from_str(PUBLISHED)?;
    let kept: KeptFigures = toml::from_str(KEPT)?;
    check_programs(&published)?;
    let fresh = measure_fresh_figures()?;
    let commit = read_commit()?;
    println!("\n## Beside others\n");
    let names = published
        .program
        .iter()
        .map(|program| program.name.as_str());
    println!(
        "| | Countersign | {} |",
        names.collect::<Vec<_>>().join(" | ")
    );
    println!("|---|---|{}", "---|".repeat(published.program.len()));
    for (subject, title) in LINES {
        let ours = format_ours(subject, &fresh, &kept, &commit);
        let theirs = published
            .program
            .iter()
            .map(|program| format_theirs(subject, program, &published.figure));
        let cells: Vec<String> = std::iter::once(ours).chain(theirs).collect();
        println!("| {title} | {} |", cells.join(" | "));
    }
    Ok(())
}

fn check_programs(published: &PublishedFigures) -> BenchResult<()> {
    let is_known = |name: &str| published.program.iter().any(|known| known.name == name);
    let mut programs = published.figure.iter().map(|figure| &figure.program);
    match programs.find(|program| !is_known(program)) {
        Some(program) => Err(format!("field.toml has no column for {program}").into()),
        None => Ok(()),
    }
}

/// Formats what is known of ours: what was measured now, else what was measured before.
fn format_ours(
    subject: Subject,
    fresh: &[FreshFigure],
    kept: &KeptFigures,
    commit: &str,
) -> String {
    let fresh = fresh.iter().filter(|figure| figure.subject == subject);
    let now: Vec<String> = fresh
        .map(|figure| format!("{} (now, {commit})", figure.figure))
        .collect();
    if !now.is_empty() {
        return now.join("; ");
    }
    let kept = kept.result.iter().filter(|kept| kept.subject == subject);
    let before: Vec<String> = kept.map(format_kept).collect();
    match before.is_empty() {
        true => "not measured yet".to_owned(),
        false => before.join("; "),
    }
}

fn format_kept(kept: &KeptFigure) -> String {
    let KeptFigure {
        figure,
        by,
        commit,
        date,
        ..
    } = kept;
    format!("{figure} ({by}, {commit}, {date})")
}

fn format_theirs(subject: Subject, program: &Program, published: &[PublishedFigure]) -> String {
    let known = published
        .iter()
        .filter(|figure| figure.subject == subject && figure.program == program.name);
    let known: Vec<String> = known.map(format_published).collect();
    match known.is_empty() {
        true => program.missing.clone(),
        false => known.join("; "),
    }
}

fn format_published(published: &PublishedFigure) -> String {
    let PublishedFigure {
        version,
        figure,
        source,
        date,
        ..
    } = published;
    match source.as_str() {
        MEASURED_HERE => format!("{figure} ({version}, measured here {date})"),
        source => format!("[{figure}]({source}) ({version}, {date})"),
    }
}

/// Measures what is built beside this program: packages, programs, and the starts of the app.
fn measure_fresh_figures() -> BenchResult<Vec<FreshFigure>> {
    let here = std::env::current_exe()?;
    let release = here.parent().ok_or("this program has no folder")?;
    let mut fresh = Vec::new();
    for ending in PACKAGE_ENDINGS {
        if let Some(bytes) = newest_package_bytes(release, ending) {
            fresh.push(FreshFigure {
                subject: Subject::Package,
                figure: format!("{} `.{ending}`", format_megabytes(bytes)),
            });
        }
    }
    let programs = PROGRAMS.map(|program| release.join(program));
    let sizes = programs.iter().map(|program| file_bytes(program));
    let Some(bytes) = sizes.sum::<Option<u64>>() else {
        println!(
            "Programs, start, and memory are not measured now: build {} in {}.",
            PROGRAMS.join(", "),
            release.display()
        );
        return Ok(fresh);
    };
    fresh.push(FreshFigure {
        subject: Subject::Package,
        figure: format!("{} of programs, unpacked", format_megabytes(bytes)),
    });
    let [app, ..] = programs;
    match measure_starts(&app) {
        Ok(start) => fresh.extend([
            FreshFigure {
                subject: Subject::Start,
                figure: format_time(start.drawn),
            },
            FreshFigure {
                subject: Subject::Memory,
                figure: format_mebibytes(start.memory_kib),
            },
        ]),
        Err(error) => println!("Start and memory are not measured now: {error}."),
    }
    Ok(fresh)
}

/// Size of the newest package with an ending; none where none was written.
fn newest_package_bytes(release: &Path, ending: &str) -> Option<u64> {
    let folder = release.join("bundle").join(ending.to_lowercase());
    let packages = std::fs::read_dir(folder).ok()?;
    let packages = packages.filter_map(|entry| Some(entry.ok()?.path()));
    let packages = packages.filter(|path| path.extension().is_some_and(|known| known == ending));
    let newest: PathBuf =
        packages.max_by_key(|path| path.metadata().and_then(|it| it.modified()).ok())?;
    file_bytes(&newest)
}

fn file_bytes(file: &Path) -> Option<u64> {
    file.metadata().ok().map(|metadata| metadata.len())
}

fn format_megabytes(bytes: u64) -> String {
    let tenths = (bytes + 50_000) / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

/// Returns the commit that is checked out, short.
fn read_commit() -> BenchResult<String> {
    let said = Command::new("git")
        .args(["rev-parse", "--short=8", "HEAD"])
        .output()?;
    Ok(String::from_utf8(said.stdout)?.trim().to_owned())
}
