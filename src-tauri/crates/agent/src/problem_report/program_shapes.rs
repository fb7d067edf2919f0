//! What the settings name by texts of the person's: providers, language servers, watchdogs, and hooks. Each gets a number.

use protocol::server::language_servers::LanguageServer;
use protocol::settings::{
    HookPoint, HookSettings, ProviderSettings, SearchApi, SearchProviderSettings, WatchdogSettings,
    WireFormat,
};
use serde::Serialize;

use super::text::{NumberedName, Presence};

#[derive(Debug, Serialize)]
pub(super) struct SearchProviderShape {
    wire: SearchApi,
    base_url: Presence,
    key_env: Presence,
}

#[derive(Debug, Serialize)]
pub(super) struct LanguageServerShape {
    name: NumberedName,
    enabled: bool,
    args: usize,
    files: usize,
}

/// A watchdog or a hook.
#[derive(Debug, Serialize)]
pub(super) struct ProgramShape {
    name: NumberedName,
    on: Vec<HookPoint>,
    timeout_ms: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct ProviderShape {
    name: ProviderName,
    wire: WireFormat,
    base_url: Presence,
    key_env: Presence,
    input_usd_per_mtok: Option<f64>,
    output_usd_per_mtok: Option<f64>,
}

/// The name of a provider: one that the program knows, or a number.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ProviderName {
    Known(&'static str),
    Own(NumberedName),
    NotSetUp(Presence),
}

impl ProviderName {
    pub(super) fn of(id: &str, own: &[ProviderSettings]) -> Self {
        let mut known = provider::built_in_ids().chain(provider::LOCAL_IDS);
        if let Some(known) = known.find(|known| *known == id) {
            return Self::Known(known);
        }
        match own.iter().position(|settings| settings.id == id) {
            Some(index) => Self::Own(NumberedName {
                thing: "provider",
                index,
            }),
            None => Self::NotSetUp(Presence::of(Some(id))),
        }
    }
}

pub(super) fn shape_search_provider(settings: SearchProviderSettings) -> SearchProviderShape {
    let SearchProviderSettings {
        id: _,
        wire,
        base_url,
        key_env,
    } = settings;
    SearchProviderShape {
        wire,
        base_url: Presence::of(base_url.as_deref()),
        key_env: Presence::of(key_env.as_deref()),
    }
}

pub(super) fn shape_language_server(index: usize, settings: LanguageServer) -> LanguageServerShape {
    let LanguageServer {
        id: _,
        enabled,
        command: _,
        args,
        files,
    } = settings;
    LanguageServerShape {
        name: NumberedName {
            thing: "language server",
            index,
        },
        enabled,
        args: args.len(),
        files: files.len(),
    }
}

pub(super) fn shape_watchdog(index: usize, settings: WatchdogSettings) -> ProgramShape {
    let WatchdogSettings {
        name: _,
        program: _,
        timeout_ms,
    } = settings;
    ProgramShape {
        name: NumberedName {
            thing: "watchdog",
            index,
        },
        on: Vec::new(),
        timeout_ms,
    }
}

pub(super) fn shape_hook(index: usize, settings: HookSettings) -> ProgramShape {
    let HookSettings {
        name: _,
        program: _,
        on,
        timeout_ms,
    } = settings;
    ProgramShape {
        name: NumberedName {
            thing: "hook",
            index,
        },
        on,
        timeout_ms,
    }
}

pub(super) fn shape_provider(
    settings: &ProviderSettings,
    own: &[ProviderSettings],
) -> ProviderShape {
    let ProviderSettings {
        id,
        title: _,
        wire,
        base_url,
        key_env,
        input_usd_per_mtok,
        output_usd_per_mtok,
    } = settings;
    ProviderShape {
        name: ProviderName::of(id, own),
        wire: *wire,
        base_url: Presence::of(Some(base_url)),
        key_env: Presence::of(key_env.as_deref()),
        input_usd_per_mtok: *input_usd_per_mtok,
        output_usd_per_mtok: *output_usd_per_mtok,
    }
}
