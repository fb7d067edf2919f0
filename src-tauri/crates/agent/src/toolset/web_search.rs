//! The choice of the search provider for a session: one of those that the person set up, always the same one
//! (`S002-43`).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use protocol::server::search_providers::SearchProviderView;
use protocol::settings::{SearchApi, SearchOperation, SearchProviderSettings, WebSearchSettings};
use protocol::{Digest, SessionId, ToolMode, UserError};
use provider::KeyStore;
use tools::WebSearchTool;
use tools::web_search::{self, KeyFn, OperationCaller, OperationSearch, SearchLimits, WebSearcher};

use crate::limits::{SEARCH_ID_BYTES_MAX, SEARCH_PROVIDERS_MAX};

/// Factory of a session's web search tool.
#[derive(Debug, Clone)]
pub(crate) struct WebSearchFactory {
    session: SessionId,
    /// Number of searches of the session.
    searches: Arc<AtomicU32>,
}

impl WebSearchFactory {
    /// Returns the factory of a session that has made `before` searches already.
    pub fn new(session: &SessionId, before: u32) -> Self {
        Self {
            session: session.clone(),
            searches: Arc::new(AtomicU32::new(before)),
        }
    }

    /// Returns a factory without a session, to list the tools.
    pub fn without_session() -> Self {
        Self::new(&SessionId::from(""), 0)
    }

    /// Returns the tool over the search provider of this session. `find` looks up the tool of an operation, and returns
    /// the operation and its mode.
    pub fn tool(
        &self,
        settings: &WebSearchSettings,
        keys: &Arc<dyn KeyStore>,
        find: impl Fn(&str) -> Option<(Arc<dyn OperationCaller>, Option<ToolMode>)>,
    ) -> WebSearchTool {
        let limits = SearchLimits {
            calls_max: settings.calls_max,
            timeout_ms: settings.timeout_ms,
        };
        let searching = match choose_target(settings, &self.session) {
            None => return WebSearchTool::new(None),
            Some(SearchTarget::Provider(own)) => {
                // One that cannot be used is not chosen.
                let Ok(provider) = web_search::build_provider(own) else {
                    return WebSearchTool::new(None);
                };
                Ok(WebSearcher::new(
                    provider,
                    key_source(own, keys),
                    key_hint(own),
                    limits,
                    self.searches.clone(),
                ))
            }
            Some(SearchTarget::Operation(own)) => match find(&own.operation) {
                None => Err(missing_operation(&own.operation)),
                Some((operation, mode)) => OperationSearch::new(operation, mode, own.clone())
                    .map(|own| WebSearcher::from_operation(own, limits, self.searches.clone())),
            },
        };
        WebSearchTool::from_result(searching.map(Arc::new))
    }
}

/// A configured search target.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SearchTarget<'a> {
    Provider(&'a SearchProviderSettings),
    Operation(&'a SearchOperation),
}

impl SearchTarget<'_> {
    fn id(&self) -> &str {
        match self {
            Self::Provider(one) => &one.id,
            Self::Operation(one) => &one.operation,
        }
    }
}

/// Chooses the usable target for which the digest of its id and the session's id together is largest: the choice is
/// always the same, whichever other targets are added or removed.
fn choose_target<'a>(
    settings: &'a WebSearchSettings,
    session: &SessionId,
) -> Option<SearchTarget<'a>> {
    let usable = settings.providers.iter().take(SEARCH_PROVIDERS_MAX);
    let usable = usable.filter(|one| web_search::build_provider(one).is_ok());
    let operations = settings.operations.iter().take(SEARCH_PROVIDERS_MAX);
    let all = usable
        .map(SearchTarget::Provider)
        .chain(operations.map(SearchTarget::Operation));
    all.max_by_key(|one| Digest::from_bytes(format!("{session}\n{}", one.id()).as_bytes()).0)
}

/// Returns the message on what to set up if there is no such operation.
fn missing_operation(operation: &str) -> String {
    let operation = protocol::text::display_text::to_single_line(operation, SEARCH_ID_BYTES_MAX);
    let service = operation.split("__").next().unwrap_or_default();
    format!(
        "`{operation}` is set up to search the web, and there is no such operation among the tools, so nothing was searched. The person \
         can set the service up, approve and enable it (on the screen Servers, or with `countersign apis enable {service}`), or correct \
         [[web_search.operations]] in settings.toml. Until then go on without it."
    )
}

/// Returns the errors of the configured search targets.
pub(crate) fn check_settings(settings: &WebSearchSettings) -> Vec<UserError> {
    let mut ids = BTreeSet::new();
    let mut faults: Vec<UserError> = settings
        .providers
        .iter()
        .filter_map(|one| {
            let fits =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
            let is_id = !one.id.is_empty()
                && one.id.len() <= SEARCH_ID_BYTES_MAX
                && one.id.chars().all(fits);
            let shown_id =
                protocol::text::display_text::to_single_line(&one.id, SEARCH_ID_BYTES_MAX);
            match (is_id, ids.insert(&one.id)) {
                (false, _) => Some(UserError::new(
                    format!("`{shown_id}` is not an id of a search provider."),
                    "Give it one of small letters, digits, `-` and `_`.",
                )),
                (true, false) => Some(UserError::new(
                    format!("There are two search providers `{shown_id}`."),
                    "Give one of them another id.",
                )),
                (true, true) => web_search::build_provider(one).err(),
            }
        })
        .collect();
    for one in &settings.operations {
        let shown_operation =
            protocol::text::display_text::to_single_line(&one.operation, SEARCH_ID_BYTES_MAX);
        if !one.operation.contains("__") {
            faults.push(UserError::new(
                format!("`{shown_operation}` is not an operation that could search the web."),
                "Name one as it is listed among the tools: `service__operation`.",
            ));
        }
        if !ids.insert(&one.operation) {
            faults.push(UserError::new(
                format!("`{shown_operation}` is set up twice to search the web."),
                "Remove one of the two.",
            ));
        }
    }
    if settings.providers.len().max(settings.operations.len()) > SEARCH_PROVIDERS_MAX {
        faults.push(UserError::new(
            format!("There are more than {SEARCH_PROVIDERS_MAX} search providers."),
            "Remove some.",
        ));
    }
    faults
}

