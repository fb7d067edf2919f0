//! The list of providers that a person chooses from.

use std::sync::Arc;

use futures::future::join_all;
use protocol::Fault;
use protocol::model::ProviderView;
use protocol::settings::{ProviderSettings, Wire};

use crate::built_in::{
    AddressSource, BUILT_IN, LOCAL_IDS, Setup, Surroundings, check_prices, prices, shown_title,
    unusable,
};
use crate::endpoint::Endpoint;
use crate::error::no_key_hint;
use crate::keys::Keys;
use crate::limits::Timing;
use crate::prices::Prices;
use crate::wire::{NoKey, WireProvider, Wired};
use crate::{Provider, ProviderError};

/// Every provider: the built-in ones, the person's, and those that play a script.
pub struct Providers {
    entries: Vec<Entry>,
    faults: Vec<Fault>,
}

enum Entry {
    Wire(Arc<WireProvider>),
    Local {
        provider: Arc<dyn Provider>,
        title: String,
    },
    /// A built-in one whose address is set and cannot be used. It stands here, so that nothing goes to the usual address.
    Broken {
        id: &'static str,
        title: &'static str,
        fault: Fault,
    },
}

impl Entry {
    fn id(&self) -> &str {
        match self {
            Self::Wire(wire) => &wire.id,
            Self::Local { provider, .. } => provider.id(),
            Self::Broken { id, .. } => id,
        }
    }
}

/// Where the requests to a provider go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The provider's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The base URL, without credentials; or why there is none that can be used.
    pub base_url: Result<String, Fault>,
    /// Who says so.
    pub from: AddressSource,
}

impl Providers {
    /// The built-in providers and the person's. Where the built-in ones are reached the settings say, else the environment
    /// (`ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`, `GOOGLE_GEMINI_BASE_URL`, `OLLAMA_HOST`), else it is the usual address.
    ///
    /// An entry of the settings that does not work is named in [`Providers::faults`], and so is an address that cannot be
    /// used: no request goes to the usual one instead.
    #[must_use]
    pub fn new(settings: &[ProviderSettings], keys: Arc<dyn Keys>) -> Self {
        Self::with_surroundings(
            settings,
            keys,
            &Surroundings::of_process(),
            Timing::default(),
        )
    }

    /// The same where the environment and the times to wait are given.
    #[must_use]
    pub fn with_surroundings(
        settings: &[ProviderSettings],
        keys: Arc<dyn Keys>,
        surroundings: &Surroundings,
        timing: Timing,
    ) -> Self {
        let mut list = Self {
            entries: Vec::new(),
            faults: Vec::new(),
        };
        let make = |id: &str, title: &str, setup: Setup| {
            Entry::Wire(Arc::new(WireProvider {
                id: id.to_owned(),
                title: title.to_owned(),
                wire: setup.wire,
                endpoint: setup.endpoint,
                from: setup.from,
                needs_key: setup.key_env.is_some(),
                key_env: setup.key_env,
                prices: setup.prices,
                timing,
                keys: keys.clone(),
                memory: std::sync::Mutex::default(),
            }))
        };
        for built_in in &BUILT_IN {
            let (id, title) = (built_in.id, built_in.title);
            let own = settings.iter().find(|own| own.id == id);
            let entry = match built_in.setup(own, surroundings) {
                Ok(setup) => make(id, built_in.shown_title(own), setup),
                Err(fault) => {
                    list.faults.push(fault.clone());
                    Entry::Broken { id, title, fault }
                }
            };
            list.entries.push(entry);
        }
        let mut replaced: Vec<&str> = Vec::new();
        for own in settings {
            let is_first = !replaced.contains(&own.id.as_str());
            if is_first && BUILT_IN.iter().any(|built_in| built_in.id == own.id) {
                replaced.push(&own.id);
                continue;
            }
            let title = shown_title(own);
            match list.accept(own) {
                Ok(endpoint) => {
                    let setup = Setup {
                        wire: own.wire,
                        endpoint,
                        from: AddressSource::Usual,
                        key_env: own.key_env.clone(),
                        prices: prices(own).unwrap_or(Prices::Unknown),
                    };
                    list.entries.push(make(&own.id, title, setup));
                }
                Err(problem) => list.faults.push(unusable(title, &problem)),
            }
        }
        list
    }

    /// Where the requests to each provider go that is reached over the network.
    #[must_use]
    pub fn addresses(&self) -> Vec<Address> {
        let address = |entry: &Entry| match entry {
            Entry::Wire(wire) => Some(Address {
                id: wire.id.clone(),
                title: wire.title.clone(),
                base_url: Ok(wire.endpoint.as_str().to_owned()),
                from: wire.from.clone(),
            }),
            Entry::Broken { id, title, fault } => Some(Address {
                id: (*id).to_owned(),
                title: (*title).to_owned(),
                base_url: Err(fault.clone()),
                from: AddressSource::Unusable,
            }),
            Entry::Local { .. } => None,
        };
        self.entries.iter().filter_map(address).collect()
    }

