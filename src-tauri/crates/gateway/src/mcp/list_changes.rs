//! What a client is offered beside tools, and when lists change.

use agent::{BackingChanges, ChangedList, ServerOffers};
use rmcp::model::{
    JsonObject, PromptListChangedNotification, PromptsCapability, ResourceListChangedNotification,
    ResourcesCapability, ServerCapabilities, ServerNotification, SubscriptionFilter,
    ToolListChangedNotification, ToolsCapability,
};
use rmcp::service::{Peer, RoleServer, SubscriptionSendError, SubscriptionSink};

use super::served_tools::ServedTools;
use crate::limits::SUBSCRIPTIONS_MAX;

/// Returns what a client is offered: tools, and what the server behind the gateway has beside them.
pub(super) fn capabilities(served: &ServedTools) -> ServerCapabilities {
    let mut capabilities = ServerCapabilities::default();
    let mut tools = ToolsCapability::default();
    if served.server().is_some() {
        let offers = served.offers();
        tools.list_changed = Some(true);
        capabilities.resources = offers.resources.then(|| {
            let mut resources = ResourcesCapability::default();
            resources.list_changed = Some(true);
            resources.subscribe = offers.subscriptions.then_some(true);
            resources
        });
        capabilities.prompts = offers.prompts.then(|| {
            let mut prompts = PromptsCapability::default();
            prompts.list_changed = Some(true);
            prompts
        });
        capabilities.completions = offers.completions.then(JsonObject::new);
        capabilities.logging = offers.logging.then(JsonObject::new);
    }
    capabilities.tools = Some(tools);
    capabilities
}

/// Returns the changes that a client of 2026 can listen to, among them those of the resources that it names.
pub(super) fn subscription_filter(
    offers: ServerOffers,
    requested: &SubscriptionFilter,
) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::builder().tools_list_changed().build();
    filter.resources_list_changed = offers.resources.then_some(true);
    filter.prompts_list_changed = offers.prompts.then_some(true);
    if offers.subscriptions {
        let uris = requested.resource_subscriptions.iter().flatten();
        filter.resource_subscriptions = Some(uris.take(SUBSCRIPTIONS_MAX).cloned().collect());
    }
    filter
}

/// Tells a client of 2025 of each change, until it is gone.
pub(super) async fn tell_peer(mut changes: BackingChanges, peer: Peer<RoleServer>) {
    loop {
        let told = match changes.next().await {
            ChangedList::Tools => peer.notify_tool_list_changed().await,
            ChangedList::Resources => peer.notify_resource_list_changed().await,
            ChangedList::Prompts => peer.notify_prompt_list_changed().await,
        };
        if told.is_err() {
            return;
        }
    }
}

/// Tells a client of 2026 of each change that it listens to, until it is gone.
pub(super) async fn tell_subscriber(mut changes: BackingChanges, sink: &SubscriptionSink) {
    loop {
        let change: ServerNotification = match changes.next().await {
            ChangedList::Tools => ToolListChangedNotification::default().into(),
            ChangedList::Resources => ResourceListChangedNotification::default().into(),
            ChangedList::Prompts => PromptListChangedNotification::default().into(),
        };
        match sink.send(change).await {
            Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => {}
            Err(_) => return,
        }
    }
}
