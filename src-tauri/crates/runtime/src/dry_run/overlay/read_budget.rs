//! The limit on how much is read to find the changes of a command.

use std::collections::BTreeMap;

use crate::fs::dir::FileStat;
use crate::limits::DIFF_READ_BYTES_MAX;

/// The side of a command on which a file stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dry_run) enum DiffSide {
    Before,
    After,
}

/// Counts the bytes that are read. A file that stands on both sides with the same length and time counts once, at
/// whatever paths: so does one that was only renamed, or got another mode. At most twice the limit is read.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct ReadBudget {
    bytes: u64,
    /// How many files of a length and time stood before, and after.
    alike: BTreeMap<(u64, i64), (u64, u64)>,
}

impl ReadBudget {
    /// Counts a file that is about to be read.
    ///
    /// # Errors
    /// Why the file is not read: it would exceed the limit together with those counted before.
    pub(in crate::dry_run) fn count_file(
        &mut self,
        side: DiffSide,
        file: &FileStat,
    ) -> Result<(), String> {
        let (before, after) = self.alike.entry((file.bytes, file.mtime_ns)).or_default();
        let (ours, others) = match side {
            DiffSide::Before => (before, after),
            DiffSide::After => (after, before),
        };
        *ours += 1;
        if *ours > *others {
            self.bytes = self.bytes.saturating_add(file.bytes);
        }
        match self.bytes > DIFF_READ_BYTES_MAX {
            true => Err(format!(
                "what it changed is longer than {} MiB, before and after together",
                DIFF_READ_BYTES_MAX >> 20
            )),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::workspace::PathKind;

    #[test]
    fn a_file_on_both_sides_counts_once() {
        use DiffSide::{After, Before};
        const MOST: u64 = DIFF_READ_BYTES_MAX;
        type Files = &'static [(DiffSide, u64, i64)];
        let table: &[(&str, Files, bool)] = &[
            ("renamed", &[(Before, MOST, 1), (After, MOST, 1)], true),
            (
                "whichever side is first",
                &[(After, MOST, 1), (Before, MOST, 1)],
                true,
            ),
            (
                "of another time",
                &[(Before, MOST, 1), (After, MOST, 2)],
                false,
            ),
            (
                "of another length",
                &[(Before, MOST, 1), (After, MOST - 1, 1)],
                false,
            ),
            (
                "a copy beside it",
                &[(After, MOST, 1), (After, MOST, 1)],
                false,
            ),
            (
                "renamed, and a copy beside it",
                &[(Before, MOST, 1), (After, MOST, 1), (After, MOST, 1)],
                false,
            ),
            ("too long by itself", &[(After, MOST + 1, 1)], false),
            (
                "halves",
                &[
                    (Before, MOST / 2, 1),
                    (After, MOST / 2, 1),
                    (Before, MOST / 2, 2),
                ],
                true,
            ),
        ];
        for (what, files, fits) in table {
            let mut reading = ReadBudget::default();
            let each = files.iter().map(|(side, bytes, mtime_ns)| {
                let stat = FileStat {
                    kind: PathKind::File,
                    bytes: *bytes,
                    mode: 0o644,
                    mtime_ns: *mtime_ns,
                };
                reading.count_file(*side, &stat)
            });
            let counted: Result<Vec<()>, String> = each.collect();
            assert_eq!(counted.is_ok(), *fits, "{what}");
        }
    }
}
