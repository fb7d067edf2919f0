//! Where the requests to models go, for `doctor`: told where somebody said so, and where what was said cannot be used.

use std::sync::Arc;

use protocol::settings::ProviderSettings;
use provider::{AddressSource, MemoryKeyStore, Providers};

use crate::output::{OutputWriter, TextStyle};

/// One line for each provider whose requests go elsewhere than to its own address, or nowhere. No key is looked up.
pub(super) fn list_redirected_providers(
    settings: &[ProviderSettings],
    out: &OutputWriter,
) -> Vec<String> {
    let providers = Providers::new(settings, Arc::new(MemoryKeyStore::new()));
    let addresses = providers.addresses().into_iter();
    let told = addresses.filter_map(|address| match (address.base_url, &address.from) {
        (Err(fault), _) => Some(out.apply_style(TextStyle::Bad, &fault.to_string())),
        (Ok(_), AddressSource::Default) => None,
        (Ok(url), from) => Some(out.apply_style(
            TextStyle::Plain,
            &format!("Requests to {} go to {url}, {from}.", address.title),
        )),
    });
    told.collect()
}
