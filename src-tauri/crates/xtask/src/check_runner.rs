//! Runs checks one after the other, collects the failures, and adds up the counts of the test runners.

use std::process::{Command, ExitCode};

use crate::command;
use crate::failed_tests::FailedTests;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::test_tally::TestTally;

/// The checks of a run so far.
pub struct CheckRunner {
    progress: Progress,
    tally: TestTally,
    failures: Vec<Failure>,
    failed_tests: FailedTests,
    /// Tests that failed, and passed when they were run once more.
    unstable_tests: FailedTests,
}

impl CheckRunner {
    /// Creates a runner without any check.
    pub fn new(progress: Progress) -> Self {
        Self {
            progress,
            tally: TestTally::default(),
            failures: Vec::new(),
            failed_tests: FailedTests::default(),
            unstable_tests: FailedTests::default(),
        }
    }

    /// Records a test that this system cannot run, with the reason.
    pub fn skip(&mut self, why: &str) {
        println!("Skipped: {why}");
        self.tally.skipped += 1;
    }

    /// Returns the progress output for stages.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Records a test that could not even begin.
    pub fn fail(&mut self, failure: Failure) {
        self.tally.failed += 1;
        self.failures.push(failure);
    }

    /// Runs a check that either passes or fails; it is no test, so passing it counts nothing.
    pub fn run_check(&mut self, name: &str, next: &str, command: impl FnOnce() -> Command) {
        self.run_stage(name, next, |ran| follow_tests(&mut command(), ran));
    }

    /// Runs a test runner and adds its counts; a runner that ran no test at all has failed.
    pub fn run_tests(&mut self, name: &str, next: &str, command: impl FnOnce() -> Command) {
        self.run_stage(name, next, |ran| {
            follow_tests(&mut command(), ran)?;
            match ran.passed + ran.skipped {
                0 => Err(CheckFailure::RanNoTest),
                _ => Ok(()),
            }
        });
    }

    /// Runs a test runner of whose tests a few may fail because the machine was slow: those are run once more by
    /// themselves, which is reported, and the second result counts. `command` creates the runner for all tests, or for
    /// the named ones.
    pub fn run_tests_with_retry(
        &mut self,
        name: &str,
        next: &str,
        command: impl Fn(&[String]) -> Command,
    ) {
        let mut failed = FailedTests::default();
        let mut all_held_then = false;
        self.run_stage(name, next, |ran| {
            let all_held = command::follow_lines(&mut command(&[]), |line| {
                ran.read_line(line);
                failed.read_line(line);
            })?;
            if all_held {
                return match ran.passed {
                    0 => Err(CheckFailure::RanNoTest),
                    _ => Ok(()),
                };
            }
            let names = failed.names();
            if names.is_empty() || names.len() > RETRIED_TESTS_MAX {
                return Err(CheckFailure::DidNotPass);
            }
            println!("Once more, by themselves: {}", names.join(", "));
            let mut again = TestTally::default();
            follow_tests(&mut command(names), &mut again)?;
            // A name may be that of tests in several programs.
            let count = names.len() as u64;
            if again.passed < count {
                return Err(CheckFailure::DidNotPass);
            }
            ran.passed += count;
            ran.failed = ran.failed.saturating_sub(count);
            all_held_then = true;
            Ok(())
        });
        match all_held_then {
            true => self.unstable_tests.add(failed),
            false => self.failed_tests.add(failed),
        }
    }

    /// Runs one check as a stage, which adds the counts of its runners, and records the failure if it fails.
    fn run_stage(
        &mut self,
        name: &str,
        next: &str,
        work: impl FnOnce(&mut TestTally) -> Result<(), CheckFailure>,
    ) {
        let mut ran = TestTally::default();
        let result = self.progress.stage(name, || work(&mut ran).map(|()| true));
        if let Err(unmet) = result {
            // A check without tests, or a runner that could not even start, counts as one that failed.
            ran.failed = ran.failed.max(1);
            self.failures.push(unmet.into_failure(name, next));
        }
        self.tally.add(&ran);
    }

