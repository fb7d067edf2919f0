//! Systems that we know nothing of: no command is run over a picture, and that is said.

use std::path::{Path, PathBuf};

use protocol::{Fault, Ran};
use tokio_util::sync::CancellationToken;

use super::elsewhere::{Grows, Promises, Runner};
use super::refusals::Refusals;
use crate::{Command, FileError};

/// Runs nothing.
#[derive(Debug)]
pub(super) struct Nowhere;

impl Runner for Nowhere {
    fn open(_: Option<PathBuf>, _: &Path, _: Vec<PathBuf>) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn promises(&self) -> Promises {
        Promises {
            net_off: false,
            unix_sockets_off: false,
            kill_tree: false,
            reasons: Vec::new(),
        }
    }

    async fn run(
        &self,
        _: &Command,
        _: Grows,
        _: impl FnMut(&str) + Send,
        _: &CancellationToken,
    ) -> Result<(Ran, Refusals), FileError> {
        Err(FileError::NoRoom {
            reason: "this system is not known".to_owned(),
        })
    }
}
