//! Where the requests to models go, for `doctor`: told where somebody said so, and where what was said cannot be used.

use std::sync::Arc;

use protocol::settings::ProviderSettings;
use provider::{AddressSource, MemoryKeys, Providers};

use crate::out::{Ink, Out};

/// One line for each provider whose requests go elsewhere than to its own address, or nowhere. No key is looked up.
pub(super) fn redirected(settings: &[ProviderSettings], out: &Out) -> Vec<String> {
    let providers = Providers::new(settings, Arc::new(MemoryKeys::new()));
    let addresses = providers.addresses().into_iter();
    let told = addresses.filter_map(|address| match (address.base_url, &address.from) {
        (Err(fault), _) => Some(out.ink(Ink::Bad, &fault.to_string())),
        (Ok(_), AddressSource::Usual) => None,
        (Ok(url), from) => Some(out.ink(
            Ink::Plain,
            &format!("Requests to {} go to {url}, {from}.", address.title),
        )),
    });
    told.collect()
}
