//! The list of providers that a person chooses from.

use std::sync::Arc;

use futures::future::join_all;
use protocol::model::{Effort, KeyState, ProviderKey, ProviderView};
use protocol::settings::{ProviderSettings, WireFormat};
use protocol::{ModelChoice, UserError};

use crate::built_in::{
    AddressSource, BUILT_IN_PROVIDERS, LOCAL_IDS, ProviderEnv, ProviderSetup, check_prices,
    invalid_settings_error, prices_from_settings, settings_title,
};
use crate::efforts;
use crate::endpoint::Endpoint;
use crate::error::missing_key_hint;
use crate::keys::{ApiKey, KeyStore};
use crate::limits::Timing;
use crate::prices::Prices;
use crate::wire::images;
use crate::wire::{MissingKey, WireProvider, WireProviderHandle};
use crate::{Provider, ProviderError};

/// Every provider: the built-in ones, the person's, and those that play a script.
pub struct Providers {
    entries: Vec<ProviderEntry>,
    faults: Vec<UserError>,
}

enum ProviderEntry {
    Wire(Arc<WireProvider>),
    Offline {
        provider: Arc<dyn Provider>,
        title: String,
    },
    /// A built-in provider whose address is set and cannot be used. It is kept in the list so that nothing goes to the
    /// usual address.
    Invalid {
        id: &'static str,
        title: &'static str,
        fault: UserError,
    },
}

impl ProviderEntry {
    fn id(&self) -> &str {
        match self {
            Self::Wire(wire) => &wire.id,
            Self::Offline { provider, .. } => provider.id(),
            Self::Invalid { id, .. } => id,
        }
    }
}

/// Where the requests to a provider go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderAddress {
    /// The provider's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The base URL, without credentials; or why there is none that can be used.
    pub base_url: Result<String, UserError>,
    /// Source of the address.
    pub from: AddressSource,
}

impl Providers {
    /// The built-in providers and the person's. Where the built-in ones are reached the settings say, else the
    /// environment (`ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`, `GOOGLE_GEMINI_BASE_URL`, `OLLAMA_HOST`), else it is the
    /// usual address.
    ///
    /// An entry of the settings that does not work is named in [`Providers::errors`], and so is an address that cannot
    /// be used: no request goes to the usual one instead.
    #[must_use]
    pub fn new(settings: &[ProviderSettings], keys: Arc<dyn KeyStore>) -> Self {
        Self::with_env(
            settings,
            keys,
            &ProviderEnv::from_process(),
            Timing::default(),
        )
    }

