//! The built-in providers, and where each is reached: by the settings, by the environment, or at the usual address.

use std::collections::BTreeMap;

use protocol::UserError;
use protocol::settings::{ProviderSettings, WireFormat};

use crate::endpoint::Endpoint;
use crate::prices::{PriceTable, Prices};

/// Ids of providers that need no network, which no provider of a person's own may have.
pub const LOCAL_IDS: [&str; 2] = ["demo", "script"];

const OLLAMA_HOST: &str = "OLLAMA_HOST";

/// A provider that is there without any settings.
pub(crate) struct BuiltInProvider {
    pub id: &'static str,
    pub title: &'static str,
    wire: WireFormat,
    /// The usual address; `version` is the part of it that is appended to an address of the environment.
    base_url: &'static str,
    version: &'static str,
    base_url_env: Option<&'static str>,
    key_env: Option<&'static str>,
    prices: Prices,
}

/// Returns the ids of the providers that are there without any settings.
pub fn built_in_ids() -> impl Iterator<Item = &'static str> {
    BUILT_IN_PROVIDERS.iter().map(|built_in| built_in.id)
}

/// The variables name what the vendors' own clients take them for: what stands before `v1/messages` for Anthropic and
/// before `v1beta/models` for Gemini, and what stands before `chat/completions` for OpenAI.
pub(crate) const BUILT_IN_PROVIDERS: [BuiltInProvider; 5] = [
    BuiltInProvider {
        id: "anthropic",
        title: "Anthropic",
        wire: WireFormat::Anthropic,
        base_url: "https://api.anthropic.com/v1/",
        version: "v1/",
        base_url_env: Some("ANTHROPIC_BASE_URL"),
        key_env: Some("ANTHROPIC_API_KEY"),
        prices: Prices::Published(PriceTable::Anthropic),
    },
    BuiltInProvider {
        id: "openai",
        title: "OpenAI",
        wire: WireFormat::Openai,
        base_url: "https://api.openai.com/v1/",
        version: "",
        base_url_env: Some("OPENAI_BASE_URL"),
        key_env: Some("OPENAI_API_KEY"),
        prices: Prices::Published(PriceTable::Openai),
    },
    BuiltInProvider {
        id: "gemini",
        title: "Google Gemini",
        wire: WireFormat::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta/",
        version: "v1beta/",
        base_url_env: Some("GOOGLE_GEMINI_BASE_URL"),
        key_env: Some("GEMINI_API_KEY"),
        prices: Prices::Published(PriceTable::Gemini),
    },
    BuiltInProvider {
        id: "openrouter",
        title: "OpenRouter",
        wire: WireFormat::Openai,
        base_url: "https://openrouter.ai/api/v1/",
        version: "",
        base_url_env: None,
        key_env: Some("OPENROUTER_API_KEY"),
        prices: Prices::Reported,
    },
    BuiltInProvider {
        id: "ollama",
        title: "Ollama",
        wire: WireFormat::Ollama,
        base_url: "http://127.0.0.1:11434/",
        version: "",
        base_url_env: Some(OLLAMA_HOST),
        key_env: None,
        prices: Prices::Unknown,
    },
];

/// The source of a provider's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressSource {
    /// The provider's own address; nothing else was set.
    Default,
    /// This environment variable.
    Environment(&'static str),
    /// The person's settings, in the place of a built-in provider's own address.
    Settings,
    /// An address that was set but cannot be used.
    Invalid,
}

impl AddressSource {
    /// Whether requests go to another address than a person who set nothing would expect. Where Ollama runs is shown
    /// anyway.
    pub(crate) fn is_redirect(&self) -> bool {
        match self {
            Self::Default | Self::Invalid => false,
            Self::Settings => true,
            Self::Environment(name) => *name != OLLAMA_HOST,
        }
    }
}

impl std::fmt::Display for AddressSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("its own address"),
            Self::Environment(name) => write!(f, "as {name} says"),
            Self::Settings => f.write_str("as the settings say"),
            Self::Invalid => f.write_str("which cannot be used"),
        }
    }
}

/// The addresses of providers that the environment sets.
#[derive(Debug, Clone, Default)]
pub struct ProviderEnv {
    values: BTreeMap<&'static str, String>,
}

impl ProviderEnv {
    /// Returns the variables of this process.
    #[must_use]
    pub fn from_process() -> Self {
        let names = BUILT_IN_PROVIDERS.iter().filter_map(|one| one.base_url_env);
        let set = names.filter_map(|name| {
            // A value that is not Unicode is set all the same, and is no address.
            let value = std::env::var_os(name)?;
            Some((name, value.to_string_lossy().into_owned()))
        });
        Self {
            values: set.collect(),
        }
    }

