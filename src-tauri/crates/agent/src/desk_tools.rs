//! The tools of a desk: its own and those of servers and services, as the person set them; made anew when theirs are others.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::Fault;
use protocol::settings::ToolSettings;
use tools::Registry;

use crate::apis::{self, Apis};
use crate::servers::Servers;
use crate::shelf;

/// Who brings tools from elsewhere.
type Elsewhere<'a> = (&'a Servers, &'a Apis);

/// The tools of a desk.
pub(crate) struct DeskTools {
    /// Those of the house and of the caller.
    own: Registry,
    made: Mutex<Made>,
    times_set: AtomicU64,
}

/// The tools at one moment. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Now {
    /// As they come.
    pub all: Arc<Registry>,
    /// As the person set them.
    pub set: Arc<Registry>,
}

struct Made {
    now: Now,
    /// What of the servers and services they were made from.
    seen: (shelf::Seen, apis::Seen),
    /// Tools of servers that could not join.
    faults: Vec<Fault>,
}

impl DeskTools {
    /// The tools, and which settings of them do not hold.
    pub fn new(
        own: Registry,
        elsewhere: Elsewhere<'_>,
        settings: &BTreeMap<String, ToolSettings>,
    ) -> (Self, Vec<Fault>) {
        let (made, unset) = Made::new(&own, elsewhere, settings);
        let tools = Self {
            own,
            made: Mutex::new(made),
            times_set: AtomicU64::new(0),
        };
        (tools, unset)
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tools, with those of the servers as they are now. Sessions look here when a run of theirs begins, so that the list
    /// stays the same within it.
    pub fn now(&self, elsewhere: Elsewhere<'_>, settings: &BTreeMap<String, ToolSettings>) -> Now {
        elsewhere.0.shelf().read();
        elsewhere.1.read();
        let mut made = self.made();
        if made.seen != seen(elsewhere) {
            *made = Made::new(&self.own, elsewhere, settings).0;
        }
        made.now.clone()
    }

    /// Puts tools in force that the person set otherwise.
    pub fn set(&self, set: Registry) {
        self.made().now.set = Arc::new(set);
        self.times_set.fetch_add(1, Ordering::SeqCst);
    }

    /// How often the person set them.
    pub fn times_set(&self) -> u64 {
        self.times_set.load(Ordering::SeqCst)
    }

    /// Which tools of servers could not join, and why.
    pub fn faults(&self) -> Vec<Fault> {
        self.made().faults.clone()
    }
}

fn seen(elsewhere: Elsewhere<'_>) -> (shelf::Seen, apis::Seen) {
    (elsewhere.0.shelf().seen(), elsewhere.1.seen())
}

impl Made {
    fn new(
        own: &Registry,
        elsewhere: Elsewhere<'_>,
        settings: &BTreeMap<String, ToolSettings>,
    ) -> (Self, Vec<Fault>) {
        let seen = seen(elsewhere);
        let mut tools = elsewhere.0.shelf().tools();
        tools.extend(elsewhere.1.tools());
        let (all, faults) = own.with(tools);
        let (set, unset) = all.as_set(settings);
        let made = Self {
            now: Now {
                all: Arc::new(all),
                set: Arc::new(set),
            },
            seen,
            faults,
        };
        (made, unset)
    }
}
