//! Delegated calls: the program that requested such a call runs it itself, once it was approved. The pipeline waits for
//! the program where it would run the tool.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::{CallId, Digest, ToolError, ToolOutput, UserError};
use runtime::CommandStreams;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tools::StreamSlot;

/// How a program goes on with a call of its own that was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelegatedRun {
    /// It runs the call as it requested it, and reports the result.
    AsRequested,
    /// It fetches what the command of the call printed, which carries out the effects of this digest.
    Fetch {
        /// Digest of the arguments and effects that were approved.
        digest: Digest,
    },
}

/// Result of a command that its program fetches.
pub(crate) type FetchReply = oneshot::Sender<Result<CommandStreams, UserError>>;

/// What a program reports about an approved call of its own.
pub(crate) enum DelegateReport {
    /// The program ran it.
    Ended(Box<Result<ToolOutput, ToolError>>),
    /// The program fetches what its command printed.
    Fetch {
        /// Digest of what the program was told to fetch.
        expected: Digest,
        reply: FetchReply,
    },
}

/// The pipeline's side of a delegated call.
pub(crate) struct Delegate {
    approved: Mutex<Option<oneshot::Sender<DelegatedRun>>>,
    reports: AsyncMutex<mpsc::Receiver<DelegateReport>>,
    /// Whether the program can be told to fetch what a command printed. One that cannot runs the command itself.
    pub can_fetch: bool,
    /// What the call's command wrote to each of its streams.
    pub streams: StreamSlot,
}

/// The program's side of a delegated call.
pub(crate) struct DelegateHandle {
    /// Tells how the program goes on, once the call was approved.
    pub approved: oneshot::Receiver<DelegatedRun>,
    /// Takes what the program reports.
    pub reports: mpsc::Sender<DelegateReport>,
}

impl Delegate {
    /// Returns both sides of a delegated call.
    pub fn new(can_fetch: bool) -> (Self, DelegateHandle) {
        let (approve, approved) = oneshot::channel();
        let (sender, reports) = mpsc::channel(1);
        let delegate = Self {
            approved: Mutex::new(Some(approve)),
            reports: AsyncMutex::new(reports),
            can_fetch,
            streams: StreamSlot::default(),
        };
        let handle = DelegateHandle {
            approved,
            reports: sender,
        };
        (delegate, handle)
    }

    /// Tells the program how it goes on. `false` if the program is gone.
    pub fn approve(&self, run: DelegatedRun) -> bool {
        let approve = self.approved.lock().take();
        approve.is_some_and(|approve| approve.send(run).is_ok())
    }

    /// Waits for the next report; none once the program is gone.
    pub async fn next_report(&self) -> Option<DelegateReport> {
        self.reports.lock().await.recv().await
    }
}

/// The delegated calls of a session.
#[derive(Default)]
pub(crate) struct Delegates(Mutex<HashMap<CallId, Arc<Delegate>>>);

impl Delegates {
    /// Adds a delegated call.
    pub fn insert(&self, call: CallId, delegate: Delegate) {
        self.0.lock().insert(call, Arc::new(delegate));
    }

    /// Removes a call that is over.
    pub fn remove(&self, call: &CallId) {
        self.0.lock().remove(call);
    }

    /// Returns the pipeline's side of a call, if it is delegated.
    pub fn get(&self, call: &CallId) -> Option<Arc<Delegate>> {
        self.0.lock().get(call).cloned()
    }
}
