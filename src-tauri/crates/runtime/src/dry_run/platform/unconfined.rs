//! Running a command for real with no confinement but its job: Windows has nothing more that every person may use.
//!
//! **On Windows this was never run by those who wrote it**: it is compiled and tested where that system builds it. On
//! Linux the tests run it with process groups in the place of jobs.

use std::path::{Path, PathBuf};

use protocol::{CommandRun, UserError};
use tokio_util::sync::CancellationToken;

use crate::dry_run::change_limits::{GrowthLimit, run_within_limits};
use crate::dry_run::platform::in_place_only::{InPlaceRunner, RunnerGuarantees};
use crate::dry_run::refusals::Refusals;
use crate::process::run;
use crate::{FileError, ShellCommand};

/// The missing guarantees, in plain sentences.
const OPEN_REASONS: [&str; 3] = [
    "There is no sandbox on this system: a command runs with all your rights. It can read your files, secrets among them, and change what lies outside of the workspace, which cannot be undone.",
    "The network is open to it, and so are programs on this machine. What it sends there is out.",
    "What it starts is ended with it; what it starts in its very first moment, or hands to another program, may outlive it. Links of files under several names are told apart as files of their own.",
];

/// Runs a command without confinement.
#[derive(Debug)]
pub(in crate::dry_run) struct UnconfinedRunner {
    /// Whether commands are run in place at all. If no program is named for that, `run` refuses them, and they run
    /// without a snapshot.
    is_enabled: bool,
}

impl InPlaceRunner for UnconfinedRunner {
    const GUARANTEES: RunnerGuarantees = RunnerGuarantees {
        is_cut_off: false,
        reasons: &OPEN_REASONS,
    };

    fn open(program: Option<PathBuf>, _: &Path, _: Vec<PathBuf>) -> Result<Self, UserError> {
        Ok(Self {
            is_enabled: program.is_some(),
        })
    }

    async fn run(
        &self,
        command: &ShellCommand,
        grows: GrowthLimit,
        on_output: impl FnMut(&str) + Send,
        cancel: &CancellationToken,
    ) -> Result<(CommandRun, Refusals), FileError> {
        if !self.is_enabled {
            return Err(FileError::sandbox_unavailable("no program for it is named"));
        }
        let stop = cancel.child_token();
        let watched = command.workspace.root().to_owned();
        let ran = run(command, on_output, &stop);
        let (ran, outgrew) = run_within_limits(ran, watched, grows.total_bytes_max(), &stop).await;
        let (mut ran, mut refused) = (ran?, Refusals::default());
        if let Some(why) = outgrew {
            refused.add_limit_exceeded(&mut ran, why, cancel.is_cancelled());
        }
        refused.notes.push(
            "It ran without a sandbox: what it did outside of the folder, and whom it reached, is not known."
                .to_owned(),
        );
        Ok((ran, refused))
    }
}
