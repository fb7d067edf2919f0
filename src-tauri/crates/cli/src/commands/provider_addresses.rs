//! Reports for `doctor` where requests to models go: overridden addresses, and overrides that cannot be used.

use std::sync::Arc;

use protocol::settings::ProviderSettings;
use provider::{AddressSource, MemoryKeyStore, Providers};

use crate::output::{OutputWriter, TextStyle};

/// Returns one line for each provider whose requests go to another address than its own, or nowhere. No key is
/// resolved.
pub(super) fn list_redirected_providers(
    settings: &[ProviderSettings],
    out: &OutputWriter,
) -> Vec<String> {
    let providers = Providers::new(settings, Arc::new(MemoryKeyStore::new()));
    let addresses = providers.addresses().into_iter();
    let lines = addresses.filter_map(|address| match (address.base_url, &address.from) {
        (Err(fault), _) => Some(out.apply_style(TextStyle::Bad, &fault.to_string())),
        (Ok(_), AddressSource::Default) => None,
        (Ok(url), from) => Some(out.apply_style(
            TextStyle::Plain,
            &format!("Requests to {} go to {url}, {from}.", address.title),
        )),
    });
    lines.collect()
}
