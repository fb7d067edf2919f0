//! Unknown systems: no command is run over a snapshot, and the probe says so.

use std::path::{Path, PathBuf};

use protocol::{CommandRun, UserError};
use tokio_util::sync::CancellationToken;

use crate::dry_run::change_limits::GrowthLimit;
use crate::dry_run::platform::in_place_only::{InPlaceRunner, RunnerGuarantees};
use crate::dry_run::refusals::Refusals;
use crate::{FileError, ShellCommand};

/// A runner that runs nothing.
#[derive(Debug)]
pub(in crate::dry_run) struct UnsupportedRunner;

impl InPlaceRunner for UnsupportedRunner {
    const GUARANTEES: RunnerGuarantees = RunnerGuarantees {
        is_cut_off: false,
        reasons: &[],
    };

    fn open(_: Option<PathBuf>, _: &Path, _: Vec<PathBuf>) -> Result<Self, UserError> {
        Ok(Self)
    }

    async fn run(
        &self,
        _: &ShellCommand,
        _: GrowthLimit,
        _: impl FnMut(&str) + Send,
        _: &CancellationToken,
    ) -> Result<(CommandRun, Refusals), FileError> {
        Err(FileError::sandbox_unavailable("this system is not known"))
    }
}
