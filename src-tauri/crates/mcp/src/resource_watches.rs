//! Which single resources of a server are watched for changes, by how many, and that one of them may have changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::watch;
use tokio_util::sync::DropGuard;

use crate::limits::WATCHED_RESOURCES_MAX;
use crate::lock_mutex;

/// The watched resources of one server, by their addresses. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct ResourceWatches(Arc<Mutex<HashMap<String, WatchedResource>>>);

#[derive(Default)]
struct WatchedResource {
    watchers: usize,
    /// Incremented whenever the resource may have changed.
    version: watch::Sender<u64>,
    /// Ends the subscription at the server; none as long as there is none.
    subscription: Option<DropGuard>,
}

impl ResourceWatches {
    fn lock_resources(&self) -> MutexGuard<'_, HashMap<String, WatchedResource>> {
        lock_mutex(&self.0)
    }

    /// Begins to watch a resource; none if too many are watched already. The server is not asked for it here.
    pub(crate) fn watch(&self, uri: &str) -> Option<ResourceWatch> {
        let mut resources = self.lock_resources();
        if resources.len() >= WATCHED_RESOURCES_MAX && !resources.contains_key(uri) {
            return None;
        }
        let resource = resources.entry(uri.to_owned()).or_default();
        resource.watchers += 1;
        Some(ResourceWatch {
            uri: uri.to_owned(),
            changes: resource.version.subscribe(),
            watches: self.clone(),
        })
    }

    /// Whether somebody watches a resource.
    pub(crate) fn is_watched(&self, uri: &str) -> bool {
        self.lock_resources().contains_key(uri)
    }

    /// Whether the server was asked to tell of changes of a resource that is still watched.
    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        let resources = self.lock_resources();
        let resource = resources.get(uri);
        resource.is_some_and(|resource| resource.subscription.is_some())
    }

    /// Keeps the end of a subscription until nobody watches the resource any more.
    pub(crate) fn set_subscription(&self, uri: &str, end: DropGuard) {
        if let Some(resource) = self.lock_resources().get_mut(uri) {
            resource.subscription = Some(end);
        }
    }

    /// Notes that a resource may have changed: the one of this address, or one that it is a part of.
    pub(crate) fn note_update(&self, uri: &str) {
        for (watched, resource) in self.lock_resources().iter() {
            let part = uri.strip_prefix(watched.as_str());
            if part.is_some_and(|part| {
                part.is_empty() || part.starts_with('/') || watched.ends_with('/')
            }) {
                resource.version.send_modify(|version| *version += 1);
            }
        }
    }
}

/// A watch on one resource. When the last one is dropped, the subscription at the server ends.
pub struct ResourceWatch {
    uri: String,
    changes: watch::Receiver<u64>,
    watches: ResourceWatches,
}

impl ResourceWatch {
    /// Returns the address of the resource.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Waits until the resource may have changed; changes that come faster than they are waited for are one.
    pub async fn changed(&mut self) {
        // The sender lives as long as this watch.
        let _ = self.changes.changed().await;
    }
}

impl Drop for ResourceWatch {
    fn drop(&mut self) {
        let mut resources = self.watches.lock_resources();
        if let Some(resource) = resources.get_mut(&self.uri) {
            resource.watchers -= 1;
            if resource.watchers == 0 {
                resources.remove(&self.uri);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn has_changed(watch: &ResourceWatch) -> bool {
        watch.changes.has_changed().unwrap()
    }

    #[test]
    fn a_change_is_told_to_those_who_watch_the_resource_or_what_holds_it() {
        let watches = ResourceWatches::default();
        let all = ["demo://a", "demo://a/", "demo://a/b", "demo://ab"];
        let watched: Vec<ResourceWatch> =
            all.iter().map(|uri| watches.watch(uri).unwrap()).collect();
        watches.note_update("demo://a/b");
        let changed: Vec<&str> = watched
            .iter()
            .filter(|watch| has_changed(watch))
            .map(ResourceWatch::uri)
            .collect();
        assert_eq!(changed, ["demo://a", "demo://a/", "demo://a/b"]);
    }

    #[test]
    fn a_subscription_ends_with_its_last_watch() {
        let watches = ResourceWatches::default();
        let one = watches.watch("demo://1").unwrap();
        let two = watches.watch("demo://1").unwrap();
        let end = CancellationToken::new();
        watches.set_subscription("demo://1", end.clone().drop_guard());
        drop(one);
        assert!(watches.is_subscribed("demo://1") && !end.is_cancelled());
        drop(two);
        assert!(!watches.is_watched("demo://1") && end.is_cancelled());
        // Nobody is left who would end it.
        let late = CancellationToken::new();
        watches.set_subscription("demo://1", late.clone().drop_guard());
        assert!(late.is_cancelled());
    }

    #[test]
    fn no_more_resources_are_watched_than_the_limit() {
        let watches = ResourceWatches::default();
        let some: Vec<_> = (0..WATCHED_RESOURCES_MAX)
            .map(|n| watches.watch(&format!("demo://{n}")).unwrap())
            .collect();
        assert!(watches.watch("demo://more").is_none());
        assert!(watches.watch("demo://0").is_some(), "it is watched already");
        drop(some);
        assert!(watches.watch("demo://more").is_some());
    }
}