    /// Repeats the failures, prints the sum alone on the last line, and returns the exit code.
    pub fn conclude(self) -> ExitCode {
        println!();
        if !self.unstable_tests.names().is_empty() {
            println!("Failed, and passed when run once more by themselves:");
            println!("{}", self.unstable_tests);
        }
        if !self.failed_tests.names().is_empty() {
            println!("Failed:\n{}", self.failed_tests);
        }
        for failure in &self.failures {
            println!("{failure}\n");
        }
        println!("{}", self.tally);
        if self.failures.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// Maximum number of failed tests that are run once more; more failures are not explained by a slow machine.
const RETRIED_TESTS_MAX: usize = 6;

/// Reason why a check failed.
enum CheckFailure {
    /// Its runner reported a failure.
    DidNotPass,
    /// Its runner succeeded without running a test.
    RanNoTest,
    /// Its runner could not be started.
    NotStarted(Failure),
}

impl CheckFailure {
    /// Converts the reason to the failure of the check with this name and this next step.
    fn into_failure(self, name: &str, next: &str) -> Failure {
        match self {
            Self::DidNotPass => Failure::new(format!("{name}: did not pass."), next),
            Self::RanNoTest => Failure::new(format!("{name}: ran no test."), next),
            Self::NotStarted(failure) => failure,
        }
    }
}

impl From<Failure> for CheckFailure {
    fn from(failure: Failure) -> Self {
        Self::NotStarted(failure)
    }
}

/// Runs a command to its end and adds its test counts.
fn follow_tests(command: &mut Command, ran: &mut TestTally) -> Result<(), CheckFailure> {
    match command::follow_lines(command, |line| ran.read_line(line))? {
        true => Ok(()),
        false => Err(CheckFailure::DidNotPass),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn says(line: &str, code: i32) -> Command {
        let mut sh = Command::new("sh");
        sh.args(["-c", &format!("echo '{line}'; exit {code}")]);
        sh
    }

    #[cfg(unix)]
    #[test]
    fn a_test_that_fails_is_run_once_more_and_counts_as_it_ends_then() {
        let failed = "test a::b ... FAILED\ntest result: FAILED. 4 passed; 1 failed; 0 ignored";
        let held = "test a::b ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored";
        for (again, code, (passed, fails), failures) in
            [(held, 0, (5, 0), 0), (failed, 101, (4, 1), 1)]
        {
            let mut checks = CheckRunner::new(Progress::start());
            checks.run_tests_with_retry("a runner", "look", |names| match names {
                [] => says(failed, 101),
                [name] if name == "a::b" => says(again, code),
                _ => says("", 1),
            });
            assert_eq!((checks.tally.passed, checks.tally.failed), (passed, fails));
            assert_eq!(checks.failures.len(), failures);
            let (named, other) = match failures {
                0 => (&checks.unstable_tests, &checks.failed_tests),
                _ => (&checks.failed_tests, &checks.unstable_tests),
            };
            assert_eq!(named.names(), ["a::b"]);
            assert_eq!(other.names().len(), 0);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_check_that_does_not_hold_says_why() {
        let nothing = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        let table = [
            ("nothing that is counted", 1, "a runner: did not pass."),
            (nothing, 0, "a runner: ran no test."),
        ];
        for (line, code, what) in table {
            let mut checks = CheckRunner::new(Progress::start());
            checks.run_tests("a runner", "look", || says(line, code));
            checks.run_tests_with_retry("a runner", "look", |_| says(line, code));
            let expected = Failure::new(what, "look");
            assert_eq!(checks.failures, [expected.clone(), expected]);
            assert_eq!(checks.tally.failed, 2);
        }
    }

    #[cfg(unix)]
    #[test]
    fn every_kind_of_failure_reaches_the_sum() {
        let passed = "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out";
        let failed =
            "test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out";
        let nothing = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        let table = [
            (passed, 0, (2, 0, 1), 0),
            (failed, 101, (1, 3, 0), 1),
            (passed, 101, (2, 1, 1), 1),
            ("error: could not compile", 101, (0, 1, 0), 1),
            (nothing, 0, (0, 1, 0), 1),
        ];
        for (line, code, (passed, failed, skipped), failures) in table {
            let mut checks = CheckRunner::new(Progress::start());
            checks.run_tests("a runner", "look", || says(line, code));
            assert_eq!(
                checks.tally,
                TestTally {
                    passed,
                    failed,
                    skipped
                },
                "{line} {code}"
            );
            assert_eq!(checks.failures.len(), failures, "{line} {code}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_check_that_passes_counts_nothing_and_one_that_does_not_counts_one() {
        let mut checks = CheckRunner::new(Progress::start());
        checks.run_check("a check", "look", || says("fine", 0));
        assert_eq!(checks.tally, TestTally::default());
        checks.run_check("a check", "look", || says("not fine", 1));
        assert_eq!(
            checks.tally,
            TestTally {
                failed: 1,
                ..TestTally::default()
            }
        );
        assert_eq!(
            checks.failures,
            [Failure::new("a check: did not pass.", "look")]
        );
    }

    #[test]
    fn a_program_that_is_not_there_fails_its_check_alone() {
        let mut checks = CheckRunner::new(Progress::start());
        let missing = || Command::new("countersign-no-such-program");
        checks.run_check("a check", "look", missing);
        checks.run_tests_with_retry("a runner", "look", |_| missing());
        assert_eq!(checks.tally.failed, 2);
        for failure in &checks.failures {
            assert!(failure.what.contains("countersign-no-such-program"));
            assert_ne!(failure.next, "look", "what helps is said in its place");
        }
    }
}
