//! Rows of data that a change takes from a file or writes anew. Git has the old ones, and still nobody looks for a row that
//! says something else.

use std::collections::HashMap;

use super::ChangedFile;
use super::row::is_test;

/// Endings of files each line of which is a row of data.
const DATA_ENDINGS: &[&str] = &[".csv", ".tsv", ".jsonl", ".ndjson"];

/// Whether a file holds rows of data.
pub(super) fn may_hold_rows(path: &str) -> bool {
    DATA_ENDINGS.iter().any(|ending| path.ends_with(ending)) && !is_test(path)
}

/// Returns a sentence on the rows that are gone from a file, or say something else; none if all are there.
pub(super) fn describe_gone_rows(file: &ChangedFile<'_>) -> Option<String> {
    let (before, after) = (file.before?, file.after?);
    if !may_hold_rows(file.path) {
        return None;
    }
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    for row in split_rows(after) {
        *known.entry(row).or_default() += 1;
    }
    let mut rows = 0;
    let mut gone = 0;
    for row in split_rows(before) {
        rows += 1;
        match known.get_mut(row) {
            Some(count @ 1..) => *count -= 1,
            Some(0) | None => gone += 1,
        }
    }
    let path = file.path;
    (gone > 0).then(|| format!("Rows of data are gone or changed: {gone} of {rows} in `{path}`."))
}

/// The rows of a file, without blank ones and without what ends a line.
fn split_rows(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let rows = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    rows.filter(|row| !row.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_is_gone_is_told_and_a_new_one_is_not() {
        let describe = |path, after: Option<&str>| {
            describe_gone_rows(&ChangedFile {
                path,
                before: Some(b"id,limit\n1,4.5\n2,2.8\n"),
                after: after.map(str::as_bytes),
            })
        };
        let said = "Rows of data are gone or changed: 1 of 3 in `data/a.csv`.";
        assert_eq!(
            describe("data/a.csv", Some("id,limit\n1,9.5\n2,2.8\n")).as_deref(),
            Some(said)
        );
        assert_eq!(
            describe("data/a.csv", Some("id,limit\n2,2.8\n")).as_deref(),
            Some(said)
        );
        for (path, after) in [
            ("data/a.csv", Some("id,limit\r\n2,2.8\r\n1,4.5\r\n3,1\r\n")),
            // Whoever removes the file is asked by what it loses.
            ("data/a.csv", None),
            ("data/a.md", Some("")),
            ("tests/data/a.csv", Some("")),
        ] {
            assert_eq!(describe(path, after), None, "{path} {after:?}");
        }
    }
}
