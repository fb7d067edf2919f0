//! The list of providers that a person chooses from.

use std::sync::Arc;

use futures::future::join_all;
use protocol::Fault;
use protocol::model::ProviderView;
use protocol::settings::{ProviderSettings, Wire};

use crate::endpoint::Endpoint;
use crate::error::no_key_hint;
use crate::keys::Keys;
use crate::limits::Timing;
use crate::prices::{Prices, Publisher};
use crate::wire::{NoKey, WireProvider, Wired};
use crate::{Provider, ProviderError};

/// Ids that a person's own providers may not have.
pub const RESERVED_IDS: [&str; 7] = [
    "anthropic",
    "openai",
    "gemini",
    "ollama",
    "openrouter",
    "demo",
    "script",
];

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
}

impl Entry {
    fn id(&self) -> &str {
        match self {
            Self::Wire(wire) => &wire.id,
            Self::Local { provider, .. } => provider.id(),
        }
    }
}

struct BuiltIn {
    id: &'static str,
    title: &'static str,
    wire: Wire,
    base_url: &'static str,
    key_env: &'static str,
    prices: Prices,
}

const BUILT_IN: [BuiltIn; 4] = [
    BuiltIn {
        id: "anthropic",
        title: "Anthropic",
        wire: Wire::Anthropic,
        base_url: "https://api.anthropic.com/v1/",
        key_env: "ANTHROPIC_API_KEY",
        prices: Prices::Published(Publisher::Anthropic),
    },
    BuiltIn {
        id: "openai",
        title: "OpenAI",
        wire: Wire::Openai,
        base_url: "https://api.openai.com/v1/",
        key_env: "OPENAI_API_KEY",
        prices: Prices::Published(Publisher::Openai),
    },
    BuiltIn {
        id: "gemini",
        title: "Google Gemini",
        wire: Wire::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta/",
        key_env: "GEMINI_API_KEY",
        prices: Prices::Published(Publisher::Gemini),
    },
    BuiltIn {
        id: "openrouter",
        title: "OpenRouter",
        wire: Wire::Openai,
        base_url: "https://openrouter.ai/api/v1/",
        key_env: "OPENROUTER_API_KEY",
        prices: Prices::Reported,
    },
];

impl Providers {
    /// The built-in providers and the person's. Ollama is where `OLLAMA_HOST` says, or on this machine.
    ///
    /// An entry of the settings that does not work is left out and named in [`Providers::faults`].
    #[must_use]
    pub fn new(settings: &[ProviderSettings], keys: Arc<dyn Keys>) -> Self {
        let host = std::env::var("OLLAMA_HOST").ok();
        Self::with_surroundings(settings, keys, host.as_deref(), Timing::default())
    }

    /// The same where the surroundings are given: what `OLLAMA_HOST` holds, and how long to wait.
    #[must_use]
    pub fn with_surroundings(
        settings: &[ProviderSettings],
        keys: Arc<dyn Keys>,
        ollama_host: Option<&str>,
        timing: Timing,
    ) -> Self {
        let mut list = Self {
            entries: Vec::new(),
            faults: Vec::new(),
        };
        let make = |id: &str, title: &str, wire, endpoint, key_env: Option<&str>, prices| {
            Entry::Wire(Arc::new(WireProvider {
                id: id.to_owned(),
                title: title.to_owned(),
                wire,
                endpoint,
                key_env: key_env.map(str::to_owned),
                needs_key: key_env.is_some(),
                prices,
                timing,
                keys: keys.clone(),
                memory: std::sync::Mutex::default(),
            }))
        };
        for it in &BUILT_IN {
            match Endpoint::parse(it.base_url) {
                Ok(endpoint) => {
                    let entry = make(
                        it.id,
                        it.title,
                        it.wire,
                        endpoint,
                        Some(it.key_env),
                        it.prices,
                    );
                    list.entries.push(entry);
                }
                Err(problem) => list.fault(it.title, &problem),
            }
        }
        match Endpoint::ollama(ollama_host) {
            Ok(endpoint) => {
                let entry = make(
                    "ollama",
                    "Ollama",
                    Wire::Ollama,
                    endpoint,
                    None,
                    Prices::Unknown,
                );
                list.entries.push(entry);
            }
            Err(problem) => list.faults.push(Fault::new(
                format!("OLLAMA_HOST cannot be used: {problem}."),
                "Set it to a host and a port, like 127.0.0.1:11434.",
            )),
        }
        for own in settings {
            let name = if own.title.is_empty() {
                &own.id
            } else {
                &own.title
            };
            let endpoint = match list.accept(own) {
                Ok(endpoint) => endpoint,
                Err(problem) => {
                    list.fault(name, &problem);
                    continue;
                }
            };
            let prices = match (own.input_usd_per_mtok, own.output_usd_per_mtok) {
                (Some(input_usd_per_mtok), Some(output_usd_per_mtok)) => Prices::Set {
                    input_usd_per_mtok,
                    output_usd_per_mtok,
                },
                _ => Prices::Unknown,
            };
            let entry = make(
                &own.id,
                name,
                own.wire,
                endpoint,
                own.key_env.as_deref(),
                prices,
            );
            list.entries.push(entry);
        }
        list
    }

    fn fault(&mut self, title: &str, problem: &str) {
        self.faults.push(Fault::new(
            format!("The provider \u{201c}{title}\u{201d} cannot be used: {problem}."),
            "Correct its entry in the settings.",
        ));
    }

    fn accept(&self, own: &ProviderSettings) -> Result<Endpoint, String> {
        if own.id.is_empty() {
            return Err("its id is empty".to_owned());
        }
        if RESERVED_IDS.contains(&own.id.as_str()) {
            return Err(format!("the id \u{201c}{}\u{201d} is built in", own.id));
        }
        if self.entries.iter().any(|entry| entry.id() == own.id) {
            return Err(format!("the id \u{201c}{}\u{201d} is there twice", own.id));
        }
        let prices = [own.input_usd_per_mtok, own.output_usd_per_mtok];
        if prices
            .into_iter()
            .flatten()
            .any(|usd| !usd.is_finite() || usd < 0.0)
        {
            return Err("a price is not a number of dollars".to_owned());
        }
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
        Entry::Wire(wire) => {
            let (ready, note) = state(wire).await;
            ProviderView {
                id: wire.id.clone(),
                title: wire.title.clone(),
                base_url: wire.endpoint.as_str().to_owned(),
                ready,
                note,
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