    fn accept(&self, own: &ProviderSettings) -> Result<Endpoint, String> {
        if own.id.is_empty() {
            return Err("its id is empty".to_owned());
        }
        if LOCAL_IDS.contains(&own.id.as_str()) {
            return Err(format!("the id \u{201c}{}\u{201d} is built in", own.id));
        }
        if self.entries.iter().any(|entry| entry.id() == own.id) {
            return Err(format!("the id \u{201c}{}\u{201d} is there twice", own.id));
        }
        check_prices(own)?;
        Endpoint::parse(&own.base_url)
    }

    /// The same with a provider that needs no network, like the demo. It takes the place of one with the same id.
    #[must_use]
    pub fn with(mut self, provider: Arc<dyn Provider>, title: &str) -> Self {
        self.entries.retain(|entry| entry.id() != provider.id());
        self.entries.push(Entry::Local {
            provider,
            title: title.to_owned(),
        });
        self
    }

    /// What is wrong with the settings of providers.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The provider with this id.
    ///
    /// # Errors
    /// When there is none; the fault names those that there are.
    pub fn get(&self, id: &str) -> Result<Arc<dyn Provider>, Fault> {
        match self.entries.iter().find(|entry| entry.id() == id) {
            Some(Entry::Wire(wire)) => Ok(Arc::new(Wired(wire.clone()))),
            Some(Entry::Local { provider, .. }) => Ok(provider.clone()),
            Some(Entry::Broken { fault, .. }) => Err(fault.clone()),
            None => {
                let ids: Vec<&str> = self.entries.iter().map(Entry::id).collect();
                Err(Fault::new(
                    format!("There is no provider \u{201c}{id}\u{201d}."),
                    format!("Choose one of: {}.", ids.join(", ")),
                ))
            }
        }
    }

    /// Every provider with its state. Looks for keys, and asks Ollama and servers on this machine whether they run; asks
    /// nobody else.
    pub async fn views(&self) -> Vec<ProviderView> {
        join_all(self.entries.iter().map(view)).await
    }
}

async fn view(entry: &Entry) -> ProviderView {
    match entry {
        Entry::Local { provider, title } => ProviderView {
            id: provider.id().to_owned(),
            title: title.clone(),
            base_url: String::new(),
            ready: true,
            note: "Needs no key and no network.".to_owned(),
            models: Vec::new(),
        },
        Entry::Broken { id, title, fault } => ProviderView {
            id: (*id).to_owned(),
            title: (*title).to_owned(),
            base_url: String::new(),
            ready: false,
            note: fault.to_string(),
            models: Vec::new(),
        },
        Entry::Wire(wire) => {
            let (ready, note) = state(wire).await;
            ProviderView {
                id: wire.id.clone(),
                title: wire.title.clone(),
                base_url: wire.endpoint.as_str().to_owned(),
                ready,
                note: match wire.from.redirects() {
                    true => format!(
                        "{note} Requests go to {}, {}.",
                        wire.endpoint.as_str(),
                        wire.from
                    ),
                    false => note,
                },
                models: wire.known_models(),
            }
        }
    }
}

async fn state(wire: &WireProvider) -> (bool, String) {
    let key = wire.key().await;
    let has = match &key {
        Ok(key) if wire.endpoint.is_exposed() => {
            format!("Key {}; it travels unencrypted.", key.from)
        }
        Ok(key) => format!("Key {}.", key.from),
        Err(NoKey::None) if wire.needs_key => {
            return (false, no_key_note(wire, None));
        }
        Err(NoKey::Keychain(fault)) if wire.needs_key => {
            return (false, no_key_note(wire, Some(&fault.message)));
        }
        Err(_) => "No key; none is sent.".to_owned(),
    };
    if !wire.endpoint.is_loopback() && wire.wire != Wire::Ollama {
        return (true, has);
    }
    let looked = wire.list(key.as_ref().ok(), wire.timing.probe_ms).await;
    match looked {
        Ok(_) if wire.needs_key => (true, has),
        Ok(_) => (true, "Running.".to_owned()),
        // It runs, and says something else than a model list: some servers have none.
        Err(ProviderError::Refused { .. } | ProviderError::Malformed { .. }) => (true, has),
        Err(error @ (ProviderError::Unauthorized { .. } | ProviderError::NoKey { .. })) => {
            (false, format!("{error} {}", error.hint()))
        }
        Err(_) => {
            let step = match wire.wire {
                Wire::Ollama => "Start it with `ollama serve`.",
                Wire::Anthropic | Wire::Openai | Wire::Gemini => "Start its server.",
            };
            let address = wire.endpoint.as_str();
            (false, format!("Not running at {address}. {step}"))
        }
    }
}

fn no_key_note(wire: &WireProvider, keychain: Option<&str>) -> String {
    let step = no_key_hint(
        wire.key_env.as_deref(),
        keychain.map(|why| why.trim_end_matches('.')),
    );
    format!("No key. {step}")
}
