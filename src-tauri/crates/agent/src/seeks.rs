//! Who searches the web for a session: one of those that the person set up, always the same one (`S002-43`).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use protocol::seekers::SeekerView;
use protocol::settings::{SearchOperation, SearchSettings, SearchWire, WebSearchSettings};
use protocol::{Digest, Fault, SessionId, ToolMode};
use provider::Keys;
use tools::WebSearch;
use tools::searching::{self, KeyFn, OperationSearch, Searches, Searching};

use crate::limits::{SEARCH_ID_BYTES_MAX, SEARCH_PROVIDERS_MAX};

/// What a session searches with.
#[derive(Debug, Clone)]
pub(crate) struct Seeks {
    session: SessionId,
    /// How often it searched.
    calls: Arc<AtomicU32>,
}

impl Seeks {
    /// Of a session that searched so often already.
    pub fn of(session: &SessionId, before: u32) -> Self {
        Self {
            session: session.clone(),
            calls: Arc::new(AtomicU32::new(before)),
        }
    }

    /// Of no session: to look at the tools.
    pub fn nobody() -> Self {
        Self::of(&SessionId::from(""), 0)
    }

    /// The tool over whoever searches for this session. `find` looks for the tool of an operation: itself, and its mode.
    pub fn tool(
        &self,
        settings: &WebSearchSettings,
        keys: &Arc<dyn Keys>,
        find: impl Fn(&str) -> Option<(Arc<dyn Searches>, Option<ToolMode>)>,
    ) -> WebSearch {
        let limits = (settings.calls_max, settings.timeout_ms);
        let searching = match chosen(settings, &self.session) {
            None => return WebSearch::new(None),
            Some(Whom::Provider(own)) => {
                // One that cannot be used is not chosen.
                let Ok(provider) = searching::provider(own) else {
                    return WebSearch::new(None);
                };
                let key = (key(own, keys), hint(own));
                Ok(Searching::new(provider, key, limits, self.calls.clone()))
            }
            Some(Whom::Operation(own)) => match find(&own.operation) {
                None => Err(missing(&own.operation)),
                Some((operation, mode)) => OperationSearch::new(operation, mode, own.clone())
                    .map(|own| Searching::by_operation(own, limits, self.calls.clone())),
            },
        };
        WebSearch::of(searching.map(Arc::new))
    }
}

/// Who is set up to search.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Whom<'a> {
    Provider(&'a SearchSettings),
    Operation(&'a SearchOperation),
}

impl Whom<'_> {
    fn id(&self) -> &str {
        match self {
            Self::Provider(one) => &one.id,
            Self::Operation(one) => &one.operation,
        }
    }
}

/// The one of those that can be used whose id and the session's together have the largest digest: the same however often it
/// is asked and whoever else comes or goes.
fn chosen<'a>(settings: &'a WebSearchSettings, session: &SessionId) -> Option<Whom<'a>> {
    let usable = settings.providers.iter().take(SEARCH_PROVIDERS_MAX);
    let usable = usable.filter(|one| searching::provider(one).is_ok());
    let operations = settings.operations.iter().take(SEARCH_PROVIDERS_MAX);
    let all = usable
        .map(Whom::Provider)
        .chain(operations.map(Whom::Operation));
    all.max_by_key(|one| Digest::of(format!("{session}\n{}", one.id()).as_bytes()).0)
}

/// What is to be set up where there is no such operation.
fn missing(operation: &str) -> String {
    let operation = protocol::shown::in_a_sentence(operation, SEARCH_ID_BYTES_MAX);
    let service = operation.split("__").next().unwrap_or_default();
    format!(
        "`{operation}` is set up to search the web, and there is no such operation among the tools, so nothing was searched. The person \
         can set the service up, approve and enable it (on the screen Servers, or with `countersign apis enable {service}`), or correct \
         [[web_search.operations]] in settings.toml. Until then go on without it."
    )
}

/// What is wrong with who was set up.
pub(crate) fn wrong(settings: &WebSearchSettings) -> Vec<Fault> {
    let mut ids = BTreeSet::new();
    let mut faults: Vec<Fault> = settings
        .providers
        .iter()
        .filter_map(|one| {
            let fits =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
            let is_id = !one.id.is_empty()
                && one.id.len() <= SEARCH_ID_BYTES_MAX
                && one.id.chars().all(fits);
            let told = protocol::shown::in_a_sentence(&one.id, SEARCH_ID_BYTES_MAX);
            match (is_id, ids.insert(&one.id)) {
                (false, _) => Some(Fault::new(
                    format!("`{told}` is no id of a search provider."),
                    "Give it one of small letters, digits, `-` and `_`.",
                )),
                (true, false) => Some(Fault::new(
                    format!("There are two search providers `{told}`."),
                    "Give one of them another id.",
                )),
                (true, true) => searching::provider(one).err(),
            }
        })
        .collect();
    for one in &settings.operations {
        let told = protocol::shown::in_a_sentence(&one.operation, SEARCH_ID_BYTES_MAX);
        if !one.operation.contains("__") {
            faults.push(Fault::new(
                format!("`{told}` is no operation that could search the web."),
                "Name one as it is listed among the tools: `service__operation`.",
            ));
        }
        if !ids.insert(&one.operation) {
            faults.push(Fault::new(
                format!("`{told}` is set up twice to search the web."),
                "Remove one of the two.",
            ));
        }
    }
    if settings.providers.len().max(settings.operations.len()) > SEARCH_PROVIDERS_MAX {
        faults.push(Fault::new(
            format!("There are more than {SEARCH_PROVIDERS_MAX} search providers."),
            "Remove some.",
        ));
    }
    faults
}

