//! Tests of the tables: each row by its examples, and what moved, stands in tests, or was known before.

use super::row::{RawExample, RawRow};
use super::*;

/// The rows as they are written, each with whether it is about a guard.
fn tables() -> impl Iterator<Item = (RawRow, bool)> {
    let tables = [
        (include_str!("table.toml"), false),
        (include_str!("guards.toml"), true),
    ];
    tables.into_iter().flat_map(|(text, is_guards)| {
        let table: RawTable = toml::from_str(text).unwrap();
        table.row.into_iter().map(move |row| (row, is_guards))
    })
}

/// Returns the sentences on files, each with its content before, none if there was no file, and after.
fn describe_files(files: &[(&str, Option<&str>, &str)]) -> Vec<String> {
    let mut changed = ChangedValues::new(&|_, _| false);
    for (path, before, after) in files {
        changed.add(&ChangedFile {
            path,
            before: before.map(str::as_bytes),
            after: Some(after.as_bytes()),
        });
    }
    changed.into_sentences()
}

/// What a change gives by one row: the sentence on values, or the row that speaks of the whole file.
fn describe(example: &RawExample, row: &Row) -> Option<String> {
    let standard = LaterRuns::standard();
    let speaks = standard
        .find_rows(&example.path)
        .any(|found| found.row.raw.says == row.raw.says && found.row.raw.paths == row.raw.paths);
    let said = describe_files(&[(&example.path, example.before.as_deref(), &example.after)]);
    match row.compares_values() {
        false => speaks.then(|| row.raw.says.clone()),
        true => said
            .into_iter()
            .find(|said| said.starts_with(&row.raw.says)),
    }
}

#[test]
fn every_row_is_read_and_documented() {
    let standard = LaterRuns::standard();
    assert_eq!(standard.rows.len(), tables().count());
    for (row, _) in tables() {
        assert!(row.documented.len() > 20, "{}", row.program);
        assert!(!row.says.ends_with('.'), "{}", row.says);
        let has_values = !row.keys.is_empty() || row.lines.is_some() || row.gone.is_some();
        assert!(!has_values || row.harmless.is_some(), "{}", row.says);
        assert!(row.lines.is_none() || row.gone.is_none(), "{}", row.says);
    }
    let patterns: usize = tables().map(|(row, _)| row.paths.len()).sum();
    assert_eq!(standard.origins.len(), patterns);
}

#[test]
fn every_row_tells_its_change_and_no_harmless_one() {
    for (raw, is_guard) in tables() {
        let row = Row::from_raw(raw, is_guard).unwrap();
        let told = describe(&row.raw.example, &row);
        assert!(told.is_some(), "{:?}", row.raw.example);
        if let Some(harmless) = &row.raw.harmless {
            assert_eq!(describe(harmless, &row), None, "{harmless:?}");
        }
    }
}

#[test]
fn the_key_that_runs_counts_and_not_the_file() {
    let describe =
        |before: Option<&str>, after: &str| describe_files(&[("web/package.json", before, after)]);
    let with_script = r#"{"scripts": {"postinstall": "node setup.js", "test": "vitest"}}"#;
    assert_eq!(
        describe(Some(r#"{"scripts": {"test": "vitest"}}"#), with_script),
        ["npm runs this on the next install: `scripts.postinstall` is `node setup.js`."]
    );
    // What stands there already is no change, and what is taken away runs no more.
    assert!(describe(Some(with_script), &with_script.replace("vitest", "jest")).is_empty());
    assert!(describe(Some(with_script), "{}").is_empty());
    assert_eq!(describe(None, with_script).len(), 1);
    // Nobody can say what a broken file runs.
    assert!(describe(None, "{\"scripts\": {")[0].contains("cannot be read"));
}

#[test]
fn what_packages_bring_along_is_no_file_of_the_project() {
    let table = LaterRuns::standard();
    for (path, counts) in [
        ("package.json", true),
        ("web/Package.JSON", true),
        ("node_modules/a/package.json", false),
        ("node_modules/a/.github/workflows/ci.yml", false),
        ("src/package.json.md", false),
        ("/home/mira/other/.github/workflows/ci.yml", true),
    ] {
        assert_eq!(table.find_rows(path).next().is_some(), counts, "{path}");
    }
}

#[test]
fn what_moved_to_another_file_is_not_gone() {
    let view = "@login_required\ndef a(): ...\n";
    let moved = [("old.py", Some(view), ""), ("new.py", None, view)];
    assert!(describe_files(&moved).is_empty());
    assert_eq!(
        describe_files(&moved[..1]),
        ["The next run does without a check. Gone: `login_required`."]
    );
}

#[test]
fn guards_are_not_looked_for_in_tests_in_packages_or_in_what_git_had() {
    let change = |path| (path, Some("verify_tls = True\n"), "verify_tls = False\n");
    assert_eq!(describe_files(&[change("src/config.py")]).len(), 1);
    for path in [
        "tests/config.py",
        "src/test_config.py",
        "web/config.test.ts",
        "node_modules/a/config.js",
    ] {
        assert!(describe_files(&[change(path)]).is_empty(), "{path}");
    }
    let is_known = |_: &str, after: Option<&[u8]>| after.is_none();
    let mut changed = ChangedValues::new(&is_known);
    changed.add(&ChangedFile {
        path: ".github/CODEOWNERS",
        before: Some(b"* @a\n"),
        after: None,
    });
    assert!(changed.into_sentences().is_empty());
}

#[test]
fn a_switch_in_a_block_is_told_by_the_keys_that_lead_to_it() {
    let values = |is_on: bool| {
        format!("ingress:\n  auth:\n    enabled: {is_on}\nmetrics:\n  enabled: {is_on}\n")
    };
    let (on, off) = (values(true), values(false));
    assert_eq!(
        describe_files(&[("chart/values.yaml", Some(&on), &off)]),
        [
            "The next run does without a check of identity, rights, or encryption: `ingress.auth.enabled: false`."
        ]
    );
    assert!(describe_files(&[("chart/values.yaml", Some(&off), &on)]).is_empty());
}
