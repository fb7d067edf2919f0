//! Which files of a workspace are closed, as whoever grants it says.

use std::any::Any;
use std::sync::Arc;

/// Which files a search must not look into, by their path as [`protocol::Fact::real`] has it. A search reads many files that no
/// access names one by one; whoever grants the workspace says here which of them stay closed.
#[derive(Clone, Default)]
pub struct Closed {
    pub(super) closes: Option<Arc<ClosesFn>>,
    pub(super) by: Option<Arc<ClosedByFn>>,
}

type ClosesFn = dyn Fn(&str) -> bool + Send + Sync;
type ClosedByFn = dyn Fn() -> Option<ClosedBy> + Send + Sync;
/// What decides which files are closed: while it is the very same, so are they.
pub type ClosedBy = Arc<dyn Any + Send + Sync>;

impl Closed {
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
    pub fn by(mut self, by: impl Fn() -> Option<ClosedBy> + Send + Sync + 'static) -> Self {
        self.by = Some(Arc::new(by));
        self
    }
}

impl std::fmt::Debug for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Closed")
    }
}
