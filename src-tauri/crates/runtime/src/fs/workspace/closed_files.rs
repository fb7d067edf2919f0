//! Which files of a workspace are closed, as whoever grants it says.

use std::any::Any;
use std::sync::Arc;

/// Which files a search must not look into, by their path as [`protocol::ResolvedAccess::real`] has it. A search reads many files that no
/// access names one by one; whoever grants the workspace says here which of them stay closed.
#[derive(Clone, Default)]
pub struct ClosedFiles {
    pub(super) closes: Option<Arc<IsClosedFn>>,
    pub(super) by: Option<Arc<ClosedSourceFn>>,
}

type IsClosedFn = dyn Fn(&str) -> bool + Send + Sync;
type ClosedSourceFn = dyn Fn() -> Option<ClosedSource> + Send + Sync;
/// What decides which files are closed: while it is the very same, so are they.
pub type ClosedSource = Arc<dyn Any + Send + Sync>;

impl ClosedFiles {
    /// Closes the files for which `closes` holds.
    pub fn new(closes: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            closes: Some(Arc::new(closes)),
            by: None,
        }
    }

    /// Says what that is decided by at the moment, so that it is not asked for each file again; none if it depends on the
    /// time as well.
    #[must_use]
    pub fn with_source(
        mut self,
        by: impl Fn() -> Option<ClosedSource> + Send + Sync + 'static,
    ) -> Self {
        self.by = Some(Arc::new(by));
        self
    }
}

impl std::fmt::Debug for ClosedFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Closed")
    }
}
