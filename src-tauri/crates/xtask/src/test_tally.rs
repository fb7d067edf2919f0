//! Adds up the counts of the test runners, so that a run ends in one line.

use std::fmt;

/// Tests that passed, failed and were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestTally {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, and checks that failed.
    pub failed: u64,
    /// Tests that were skipped on purpose.
    pub skipped: u64,
}

impl TestTally {
    /// Reads one line of a runner's output; only a runner's closing line changes the counts.
    pub fn read_line(&mut self, line: &str) {
        let line = strip_colors(line);
        let line = line.trim();
        if let Some(counts) = line.strip_prefix("test result: ") {
            // cargo test: "ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s"
            self.add_counts(counts.split([';', '.']));
        } else if let Some(counts) = line.strip_prefix("Tests ") {
            // vitest: "Tests  1 failed | 3 passed | 2 skipped (6)"
            self.add_counts(counts.split('|'));
        }
    }

    /// Adds another runner's counts.
    pub fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    fn add_counts<'a>(&mut self, counts: impl Iterator<Item = &'a str>) {
        for count in counts {
            let mut words = count.split_whitespace();
            let (Some(Ok(number)), Some(kind)) =
                (words.next().map(str::parse::<u64>), words.next())
            else {
                continue;
            };
            match kind {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" | "skipped" | "todo" => self.skipped += number,
                _ => {}
            }
        }
    }
}

impl fmt::Display for TestTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// Returns the line without terminal colour sequences (`ESC [ … letter`).
fn strip_colors(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' {
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted_and_others_are_not() {
        let table = [
            (
                "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s",
                (5, 0, 1),
            ),
            (
                "test result: FAILED. 4 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 2.50s",
                (4, 3, 0),
            ),
            ("      Tests  3 passed (3)", (3, 0, 0)),
            (
                "\u{1b}[2m      Tests \u{1b}[22m \u{1b}[1m\u{1b}[31m1 failed\u{1b}[39m\u{1b}[22m | 3 passed | 2 skipped | 1 todo (7)",
                (3, 1, 3),
            ),
            (" Test Files  2 passed (2)", (0, 0, 0)),
            ("test tests::a_case ... ok", (0, 0, 0)),
            ("9 passed, 9 failed", (0, 0, 0)),
            ("", (0, 0, 0)),
        ];
        for (line, (passed, failed, skipped)) in table {
            let mut tally = TestTally::default();
            tally.read_line(line);
            assert_eq!(
                tally,
                TestTally {
                    passed,
                    failed,
                    skipped
                },
                "{line}"
            );
        }
    }

    #[test]
    fn the_sum_is_one_plain_line() {
        let mut tally = TestTally::default();
        tally.read_line("test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        tally.read_line("  Tests  1 failed | 3 passed (4)");
        assert_eq!(tally.to_string(), "8 passed, 1 failed, 1 skipped");
    }
}
