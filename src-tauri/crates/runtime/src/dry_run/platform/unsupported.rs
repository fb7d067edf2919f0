//! Unknown systems: no command is run over a snapshot, and the probe says so.

use std::path::{Path, PathBuf};

use protocol::{CommandRun, UserError};
use tokio_util::sync::CancellationToken;

use crate::dry_run::platform::in_place_only::{GrowthLimit, InPlaceRunner, RunnerGuarantees};
use crate::dry_run::refusals::Refusals;
use crate::{FileError, ShellCommand};

/// A runner that runs nothing.
#[derive(Debug)]
pub(in crate::dry_run) struct UnsupportedRunner;

impl InPlaceRunner for UnsupportedRunner {
    fn open(_: Option<PathBuf>, _: &Path, _: Vec<PathBuf>) -> Result<Self, UserError> {
        Ok(Self)
    }

    fn guarantees(&self) -> RunnerGuarantees {
        RunnerGuarantees {
            net_off: false,
            unix_sockets_off: false,
            kill_tree: false,
            reasons: Vec::new(),
        }
    }

    async fn run(
        &self,
        _: &ShellCommand,
        _: GrowthLimit,
        _: impl FnMut(&str) + Send,
        _: &CancellationToken,
    ) -> Result<(CommandRun, Refusals), FileError> {
        Err(FileError::SandboxUnavailable {
            reason: "this system is not known".to_owned(),
        })
    }
}