    /// Returns the environment with one more variable.
    #[must_use]
    pub fn with_variable(mut self, name: &'static str, value: &str) -> Self {
        self.values.insert(name, value.to_owned());
        self
    }

    /// Returns the value of a variable; none if it is not set, or empty.
    fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name)?;
        Some(value.as_str()).filter(|value| !value.trim().is_empty())
    }
}

/// The setup of a provider that is reached over the network.
pub(crate) struct ProviderSetup {
    pub wire: WireFormat,
    pub endpoint: Endpoint,
    pub from: AddressSource,
    pub key_env: Option<String>,
    pub prices: Prices,
}

impl BuiltInProvider {
    /// Resolves how the provider is reached, with the person's entry of its id if there is one.
    ///
    /// # Errors The address that was set for the provider cannot be used.
    pub(crate) fn resolve_setup(
        &self,
        settings: Option<&ProviderSettings>,
        surroundings: &ProviderEnv,
    ) -> Result<ProviderSetup, UserError> {
        let key_env = self.key_env.map(str::to_owned);
        if let Some(settings) = settings {
            let endpoint = self.endpoint_from_settings(settings);
            let endpoint = endpoint
                .map_err(|problem| invalid_settings_error(settings_title(settings), &problem))?;
            return Ok(ProviderSetup {
                wire: self.wire,
                endpoint,
                from: AddressSource::Settings,
                key_env: settings.key_env.clone().or(key_env),
                prices: prices_from_settings(settings).unwrap_or(self.prices),
            });
        }
        let (endpoint, from) = self.resolve_endpoint(surroundings)?;
        Ok(ProviderSetup {
            wire: self.wire,
            endpoint,
            from,
            key_env,
            prices: self.prices,
        })
    }

    /// Returns the provider's title, with the person's entry of its id if there is one.
    pub(crate) fn title_with<'a>(&'a self, settings: Option<&'a ProviderSettings>) -> &'a str {
        match settings {
            Some(settings) if !settings.title.is_empty() => &settings.title,
            _ => self.title,
        }
    }

    fn endpoint_from_settings(&self, settings: &ProviderSettings) -> Result<Endpoint, String> {
        if settings.wire != self.wire {
            return Err(format!(
                "the id \u{201c}{}\u{201d} is built in, and speaks another wire format",
                self.id
            ));
        }
        check_prices(settings)?;
        Endpoint::parse(&settings.base_url)
    }

    fn resolve_endpoint(
        &self,
        surroundings: &ProviderEnv,
    ) -> Result<(Endpoint, AddressSource), UserError> {
        let set = self
            .base_url_env
            .and_then(|name| Some((name, surroundings.get(name)?)));
        let Some((name, value)) = set else {
            let usual = Endpoint::parse(self.base_url);
            let usual = usual.map_err(|problem| invalid_settings_error(self.title, &problem))?;
            return Ok((usual, AddressSource::Default));
        };
        let (endpoint, example) = match name {
            OLLAMA_HOST => (
                Endpoint::parse_ollama_host(value),
                "a host and a port, like 127.0.0.1:11434",
            ),
            _ => (
                Endpoint::parse(value).map(|base| base.with_path(self.version)),
                "the base URL that requests are to go to, like https://proxy.example/",
            ),
        };
        let endpoint = endpoint.map_err(|problem| {
            UserError::new(
                format!(
                    "{name} cannot be used: {problem}. Nothing is sent to {} meanwhile.",
                    self.title
                ),
                format!("Set it to {example}, or unset it."),
            )
        })?;
        Ok((endpoint, AddressSource::Environment(name)))
    }
}

/// The prices of a person's entry, if it names both.
pub(crate) fn prices_from_settings(settings: &ProviderSettings) -> Option<Prices> {
    Some(Prices::Set {
        input_usd_per_mtok: settings.input_usd_per_mtok?,
        output_usd_per_mtok: settings.output_usd_per_mtok?,
    })
}

pub(crate) fn check_prices(settings: &ProviderSettings) -> Result<(), String> {
    let named = [settings.input_usd_per_mtok, settings.output_usd_per_mtok];
    let is_price = |usd: f64| usd.is_finite() && usd >= 0.0;
    match named.into_iter().flatten().all(is_price) {
        true => Ok(()),
        false => Err("a price is not a number of dollars".to_owned()),
    }
}

/// Returns the title of a person's entry.
pub(crate) fn settings_title(settings: &ProviderSettings) -> &str {
    match settings.title.is_empty() {
        true => &settings.id,
        false => &settings.title,
    }
}

/// Returns the error of an entry that does not work.
pub(crate) fn invalid_settings_error(title: &str, problem: &str) -> UserError {
    UserError::new(
        format!("The provider \u{201c}{title}\u{201d} cannot be used: {problem}."),
        "Correct its entry in the settings.",
    )
}
