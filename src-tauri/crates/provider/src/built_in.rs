//! The built-in providers, and where each is reached: by the settings, by the environment, or at the usual address.

use std::collections::BTreeMap;

use protocol::Fault;
use protocol::settings::{ProviderSettings, Wire};

use crate::endpoint::Endpoint;
use crate::prices::{Prices, Publisher};

/// Ids of providers that need no network, which no provider of a person's own may have.
pub const LOCAL_IDS: [&str; 2] = ["demo", "script"];

const OLLAMA_HOST: &str = "OLLAMA_HOST";

/// A provider that is there without any settings.
pub(crate) struct BuiltIn {
    pub id: &'static str,
    pub title: &'static str,
    wire: Wire,
    /// The usual address, and what of it stands behind the address of the environment.
    base_url: &'static str,
    version: &'static str,
    base_url_env: Option<&'static str>,
    key_env: Option<&'static str>,
    prices: Prices,
}

/// The variables name what the vendors' own clients take them for: what stands before `v1/messages` for Anthropic and before
/// `v1beta/models` for Gemini, and what stands before `chat/completions` for OpenAI.
pub(crate) const BUILT_IN: [BuiltIn; 5] = [
    BuiltIn {
        id: "anthropic",
        title: "Anthropic",
        wire: Wire::Anthropic,
        base_url: "https://api.anthropic.com/v1/",
        version: "v1/",
        base_url_env: Some("ANTHROPIC_BASE_URL"),
        key_env: Some("ANTHROPIC_API_KEY"),
        prices: Prices::Published(Publisher::Anthropic),
    },
    BuiltIn {
        id: "openai",
        title: "OpenAI",
        wire: Wire::Openai,
        base_url: "https://api.openai.com/v1/",
        version: "",
        base_url_env: Some("OPENAI_BASE_URL"),
        key_env: Some("OPENAI_API_KEY"),
        prices: Prices::Published(Publisher::Openai),
    },
    BuiltIn {
        id: "gemini",
        title: "Google Gemini",
        wire: Wire::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta/",
        version: "v1beta/",
        base_url_env: Some("GOOGLE_GEMINI_BASE_URL"),
        key_env: Some("GEMINI_API_KEY"),
        prices: Prices::Published(Publisher::Gemini),
    },
    BuiltIn {
        id: "openrouter",
        title: "OpenRouter",
        wire: Wire::Openai,
        base_url: "https://openrouter.ai/api/v1/",
        version: "",
        base_url_env: None,
        key_env: Some("OPENROUTER_API_KEY"),
        prices: Prices::Reported,
    },
    BuiltIn {
        id: "ollama",
        title: "Ollama",
        wire: Wire::Ollama,
        base_url: "http://127.0.0.1:11434/",
        version: "",
        base_url_env: Some(OLLAMA_HOST),
        key_env: None,
        prices: Prices::Unknown,
    },
];

/// Who says where a provider is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressSource {
    /// Nobody: it is the provider's own address.
    Usual,
    /// This environment variable.
    Environment(&'static str),
    /// The person's settings, in the place of a built-in provider's own address.
    Settings,
    /// What says so cannot be used.
    Unusable,
}

impl AddressSource {
    /// Whether requests go elsewhere than a person who set nothing would take it to be. Where Ollama runs is told anyway.
    pub(crate) fn redirects(&self) -> bool {
        match self {
            Self::Usual | Self::Unusable => false,
            Self::Settings => true,
            Self::Environment(name) => *name != OLLAMA_HOST,
        }
    }
}

impl std::fmt::Display for AddressSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usual => f.write_str("its own address"),
            Self::Environment(name) => write!(f, "as {name} says"),
            Self::Settings => f.write_str("as the settings say"),
            Self::Unusable => f.write_str("which cannot be used"),
        }
    }
}

/// What the environment says of where providers are.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    values: BTreeMap<&'static str, String>,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let names = BUILT_IN.iter().filter_map(|one| one.base_url_env);
        let set = names.filter_map(|name| {
            // What is no Unicode is set all the same, and no address.
            let value = std::env::var_os(name)?;
            Some((name, value.to_string_lossy().into_owned()))
        });
        Self {
            values: set.collect(),
        }
    }

    /// The same with a variable.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.values.insert(name, value.to_owned());
        self
    }

    /// What a variable holds; none if it is not set, or empty.
    fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name)?;
        Some(value.as_str()).filter(|value| !value.trim().is_empty())
    }
}

