//! Rows of data that a change takes from a file, or writes anew.

use super::line_changes::LineChanges;

/// Endings of files each line of which is a row of data: nobody writes one again that is gone.
const DATA_ENDINGS: &[&str] = &[".csv", ".tsv", ".jsonl", ".ndjson"];

/// Rows that are gone from a file, or say something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoneRows {
    /// How many there were.
    pub rows: usize,
    /// How many of them are gone.
    pub gone: usize,
}

/// Endings of files that hold data where they lie in a folder for it.
const STRUCTURED_ENDINGS: &[&str] = &[".json", ".yaml", ".yml"];

/// Names of folders for data.
const DATA_FOLDERS: &[&str] = &["data", "dataset", "datasets"];

/// Whether each line of a file is a row of data.
pub fn holds_rows(path: &str) -> bool {
    let ends_with = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
    let mut folders = path.split('/').rev().skip(1);
    ends_with(DATA_ENDINGS)
        || ends_with(STRUCTURED_ENDINGS) && folders.any(|name| DATA_FOLDERS.contains(&name))
}

/// Returns the rows that are gone; none if all are there, wherever.
pub fn find_gone_rows(before: &[u8], after: &[u8]) -> Option<GoneRows> {
    let LineChanges { lines, kept, .. } = LineChanges::compare(before, after);
    (kept < lines).then(|| GoneRows {
        rows: lines,
        gone: lines - kept,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_changes_is_gone_and_one_that_moves_is_not() {
        let before = b"id,limit\n1,4.5\n2,2.8\n";
        let one = Some(GoneRows { rows: 3, gone: 1 });
        assert_eq!(find_gone_rows(before, b"id,limit\n1,9.5\n2,2.8\n"), one);
        assert_eq!(find_gone_rows(before, b"id,limit\n2,2.8\n"), one);
        let moved = b"id,limit\r\n2,2.8\r\n1,4.5\r\n3,1\r\n";
        assert_eq!(find_gone_rows(before, moved), None);
        assert!(holds_rows("a.csv") && !holds_rows("data/a.md"));
        assert!(holds_rows("app/data/plans.yaml") && !holds_rows("app/plans.yaml"));
    }
}