/// Whoever is set up as a provider, and whether each can be asked. The keychain is asked for each: that may block.
pub(crate) fn views(settings: &WebSearchSettings, keys: &Arc<dyn Keys>) -> Vec<SeekerView> {
    let all = settings.providers.iter().take(SEARCH_PROVIDERS_MAX);
    all.map(|one| {
        let (ready, note) = match searching::provider(one) {
            Err(fault) => (false, fault.message),
            Ok(_) => match (
                needs_key(one.wire),
                keys.get(&one.key_name(), one.key_env.as_deref()),
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
        SeekerView {
            id: one.id.clone(),
            ready,
            note,
        }
    })
    .collect()
}

/// Whether it answers nobody without a key.
fn needs_key(wire: SearchWire) -> bool {
    match wire {
        SearchWire::Brave | SearchWire::Tavily | SearchWire::Exa => true,
        SearchWire::Searxng => false,
    }
}

fn key(own: &SearchSettings, keys: &Arc<dyn Keys>) -> KeyFn {
    let (keys, name, env) = (keys.clone(), own.key_name(), own.key_env.clone());
    Arc::new(move || {
        let found = keys.get(&name, env.as_deref());
        let found = found.map_err(|fault| fault.to_string())?;
        Ok(found.map(|key| key.secret.reveal().to_owned()))
    })
}

fn hint(own: &SearchSettings) -> String {
    match (needs_key(own.wire), &own.key_env) {
        (true, Some(variable)) => {
            let variable = protocol::shown::in_a_sentence(variable, SEARCH_ID_BYTES_MAX);
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

    fn one(id: &str, wire: SearchWire, base_url: Option<&str>) -> SearchSettings {
        SearchSettings {
            id: id.to_owned(),
            wire,
            base_url: base_url.map(str::to_owned),
            key_env: None,
        }
    }

    fn settings(providers: Vec<SearchSettings>) -> WebSearchSettings {
        WebSearchSettings {
            providers,
            ..WebSearchSettings::default()
        }
    }

    /// `S002-43`: the session's id decides, all of them are chosen by some, and one that goes changes nothing for those who
    /// asked another.
    #[test]
    fn s002_43_a_session_asks_one_and_stays_with_it() {
        let brave = one("brave", SearchWire::Brave, None);
        let exa = one("exa", SearchWire::Exa, None);
        let broken = one("here", SearchWire::Searxng, None);
        let all = settings(vec![brave.clone(), broken, exa.clone()]);
        let other_order = settings(vec![exa, brave.clone()]);
        let only = settings(vec![brave]);
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for n in 0..200 {
            let session = SessionId(format!("ses_{n}"));
            let chosen = |settings| chosen(settings, &session).unwrap().id().to_owned();
            let id = chosen(&all);
            assert_eq!(chosen(&other_order), id);
            assert_eq!(chosen(&only), "brave");
            *counts.entry(id).or_default() += 1;
        }
        assert_eq!(counts.len(), 2, "{counts:?}");
        assert!(counts.values().all(|count| *count > 50), "{counts:?}");
        assert_eq!(
            chosen(&settings(Vec::new()), &SessionId::from("ses_0")),
            None
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (providers, told) in [
            (vec![one("brave", SearchWire::Brave, None)], ""),
            (vec![one("", SearchWire::Brave, None)], "is no id"),
            (vec![one("A b", SearchWire::Brave, None)], "is no id"),
            (
                vec![
                    one("a", SearchWire::Exa, None),
                    one("a", SearchWire::Brave, None),
                ],
                "two search providers `a`",
            ),
            (
                vec![one("here", SearchWire::Searxng, None)],
                "it has no address",
            ),
            (
                vec![one("here", SearchWire::Searxng, Some("ftp://x/"))],
                "needs http or https",
            ),
            (
                vec![one("here", SearchWire::Searxng, Some("http://me:pw@x/"))],
                "neither name nor password",
            ),
            (
                vec![one("here", SearchWire::Searxng, Some("nonsense"))],
                "its address is none",
            ),
        ] {
            let faults = wrong(&settings(providers));
            let said: String = faults.iter().map(ToString::to_string).collect();
            assert!(
                said.contains(told) && said.is_empty() == told.is_empty(),
                "{told}: {said}"
            );
        }
    }
}