/// Returns the configured providers, and whether each can be used. Reads the keychain for each, which may block.
pub(crate) fn search_provider_views(
    settings: &WebSearchSettings,
    keys: &Arc<dyn KeyStore>,
) -> Vec<SearchProviderView> {
    let all = settings.providers.iter().take(SEARCH_PROVIDERS_MAX);
    all.map(|one| {
        let (ready, note) = match web_search::build_provider(one) {
            Err(fault) => (false, fault.message),
            Ok(_) => match (
                needs_key(one.wire),
                keys.get(&one.keychain_name(), one.key_env.as_deref()),
            ) {
                (false, _) => (true, "Needs no key.".to_owned()),
                (true, Ok(Some(key))) => (true, format!("Key {}.", key.from)),
                (true, Ok(None)) => (
                    false,
                    "No key yet. It is not answered without one.".to_owned(),
                ),
                (true, Err(fault)) => (false, fault.message),
            },
        };
        SearchProviderView {
            id: one.id.clone(),
            ready,
            note,
        }
    })
    .collect()
}

/// Whether a search API answers no request without a key.
fn needs_key(wire: SearchApi) -> bool {
    match wire {
        SearchApi::Brave | SearchApi::Tavily | SearchApi::Exa => true,
        SearchApi::Searxng => false,
    }
}

fn key_source(settings: &SearchProviderSettings, keys: &Arc<dyn KeyStore>) -> KeyFn {
    let (keys, name, env) = (
        keys.clone(),
        settings.keychain_name(),
        settings.key_env.clone(),
    );
    Arc::new(move || {
        let found = keys.get(&name, env.as_deref());
        let found = found.map_err(|fault| fault.to_string())?;
        Ok(found.map(|key| key.secret.reveal().to_owned()))
    })
}

fn key_hint(settings: &SearchProviderSettings) -> String {
    match (needs_key(settings.wire), &settings.key_env) {
        (true, Some(variable)) => {
            let variable =
                protocol::text::display_text::to_single_line(variable, SEARCH_ID_BYTES_MAX);
            format!(
                "The person can set the variable {variable}, or put the key in the keychain in the settings under Web search."
            )
        }
        (_, _) => {
            "The person can put it in the keychain in the settings under Web search.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn one(id: &str, wire: SearchApi, base_url: Option<&str>) -> SearchProviderSettings {
        SearchProviderSettings {
            id: id.to_owned(),
            wire,
            base_url: base_url.map(str::to_owned),
            key_env: None,
        }
    }

    fn settings(providers: Vec<SearchProviderSettings>) -> WebSearchSettings {
        WebSearchSettings {
            providers,
            ..WebSearchSettings::default()
        }
    }

    /// `S002-43`: the session's id decides, all of them are chosen by some, and one that goes changes nothing for those
    /// who asked another.
    #[test]
    fn s002_43_a_session_asks_one_and_stays_with_it() {
        let brave = one("brave", SearchApi::Brave, None);
        let exa = one("exa", SearchApi::Exa, None);
        let broken = one("here", SearchApi::Searxng, None);
        let all = settings(vec![brave.clone(), broken, exa.clone()]);
        let other_order = settings(vec![exa, brave.clone()]);
        let only = settings(vec![brave]);
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for n in 0..200 {
            let session = SessionId(format!("ses_{n}"));
            let chosen = |settings| choose_target(settings, &session).unwrap().id().to_owned();
            let id = chosen(&all);
            assert_eq!(chosen(&other_order), id);
            assert_eq!(chosen(&only), "brave");
            *counts.entry(id).or_default() += 1;
        }
        assert_eq!(counts.len(), 2, "{counts:?}");
        assert!(counts.values().all(|count| *count > 50), "{counts:?}");
        assert_eq!(
            choose_target(&settings(Vec::new()), &SessionId::from("ses_0")),
            None
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (providers, told) in [
            (vec![one("brave", SearchApi::Brave, None)], ""),
            (vec![one("", SearchApi::Brave, None)], "is not an id"),
            (vec![one("A b", SearchApi::Brave, None)], "is not an id"),
            (
                vec![
                    one("a", SearchApi::Exa, None),
                    one("a", SearchApi::Brave, None),
                ],
                "two search providers `a`",
            ),
            (
                vec![one("here", SearchApi::Searxng, None)],
                "it has no address",
            ),
            (
                vec![one("here", SearchApi::Searxng, Some("ftp://x/"))],
                "needs http or https",
            ),
            (
                vec![one("here", SearchApi::Searxng, Some("http://me:pw@x/"))],
                "neither name nor password",
            ),
            (
                vec![one("here", SearchApi::Searxng, Some("nonsense"))],
                "its address is none",
            ),
        ] {
            let faults = check_settings(&settings(providers));
            let said: String = faults.iter().map(ToString::to_string).collect();
            assert!(
                said.contains(told) && said.is_empty() == told.is_empty(),
                "{told}: {said}"
            );
        }
    }
}
