//! A subscription to a single resource over one connection, in both eras of the protocol.

#![allow(
    deprecated,
    reason = "servers of 2025 are subscribed to by a request of their own"
)]

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, SubscribeRequest, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequest, UnsubscribeRequestParams,
};
use rmcp::service::Subscription;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{RequestFailure, ServerConnection};
use crate::limits::CANCEL_NOTICE_TIMEOUT;

/// A subscription that a server accepted.
pub(crate) struct ResourceSubscription {
    connection: Arc<ServerConnection>,
    uri: String,
    /// The stream of its changes. A server of 2025 has none: it tells of all changes over the connection.
    changes: Option<Subscription>,
}

impl ServerConnection {
    /// Subscribes to the changes of a resource.
    pub(crate) async fn subscribe_resource(
        self: &Arc<Self>,
        uri: &str,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<ResourceSubscription, RequestFailure> {
        let changes = match self.is_legacy() {
            true => {
                let request = SubscribeRequest::new(SubscribeRequestParams::new(uri));
                let request = ClientRequest::SubscribeRequest(request);
                self.send_request(request, Instant::now() + timeout, cancel, None)
                    .await?;
                None
            }
            false => Some(self.listen_to_resource(uri, timeout, cancel).await?),
        };
        Ok(ResourceSubscription {
            connection: self.clone(),
            uri: uri.to_owned(),
            changes,
        })
    }

    async fn listen_to_resource(
        &self,
        uri: &str,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Subscription, RequestFailure> {
        let filter = SubscriptionFilter::builder().resource_subscription(uri);
        let changes = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(RequestFailure::Cancelled),
            changes = self.peer.listen(filter.build()) => changes,
            () = self.disconnected.cancelled() => return Err(RequestFailure::Disconnected(self.disconnect_reason().await)),
            () = tokio::time::sleep(timeout) => return Err(RequestFailure::TimedOut),
        };
        let changes = match changes {
            Ok(changes) => changes,
            Err(error) => return Err(self.to_request_failure(error).await),
        };
        match changes.acknowledged().resource_subscriptions {
            Some(_) => Ok(changes),
            None => Err(RequestFailure::Rejected(
                "it does not tell of changes of this resource".to_owned(),
            )),
        }
    }
}

impl ResourceSubscription {
    /// Waits for a change of the resource; `false` once the subscription is over. Changes of a resource of a server of 2025
    /// reach the connection's handler instead.
    pub(crate) async fn next_change(&mut self) -> bool {
        match &mut self.changes {
            None => {
                self.connection.disconnected.cancelled().await;
                false
            }
            Some(changes) => matches!(changes.next().await, Ok(Some(_))),
        }
    }

    /// Ends the subscription. A server that does not hear of it tells of changes that nobody waits for.
    pub(crate) async fn cancel(self) {
        let never = CancellationToken::new();
        match self.changes {
            Some(mut changes) => {
                let _ = tokio::time::timeout(CANCEL_NOTICE_TIMEOUT, changes.cancel()).await;
            }
            None if self.connection.disconnected.is_cancelled() => {}
            None => {
                let request = UnsubscribeRequest::new(UnsubscribeRequestParams::new(self.uri));
                let request = ClientRequest::UnsubscribeRequest(request);
                let deadline = Instant::now() + CANCEL_NOTICE_TIMEOUT;
                let _ = self
                    .connection
                    .send_request(request, deadline, &never, None)
                    .await;
            }
        }
    }
}