    /// The same where the environment and the times to wait are given.
    #[must_use]
    pub fn with_env(
        settings: &[ProviderSettings],
        keys: Arc<dyn KeyStore>,
        surroundings: &ProviderEnv,
        timing: Timing,
    ) -> Self {
        let mut list = Self {
            entries: Vec::new(),
            faults: Vec::new(),
        };
        let make = |id: &str, title: &str, setup: ProviderSetup| {
            ProviderEntry::Wire(Arc::new(WireProvider {
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
        for built_in in &BUILT_IN_PROVIDERS {
            let (id, title) = (built_in.id, built_in.title);
            let provider_settings = settings
                .iter()
                .find(|provider_settings| provider_settings.id == id);
            let entry = match built_in.resolve_setup(provider_settings, surroundings) {
                Ok(setup) => make(id, built_in.title_with(provider_settings), setup),
                Err(fault) => {
                    list.faults.push(fault.clone());
                    ProviderEntry::Invalid { id, title, fault }
                }
            };
            list.entries.push(entry);
        }
        let mut replaced: Vec<&str> = Vec::new();
        for provider_settings in settings {
            let is_first = !replaced.contains(&provider_settings.id.as_str());
            if is_first
                && BUILT_IN_PROVIDERS
                    .iter()
                    .any(|built_in| built_in.id == provider_settings.id)
            {
                replaced.push(&provider_settings.id);
                continue;
            }
            let title = settings_title(provider_settings);
            match list.check_settings(provider_settings) {
                Ok(endpoint) => {
                    let setup = ProviderSetup {
                        wire: provider_settings.wire,
                        endpoint,
                        from: AddressSource::Default,
                        key_env: provider_settings.key_env.clone(),
                        prices: prices_from_settings(provider_settings).unwrap_or(Prices::Unknown),
                    };
                    list.entries.push(make(&provider_settings.id, title, setup));
                }
                Err(problem) => list.faults.push(invalid_settings_error(title, &problem)),
            }
        }
        list
    }

    /// Where the requests to each provider go that is reached over the network.
    #[must_use]
    pub fn addresses(&self) -> Vec<ProviderAddress> {
        let address = |entry: &ProviderEntry| match entry {
            ProviderEntry::Wire(wire) => Some(ProviderAddress {
                id: wire.id.clone(),
                title: wire.title.clone(),
                base_url: Ok(wire.endpoint.as_str().to_owned()),
                from: wire.from.clone(),
            }),
            ProviderEntry::Invalid { id, title, fault } => Some(ProviderAddress {
                id: (*id).to_owned(),
                title: (*title).to_owned(),
                base_url: Err(fault.clone()),
                from: AddressSource::Invalid,
            }),
            ProviderEntry::Offline { .. } => None,
        };
        self.entries.iter().filter_map(address).collect()
    }

    fn check_settings(&self, settings: &ProviderSettings) -> Result<Endpoint, String> {
        if settings.id.is_empty() {
            return Err("its id is empty".to_owned());
        }
        if LOCAL_IDS.contains(&settings.id.as_str()) {
            return Err(format!(
                "the id \u{201c}{}\u{201d} is built in",
                settings.id
            ));
        }
        if self.entries.iter().any(|entry| entry.id() == settings.id) {
            return Err(format!(
                "the id \u{201c}{}\u{201d} is there twice",
                settings.id
            ));
        }
        check_prices(settings)?;
        Endpoint::parse(&settings.base_url)
    }

    /// Returns the list with a provider that needs no network, like the demo. It takes the place of one with the same
    /// id.
    #[must_use]
    pub fn with_provider(mut self, provider: Arc<dyn Provider>, title: &str) -> Self {
        self.entries.retain(|entry| entry.id() != provider.id());
        self.entries.push(ProviderEntry::Offline {
            provider,
            title: title.to_owned(),
        });
        self
    }

    /// Errors in the settings of providers.
    #[must_use]
    pub fn errors(&self) -> &[UserError] {
        &self.faults
    }

    /// The provider with this id.
    ///
    /// # Errors
    /// When there is none; the fault names those that there are.
    pub fn get(&self, id: &str) -> Result<Arc<dyn Provider>, UserError> {
        match self.entries.iter().find(|entry| entry.id() == id) {
            Some(ProviderEntry::Wire(wire)) => Ok(Arc::new(WireProviderHandle(wire.clone()))),
            Some(ProviderEntry::Offline { provider, .. }) => Ok(provider.clone()),
            Some(ProviderEntry::Invalid { fault, .. }) => Err(fault.clone()),
            None => {
                let ids: Vec<&str> = self.entries.iter().map(ProviderEntry::id).collect();
                Err(UserError::new(
                    format!("There is no provider \u{201c}{id}\u{201d}."),
                    format!("Choose one of: {}.", ids.join(", ")),
                ))
            }
        }
    }

    /// Returns the reasoning efforts that can be chosen for a model; none if it takes none, or is not known.
    #[must_use]
    pub fn list_efforts(&self, model: &ModelChoice) -> &'static [Effort] {
        match self
            .entries
            .iter()
            .find(|entry| entry.id() == model.provider)
        {
            Some(ProviderEntry::Wire(wire)) => efforts::list_efforts(wire.wire, &model.model),
            Some(ProviderEntry::Offline { .. } | ProviderEntry::Invalid { .. }) | None => &[],
        }
    }

    /// Whether a model of a provider is shown images; `false` if it is only told of them, or is not known.
    #[must_use]
    pub fn shows_images(&self, model: &ModelChoice) -> bool {
        self.entries.iter().any(|entry| match entry {
            ProviderEntry::Wire(wire) => {
                entry.id() == model.provider && images::supports_images(wire.wire, &model.model)
            }
            ProviderEntry::Offline { .. } | ProviderEntry::Invalid { .. } => false,
        })
    }

    /// Every provider with its state. Looks for keys, and asks Ollama and servers on this machine whether they run;
    /// asks nobody else.
    pub async fn list_views(&self) -> Vec<ProviderView> {
        join_all(self.entries.iter().map(provider_view)).await
    }
}

async fn provider_view(entry: &ProviderEntry) -> ProviderView {
    match entry {
        ProviderEntry::Offline { provider, title } => ProviderView {
            id: provider.id().to_owned(),
            title: title.clone(),
            base_url: String::new(),
            ready: true,
            note: "Needs no key and no network.".to_owned(),
            models: Vec::new(),
            key: no_key_needed(),
        },
        ProviderEntry::Invalid { id, title, fault } => ProviderView {
            id: (*id).to_owned(),
            title: (*title).to_owned(),
            base_url: String::new(),
            ready: false,
            note: fault.to_string(),
            models: Vec::new(),
            key: no_key_needed(),
        },
        ProviderEntry::Wire(wire) => {
            let WireState { ready, note, key } = wire_state(wire).await;
            ProviderView {
                id: wire.id.clone(),
                title: wire.title.clone(),
                base_url: wire.endpoint.as_str().to_owned(),
                ready,
                note: match wire.from.is_redirect() {
                    true => format!(
                        "{note} Requests go to {}, {}.",
                        wire.endpoint.as_str(),
                        wire.from
                    ),
                    false => note,
                },
                models: wire.known_models(),
                key,
            }
        }
    }
}

fn no_key_needed() -> ProviderKey {
    ProviderKey {
        state: KeyState::NotNeeded,
        variable: None,
        can_be_kept: true,
    }
}

/// Whether a provider can be asked, as a view tells it.
struct WireState {
    ready: bool,
    note: String,
    key: ProviderKey,
}

async fn wire_state(wire: &WireProvider) -> WireState {
    let loaded = wire.load_key().await;
    let mut key = ProviderKey {
        state: match (&loaded, wire.needs_key) {
            (Ok(_), _) => KeyState::Found,
            (Err(_), true) => KeyState::Missing,
            (Err(_), false) => KeyState::NotNeeded,
        },
        variable: wire.key_env.clone(),
        can_be_kept: !matches!(loaded, Err(MissingKey::KeychainError(_))),
    };
    let (ready, note) = match check_wire(wire, &loaded).await {
        Ok(note) => (true, note),
        Err(WireFault { note, is_refused }) => {
            if is_refused {
                key.state = KeyState::Refused;
            }
            (false, note)
        }
    };
    WireState { ready, note, key }
}

/// Why a provider cannot be asked.
struct WireFault {
    note: String,
    /// Whether it refused the key.
    is_refused: bool,
}

impl WireFault {
    fn new(note: String) -> Self {
        Self {
            note,
            is_refused: false,
        }
    }
}

/// Returns what is said of a provider that can be asked, or why it cannot be.
async fn check_wire(
    wire: &WireProvider,
    key: &Result<ApiKey, MissingKey>,
) -> Result<String, WireFault> {
    let has = match key {
        Ok(key) if wire.endpoint.is_exposed() => {
            format!("Key {}; it travels unencrypted.", key.from)
        }
        Ok(key) => format!("Key {}.", key.from),
        Err(MissingKey::None) if wire.needs_key => {
            return Err(WireFault::new(missing_key_note(wire, None)));
        }
        Err(MissingKey::KeychainError(fault)) if wire.needs_key => {
            let note = missing_key_note(wire, Some(&fault.message));
            return Err(WireFault::new(note));
        }
        Err(_) => "No key; none is sent.".to_owned(),
    };
    if !wire.endpoint.is_loopback() && wire.wire != WireFormat::Ollama {
        return Ok(has);
    }
    let listing = wire
        .list_models(key.as_ref().ok(), wire.timing.probe_ms)
        .await;
    match listing {
        Ok(_) if wire.needs_key => Ok(has),
        Ok(_) => Ok("Running.".to_owned()),
        // It runs, and says something else than a model list: some servers have none.
        Err(ProviderError::Refused { .. } | ProviderError::Malformed { .. }) => Ok(has),
        Err(error @ (ProviderError::Unauthorized { .. } | ProviderError::NoKey { .. })) => {
            Err(WireFault {
                note: format!("{error} {}", error.hint()),
                is_refused: matches!(error, ProviderError::Unauthorized { .. }),
            })
        }
        Err(_) => {
            let step = match wire.wire {
                WireFormat::Ollama => "Start it with `ollama serve`.",
                WireFormat::Anthropic | WireFormat::Openai | WireFormat::Gemini => {
                    "Start its server."
                }
            };
            let address = wire.endpoint.as_str();
            let note = format!("Not running at {address}. {step}");
            Err(WireFault::new(note))
        }
    }
}

fn missing_key_note(wire: &WireProvider, keychain: Option<&str>) -> String {
    let step = missing_key_hint(
        wire.key_env.as_deref(),
        keychain.map(|why| why.trim_end_matches('.')),
    );
    format!("No key. {step}")
}
