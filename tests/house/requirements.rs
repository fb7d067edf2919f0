//! The specifications' requirements: each has a test that names it, or stands in a table that says what brings it.

#[path = "open_requirements.rs"]
mod open;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use open::OPEN;

const LIST: &str = include_str!("../requirements.md");

/// Every id of the list, in its order.
fn listed_ids() -> Vec<String> {
    let ids = LIST.lines().filter_map(|line| line.strip_prefix("- `S"));
    ids.map(|rest| format!("S{}", &rest[..rest.find('`').unwrap()]))
        .collect()
}

/// The ids that a text names: `S002-73`, or `s002_73` within a name.
fn find_ids(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text
        .char_indices()
        .filter(|(_, sign)| matches!(sign, 'S' | 's'))
    {
        let rest = &text.as_bytes()[at + 1..];
        let digits = |from: usize| {
            rest.iter()
                .skip(from)
                .take_while(|byte| byte.is_ascii_digit())
        };
        let (spec, number) = (digits(0).count(), digits(4).count());
        if spec == 3 && (1..=3).contains(&number) && matches!(rest.get(3), Some(b'-' | b'_')) {
            let id = &text[at + 1..at + 5 + number];
            found.insert(format!("S{}", id.replace('_', "-")));
        }
    }
    found
}

/// The test code of a file: all of it in a folder of tests, else the module under `#[cfg(test)]` that stands in the file
/// itself, which is its end.
fn test_code<'a>(path: &Path, text: &'a str, test_modules: &BTreeSet<PathBuf>) -> &'a str {
    let name = path.file_name().unwrap().to_string_lossy();
    let whole = path.components().any(|part| part.as_os_str() == "tests")
        || name == "tests.rs"
        || name.ends_with(".test.ts")
        || test_modules.contains(&path.with_extension(""))
        || path
            .parent()
            .is_some_and(|folder| test_modules.contains(folder));
    let inner = text.match_indices("#[cfg(test)]\nmod ").find(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        rest.find(['{', ';'])
            .is_some_and(|end| rest[end..].starts_with('{'))
    });
    match inner.map(|(at, _)| at) {
        _ if whole => text,
        Some(at) if name.ends_with(".rs") => &text[at..],
        _ => "",
    }
}

/// Modules that are compiled for tests alone, as paths without an ending.
fn test_modules(files: &[(PathBuf, String)]) -> BTreeSet<PathBuf> {
    let mut modules = BTreeSet::new();
    for (path, text) in files {
        for (at, mark) in text.match_indices("#[cfg(test)]\nmod ") {
            let rest = &text[at + mark.len()..];
            let end = rest.find(|sign: char| !sign.is_alphanumeric() && sign != '_');
            let folder = match path.file_stem().unwrap().to_str().unwrap() {
                "lib" | "mod" | "main" => path.parent().unwrap().to_owned(),
                _ => path.with_extension(""),
            };
            modules.insert(folder.join(&rest[..end.unwrap()]));
        }
    }
    modules
}

/// The part of test code in which an id counts: each test with the comments directly above it, and the strings and names of
/// the tables and helpers between tests. A comment that stands anywhere else proves nothing.
fn proving_text(path: &Path, code: &str) -> String {
    let (marks, comment): (&[&str], &str) = match path.extension().and_then(|e| e.to_str()) {
        Some("rs") => (&["#[test]", "#[tokio::test"], "//"),
        Some("ts") => (&["it(", "it.each", "test(", "test.each"], "//"),
        _ => (&["[["], "#"),
    };
    let lines: Vec<&str> = code.lines().collect();
    let mut proving = String::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim_start();
        let end = match marks.iter().any(|mark| line.starts_with(mark)) {
            true => test_end(&lines, at),
            false => at,
        };
        let attached = comments_above(&lines, at);
        let kept: Vec<&str> = match end > at {
            true => lines[at - attached..=end].to_vec(),
            false => vec![without_comment(lines[at], comment)],
        };
        for line in kept {
            proving.push_str(line);
            proving.push('\n');
        }
        at = end + 1;
    }
    proving
}

/// The index of a test's last line: the first one after `start` that closes a block at the indentation of the test.
fn test_end(lines: &[&str], start: usize) -> usize {
    let indent = lines[start].len() - lines[start].trim_start().len();
    let closes = |line: &&str| {
        let rest = line.get(indent..).unwrap_or_default();
        line[..indent.min(line.len())].trim().is_empty() && rest.starts_with(['}', ']'])
    };
    // A table row in TOML ends where the next one begins.
    let ends = |line: &&str| closes(line) || line.is_empty() && lines[start].starts_with("[[");
    let body = lines[start + 1..].iter().position(ends);
    body.map_or(start, |after| start + 1 + after)
}

