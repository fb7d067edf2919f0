//! What the README says of Countersign beside others are the figures that are written down with their sources.

use serde::Deserialize;

use super::source_rules::repo_root;

/// Figures of others.
#[derive(Deserialize)]
struct PublishedFigures {
    program: Vec<Program>,
    figure: Vec<PublishedFigure>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
}

#[derive(Deserialize)]
struct PublishedFigure {
    program: String,
    version: String,
    figure: String,
    source: String,
    date: String,
}

/// Figures of ours.
#[derive(Deserialize)]
struct KeptFigures {
    result: Vec<KeptFigure>,
}

#[derive(Deserialize)]
struct KeptFigure {
    figure: String,
    by: String,
    commit: String,
    date: String,
}

fn read_file(path: &str) -> String {
    std::fs::read_to_string(repo_root().join(path)).unwrap()
}

/// Each figure as `bench field` prints it.
fn list_cells() -> Vec<String> {
    let published: PublishedFigures =
        toml::from_str(&read_file("src-tauri/crates/bench/field.toml")).unwrap();
    let kept: KeptFigures =
        toml::from_str(&read_file("src-tauri/crates/bench/results.toml")).unwrap();
    for figure in &published.figure {
        let mut programs = published.program.iter();
        assert!(programs.any(|program| program.name == figure.program));
    }
    let theirs = published.figure.iter().map(|it| match it.source.as_str() {
        "here" => format!("{} ({}, measured here {})", it.figure, it.version, it.date),
        source => format!("[{}]({source}) ({}, {})", it.figure, it.version, it.date),
    });
    let ours = kept
        .result
        .iter()
        .map(|it| format!("{} ({}, {}, {})", it.figure, it.by, it.commit, it.date));
    theirs.chain(ours).collect()
}

#[test]
fn the_readme_shows_the_figures_that_are_written_down() {
    let readme = read_file("README.md");
    let (_, table) = readme.split_once("\n## Beside others\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let cells = list_cells();
    assert!(cells.len() > 10, "only {} figures were found", cells.len());
    let missing: Vec<_> = cells.iter().filter(|cell| !table.contains(*cell)).collect();
    assert!(
        missing.is_empty(),
        "the README does not show these figures as `cargo xtask bench -- field` prints them: {missing:#?}"
    );
    let addresses = table.matches("](https://").count();
    let sources = cells
        .iter()
        .filter(|cell| cell.contains("](https://"))
        .count();
    assert_eq!(
        addresses, sources,
        "the README has figures that are not written down"
    );
}
