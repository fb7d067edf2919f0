//! Subscriptions to single resources: the server is asked once for all who watch a resource, again when it is connected again,
//! and told when nobody watches the resource any more.

use std::sync::Arc;

use protocol::{ToolError, UserError};
use tokio_util::sync::CancellationToken;

use super::{McpServer, ServerCore};
use crate::connection::{RequestFailure, ResourceSubscription};
use crate::limits::{RELIST_EVERY, STEADY_AFTER, WATCHED_RESOURCES_MAX};
use crate::resource_watches::ResourceWatch;

impl McpServer {
    /// Begins to watch a resource. The server tells of its changes once a read of it with `subscribe` was approved.
    ///
    /// # Errors
    /// Too many resources of the server are watched already.
    pub fn watch_resource(&self, uri: &str) -> Result<ResourceWatch, UserError> {
        let watch = self.core.handler.resource_watches.watch(uri);
        watch.ok_or_else(|| {
            UserError::new(
                format!("{WATCHED_RESOURCES_MAX} resources of this server are watched already."),
                "Unsubscribe from some of them first.",
            )
        })
    }

    /// Asks the server to tell of the changes of a resource that is watched, unless it was asked already.
    pub(super) async fn subscribe_resource(
        &self,
        uri: &str,
        cancel: &CancellationToken,
    ) -> Result<(), ToolError> {
        let watches = &self.core.handler.resource_watches;
        if !watches.is_watched(uri) {
            let why =
                "Nobody waits for changes of this resource: only a client can subscribe to it.";
            return Err(ToolError::Failed(why.to_owned()));
        }
        let connection = self.connect_for_call(cancel).await?;
        let _turn = self.core.subscribing.lock().await;
        if watches.is_subscribed(uri) {
            return Ok(());
        }
        let subscription = connection.subscribe_resource(uri, self.core.timeout(), cancel);
        let subscription = self.describe_failure(subscription).await?;
        let end = CancellationToken::new();
        watches.set_subscription(uri, end.clone().drop_guard());
        let (core, uri) = (self.core.clone(), uri.to_owned());
        tokio::spawn(async move { core.keep_subscription(&uri, subscription, end).await });
        Ok(())
    }
}

impl ServerCore {
    /// Notes the changes of a resource until nobody watches it any more, or the server is shut down.
    async fn keep_subscription(
        self: Arc<Self>,
        uri: &str,
        mut subscription: ResourceSubscription,
        end: CancellationToken,
    ) {
        let watches = &self.handler.resource_watches;
        loop {
            let is_kept = tokio::select! {
                () = end.cancelled() => break,
                () = self.stop.cancelled() => break,
                is_kept = subscription.next_change() => is_kept,
            };
            if !is_kept {
                subscription = tokio::select! {
                    () = end.cancelled() => return,
                    () = self.stop.cancelled() => break,
                    renewed = self.renew_subscription(uri) => renewed,
                };
            }
            // It may also have changed while nobody listened.
            watches.note_update(uri);
        }
        if self.stop.is_cancelled() {
            // Nothing more is told of it, and what is known may be out of date.
            return watches.note_update(uri);
        }
        let _turn = self.subscribing.lock().await;
        if !watches.is_subscribed(uri) {
            subscription.cancel().await;
        }
    }

    /// Subscribes to a resource again, as soon as the server is connected and accepts it.
    async fn renew_subscription(&self, uri: &str) -> ResourceSubscription {
        let mut phase = self.phase.subscribe();
        let mut pause = RELIST_EVERY;
        loop {
            tokio::time::sleep(pause).await;
            let connected = phase.wait_for(|phase| phase.connection().is_some()).await;
            let connection = connected.ok().and_then(|phase| phase.connection().cloned());
            let Some(connection) = connection else {
                continue;
            };
            let never = CancellationToken::new();
            let _turn = self.subscribing.lock().await;
            let renewed = connection.subscribe_resource(uri, self.timeout(), &never);
            match renewed.await {
                Ok(subscription) => return subscription,
                Err(RequestFailure::Disconnected(_)) => pause = RELIST_EVERY,
                Err(failure) => {
                    self.log_event(&format!(
                        "It does not tell of changes of a resource any more: {failure:?}."
                    ));
                    pause = STEADY_AFTER;
                }
            }
        }
    }
}
