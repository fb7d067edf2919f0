//! Single resources of the server behind the gateway whose changes a client is told. A subscription is a call like a read of the
//! resource: judged by the rules for that, and recorded.

use std::collections::HashMap;

use agent::{ResourceWatch, ServerRead};
use futures::future::{pending, try_join_all};
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{JsonObject, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RequestContext, RoleServer, SubscriptionContext};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::gateway_server::{GatewayServer, internal_error_data};
use super::held_calls::RequestedCall;
use super::tool_result;
use crate::limits::SUBSCRIPTIONS_MAX;

/// The resources that one client of 2025 subscribed to. Dropping it ends the subscriptions.
#[derive(Default)]
pub(super) struct ResourceSubscriptions(Mutex<HashMap<String, DropGuard>>);

impl ResourceSubscriptions {
    /// Checks that the client may subscribe to one more resource.
    ///
    /// # Errors
    /// It has as many subscriptions as a client may have.
    pub fn check_room(&self, uri: &str) -> Result<(), ErrorData> {
        let subscriptions = self.0.lock();
        if subscriptions.len() < SUBSCRIPTIONS_MAX || subscriptions.contains_key(uri) {
            return Ok(());
        }
        let text = format!(
            "{SUBSCRIPTIONS_MAX} resources are subscribed to already. Unsubscribe from some first."
        );
        Err(ErrorData::invalid_request(text, None))
    }

    /// Tells a client of each change of a resource, until it unsubscribes or is gone.
    pub fn add(&self, mut watch: ResourceWatch, peer: Peer<RoleServer>) {
        let end = CancellationToken::new();
        let uri = watch.uri().to_owned();
        self.0.lock().insert(uri, end.clone().drop_guard());
        let telling = async move {
            loop {
                watch.changed().await;
                let update = ResourceUpdatedNotificationParam::new(watch.uri());
                if peer.notify_resource_updated(update).await.is_err() {
                    return;
                }
            }
        };
        tokio::spawn(async move { end.run_until_cancelled(telling).await });
    }

    /// Ends a subscription.
    pub fn remove(&self, uri: &str) {
        self.0.lock().remove(uri);
    }
}

impl GatewayServer {
    /// Subscribes to a resource of the server, by a call.
    pub(super) async fn subscribe_resource(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ResourceWatch, ErrorData> {
        let server = self.offering_server(self.served.offers().subscriptions)?;
        let watch = server.watch_resource(uri);
        let watch = watch.map_err(|fault| internal_error_data(&fault))?;
        let call = RequestedCall {
            tool: server.read_tool_id(ServerRead::Resource),
            arguments: JsonObject::from_iter([
                ("uri".to_owned(), uri.into()),
                ("subscribe".to_owned(), true.into()),
            ]),
        };
        let client = self.open_client(context).await?;
        let answer = self.make_call(&client, call, context).await;
        tool_result::check_success(&answer.map_err(|fault| internal_error_data(&fault))?)?;
        Ok(watch)
    }

    /// Subscribes to the resources that a client of 2026 listens to, and tells it of each change until it is gone; returns why
    /// one of them is refused.
    pub(super) async fn tell_updates(&self, context: &SubscriptionContext) -> ErrorData {
        let uris = context.accepted().resource_subscriptions.iter().flatten();
        let told = uris.map(|uri| async move {
            let subscribed = self.subscribe_resource(uri, context.request_context());
            let mut watch = subscribed.await?;
            loop {
                watch.changed().await;
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    return pending::<Result<(), ErrorData>>().await;
                }
            }
        });
        let told: Vec<_> = told.collect();
        match told.is_empty() {
            true => pending().await,
            false => match try_join_all(told).await {
                Ok(_) => pending().await,
                Err(refused) => refused,
            },
        }
    }
}
