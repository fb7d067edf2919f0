//! The tests that failed, and what they printed, read from the output of Rust's test runner.

use std::collections::BTreeMap;
use std::fmt;

/// Maximum number of lines that are kept of what one test printed.
const LINES_MAX: usize = 40;

/// Tests that failed, each with what it printed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FailedTests {
    names: Vec<String>,
    printed: BTreeMap<String, Vec<String>>,
    /// The test whose lines are being read.
    current: Option<String>,
}

impl FailedTests {
    /// Reads one line of a runner's output.
    pub fn read_line(&mut self, line: &str) {
        if let Some(name) = parse_failed_test(line) {
            self.names.push(name.to_owned());
        } else if let Some(name) = parse_heading(line) {
            self.current = Some(name.to_owned());
        } else if is_end_of_printed(line) {
            self.current = None;
        } else if let Some(name) = &self.current {
            let lines = self.printed.entry(name.clone()).or_default();
            if lines.len() < LINES_MAX && !line.is_empty() {
                lines.push(line.to_owned());
            }
        }
    }

    /// Returns the names of the tests, in the order in which they failed.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Adds the tests of another runner.
    pub fn add(&mut self, other: Self) {
        self.names.extend(other.names);
        self.printed.extend(other.printed);
    }
}

impl fmt::Display for FailedTests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.names {
            writeln!(f, "{name}")?;
            for line in self.printed.get(name).into_iter().flatten() {
                writeln!(f, "    {line}")?;
            }
        }
        Ok(())
    }
}

/// Returns the test that a line reports as failed.
fn parse_failed_test(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("test ")?.strip_suffix("... FAILED")?;
    let name = rest.split_whitespace().next()?;
    (name != "result:").then_some(name)
}

/// Returns the test whose output follows.
fn parse_heading(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// Whether a line ends the output of failed tests: the list of their names follows.
fn is_end_of_printed(line: &str) -> bool {
    line == "failures:" || line.starts_with("test result: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_output(output: &str) -> FailedTests {
        let mut failed = FailedTests::default();
        output.lines().for_each(|line| failed.read_line(line));
        failed
    }

    #[test]
    fn a_failed_test_is_shown_with_what_it_printed() {
        let failed = read_output(
            "test a::b ... FAILED\ntest a::c ... ok\n\nfailures:\n\n---- a::b stdout ----\n\nthread 'a::b' panicked\n\
             \x20left: 1\n\n\nfailures:\n    a::b\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n",
        );
        assert_eq!(failed.names(), ["a::b"]);
        let shown = "a::b\n    thread 'a::b' panicked\n     left: 1\n";
        assert_eq!(failed.to_string(), shown);
    }

    #[test]
    fn what_one_test_printed_is_bounded() {
        let many = "a line\n".repeat(LINES_MAX * 2);
        let failed = read_output(&format!("test a ... FAILED\n---- a stdout ----\n{many}"));
        assert_eq!(failed.to_string().lines().count(), LINES_MAX + 1);
    }

    #[test]
    fn a_run_without_failures_shows_nothing() {
        let failed = read_output("test a ... ok\ntest result: FAILED. 0 passed; 1 failed\n");
        assert_eq!(failed, FailedTests::default());
        assert_eq!(failed.to_string(), "");
    }
}