/// What a provider that is reached over the network stands on.
pub(crate) struct Setup {
    pub wire: Wire,
    pub endpoint: Endpoint,
    pub from: AddressSource,
    pub key_env: Option<String>,
    pub prices: Prices,
}

impl BuiltIn {
    /// How it is reached, with the person's entry of its id if there is one.
    ///
    /// # Errors
    /// What was set for it cannot be used.
    pub(crate) fn setup(
        &self,
        own: Option<&ProviderSettings>,
        surroundings: &Surroundings,
    ) -> Result<Setup, Fault> {
        let key_env = self.key_env.map(str::to_owned);
        if let Some(own) = own {
            let endpoint = self.own_endpoint(own);
            let endpoint = endpoint.map_err(|problem| unusable(shown_title(own), &problem))?;
            return Ok(Setup {
                wire: self.wire,
                endpoint,
                from: AddressSource::Settings,
                key_env: own.key_env.clone().or(key_env),
                prices: prices(own).unwrap_or(self.prices),
            });
        }
        let (endpoint, from) = self.endpoint(surroundings)?;
        Ok(Setup {
            wire: self.wire,
            endpoint,
            from,
            key_env,
            prices: self.prices,
        })
    }

    /// What it is called, with the person's entry of its id if there is one.
    pub(crate) fn shown_title<'a>(&'a self, own: Option<&'a ProviderSettings>) -> &'a str {
        match own {
            Some(own) if !own.title.is_empty() => &own.title,
            _ => self.title,
        }
    }

    fn own_endpoint(&self, own: &ProviderSettings) -> Result<Endpoint, String> {
        if own.wire != self.wire {
            return Err(format!(
                "the id \u{201c}{}\u{201d} is built in, and speaks another wire format",
                self.id
            ));
        }
        check_prices(own)?;
        Endpoint::parse(&own.base_url)
    }

    fn endpoint(&self, surroundings: &Surroundings) -> Result<(Endpoint, AddressSource), Fault> {
        let set = self
            .base_url_env
            .and_then(|name| Some((name, surroundings.get(name)?)));
        let Some((name, value)) = set else {
            let usual = Endpoint::parse(self.base_url);
            let usual = usual.map_err(|problem| unusable(self.title, &problem))?;
            return Ok((usual, AddressSource::Usual));
        };
        let (endpoint, example) = match name {
            OLLAMA_HOST => (
                Endpoint::ollama(value),
                "a host and a port, like 127.0.0.1:11434",
            ),
            _ => (
                Endpoint::parse(value).map(|base| base.below(self.version)),
                "the base URL that requests are to go to, like https://proxy.example/",
            ),
        };
        let endpoint = endpoint.map_err(|problem| {
            Fault::new(
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
pub(crate) fn prices(own: &ProviderSettings) -> Option<Prices> {
    Some(Prices::Set {
        input_usd_per_mtok: own.input_usd_per_mtok?,
        output_usd_per_mtok: own.output_usd_per_mtok?,
    })
}

pub(crate) fn check_prices(own: &ProviderSettings) -> Result<(), String> {
    let named = [own.input_usd_per_mtok, own.output_usd_per_mtok];
    let is_price = |usd: f64| usd.is_finite() && usd >= 0.0;
    match named.into_iter().flatten().all(is_price) {
        true => Ok(()),
        false => Err("a price is not a number of dollars".to_owned()),
    }
}

/// What a person's entry is called.
pub(crate) fn shown_title(own: &ProviderSettings) -> &str {
    match own.title.is_empty() {
        true => &own.id,
        false => &own.title,
    }
}

/// An entry that does not work.
pub(crate) fn unusable(title: &str, problem: &str) -> Fault {
    Fault::new(
        format!("The provider \u{201c}{title}\u{201d} cannot be used: {problem}."),
        "Correct its entry in the settings.",
    )
}