/// How many lines directly above `start` are comments or attributes.
fn comments_above(lines: &[&str], start: usize) -> usize {
    let belongs = |line: &&&str| {
        let line = line.trim_start();
        line.starts_with("//") && !line.starts_with("//!") || line.starts_with("#[")
    };
    lines[..start].iter().rev().take_while(belongs).count()
}

/// A line up to the comment that ends it. What marks a comment is one at the beginning of a line or after a space.
fn without_comment<'a>(line: &'a str, mark: &str) -> &'a str {
    let is_comment = |at: &usize| {
        at.checked_sub(1)
            .is_none_or(|before| line.as_bytes()[before] == b' ')
    };
    let start = line.match_indices(mark).map(|(at, _)| at).find(is_comment);
    start.map_or(line, |at| &line[..at])
}

/// Which files' tests name each id.
fn collect_proofs() -> BTreeMap<String, Vec<String>> {
    let root = crate::house::source_rules::repo_root();
    let files: Vec<(PathBuf, String)> =
        crate::house::source_rules::list_source_files(&[".rs", ".ts", ".toml"])
            .into_iter()
            .filter(|path| {
                let name = path.file_name().unwrap().to_string_lossy();
                !matches!(&*name, "requirements.rs" | "open_requirements.rs")
            })
            .map(|path| {
                let text = std::fs::read_to_string(&path).unwrap();
                (path.strip_prefix(&root).unwrap().to_owned(), text)
            })
            .collect();
    let modules = test_modules(&files);
    let mut proofs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in &files {
        for id in find_ids(&proving_text(path, test_code(path, text, &modules))) {
            proofs
                .entry(id)
                .or_default()
                .push(path.display().to_string());
        }
    }
    proofs
}

#[test]
fn every_requirement_is_proven_or_accounted_for() {
    let (listed, proofs) = (listed_ids(), collect_proofs());
    assert!(listed.len() > 300, "the list was not read");
    let open: BTreeMap<&str, &str> = OPEN.iter().copied().collect();
    let mut wrong = Vec::new();
    for id in &listed {
        match (proofs.get(id), open.get(id.as_str())) {
            (Some(_), None) | (None, Some(_)) => {}
            (None, None) => wrong.push(format!("{id} is named by no test")),
            (Some(files), Some(what)) => wrong.push(format!(
                "{id} is proven in {files:?} and still waits for {what}; take it from the table"
            )),
        }
    }
    let known: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
    let strange = proofs
        .keys()
        .map(String::as_str)
        .chain(open.keys().copied());
    wrong.extend(
        strange
            .filter(|id| !known.contains(id))
            .map(|id| format!("{id} is no requirement")),
    );
    assert_eq!(open.len(), OPEN.len(), "an id stands twice in the table");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_comment_beside_no_test_proves_nothing() {
    let proves = |path: &str, code: &str| {
        let ids = find_ids(&proving_text(Path::new(path), code));
        ids.into_iter().collect::<Vec<_>>()
    };
    let rust = "//! S001-01\n// S001-02\nconst TABLE: [&str; 1] = [\n    \"S001-03\", // S001-04\n];\n\n\
                /// S001-05\n#[tokio::test(start_paused = true)]\nasync fn s001_06() {\n    // S001-07\n}\n// S001-08\n";
    assert_eq!(
        proves("a.rs", rust),
        ["S001-03", "S001-05", "S001-06", "S001-07"]
    );
    let script = "// S001-01\n\nit('says (S001-02)', () => {\n  // S001-03\n});\n";
    assert_eq!(proves("a.test.ts", script), ["S001-02", "S001-03"]);
    let table = "# S001-01\n\n[[case]]\nname = \"S001-02\"\n";
    assert_eq!(proves("a.toml", table), ["S001-02"]);
}

#[test]
fn ids_are_found_where_they_stand() {
    let ids = |text| find_ids(text).into_iter().collect::<Vec<_>>();
    assert_eq!(ids("(`S002-73`, S002-104.)"), ["S002-104", "S002-73"]);
    assert_eq!(ids("fn example_call_parses_s000_43()"), ["S000-43"]);
    assert_eq!(
        ids("S02-73 S0021-7 is s_0 strings sS"),
        Vec::<String>::new()
    );
    let none = BTreeSet::new();
    let code = |path: &str, text| test_code(Path::new(path), text, &none);
    let inner = "#[cfg(test)]\nmod tests { two }";
    let both = format!("one #[cfg(test)]\nmod other;\n doc {inner}");
    assert_eq!(code("a/src/b.rs", &both), inner);
    assert_eq!(code("a/src/b.rs", "#[cfg(test)]\nmod other;\n doc"), "");
    assert_eq!(code("a/tests/b.rs", "one"), "one");
    assert_eq!(code("a/src/b.ts", "one"), "");
}
