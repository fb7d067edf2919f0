//! The progress of a call, told for as long as the call runs: a server tells of a task by the token of the request that it made
//! the task of.

use std::sync::Mutex;

use rmcp::model::ProgressToken;
use tools::tool::ProgressFn;

use crate::lock_mutex;
use crate::message_handler::{ProgressSubscription, ServerMessageHandler};

/// The receiver of a call's progress; it hears nothing more once this is dropped.
pub(super) struct CallProgress {
    receiver: Option<ProgressFn>,
    subscriptions: Mutex<Vec<ProgressSubscription>>,
}

impl CallProgress {
    pub(super) fn new(receiver: Option<ProgressFn>) -> Self {
        Self {
            receiver,
            subscriptions: Mutex::default(),
        }
    }

    /// Tells the receiver how far the call is.
    pub(super) fn tell(&self, text: &str) {
        if let Some(receiver) = &self.receiver {
            receiver(text);
        }
    }

    /// Subscribes to what the server tells by this token.
    pub(super) fn subscribe(&self, handler: &ServerMessageHandler, token: &ProgressToken) {
        if let Some(receiver) = &self.receiver {
            let subscription = handler.subscribe_progress(token.clone(), receiver.clone());
            lock_mutex(&self.subscriptions).push(subscription);
        }
    }
}
