//! The closed files of a workspace, chosen by the caller that grants it.

use std::any::Any;
use std::sync::Arc;

/// Files that a search must not read, by their path as in [`protocol::ResolvedAccess::real`]. A search reads many files
/// that no access names one by one; the caller that grants the workspace says which of them stay closed.
#[derive(Clone, Default)]
pub struct ClosedFiles {
    pub(super) closes: Option<Arc<IsClosedFn>>,
    pub(super) by: Option<Arc<ClosedSourceFn>>,
}

type IsClosedFn = dyn Fn(&str) -> bool + Send + Sync;
type ClosedSourceFn = dyn Fn() -> Option<ClosedSource> + Send + Sync;
/// The source that decides which files are closed: while it is the same, so are they.
pub type ClosedSource = Arc<dyn Any + Send + Sync>;

impl ClosedFiles {
    /// Closes the files for which `closes` holds.
    pub fn new(closes: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            closes: Some(Arc::new(closes)),
            by: None,
        }
    }

    /// Sets a function that returns the current source of the decision, so that `closes` is not called for each file
    /// again; it returns `None` if the decision depends on the time as well.
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
