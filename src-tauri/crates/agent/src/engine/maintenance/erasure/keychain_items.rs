//! What the app may have put into the system's keychain, by the names that settings, servers, and services have.

use std::path::Path;

use mcp::config::ServersFile;
use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use provider::KeyStore;
use toml::{Table, Value};
use tools::config_references::KEYCHAIN;
use tools::config_table::ConfigTable;

use crate::engine::settings::load_settings;
use crate::toolset::servers::{SECRET_PREFIX, SignInVault};

/// Files whose values may refer to the keychain, and each table of which is a server or a service.
const SOURCE_FILES: [&str; 2] = [ServersFile::FILE, "apis.toml"];

/// Something that the keychain may hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeychainItem {
    /// What it is: "the key of `anthropic`".
    pub title: String,
    /// The names that it has in the keychain: a long one is kept in pieces.
    names: Vec<String>,
}

/// What can be in the keychain, and why there may be more.
pub(super) struct FoundItems {
    pub(super) items: Vec<KeychainItem>,
    pub(super) unknown: Vec<UserError>,
}

/// Finds what the app may have put into the keychain.
pub(super) fn find_items(data_dir: &Path) -> FoundItems {
    let (settings, fault) = load_settings(data_dir);
    let own = settings.providers.into_iter().map(|provider| provider.id);
    let built_in = provider::built_in_ids().map(str::to_owned);
    let searches = settings.web_search.providers.into_iter();
    let searches = searches.map(|provider| provider.keychain_name());
    let mut items: Vec<KeychainItem> = built_in
        .chain(own)
        .chain(searches)
        .map(|name| KeychainItem {
            title: format!("the key of `{name}`"),
            names: vec![name],
        })
        .collect();
    let mut unknown: Vec<UserError> = fault
        .map(|_| unknown_names("settings.toml"))
        .into_iter()
        .collect();
    for file in SOURCE_FILES {
        match read_table(&data_dir.join(file)) {
            Some(table) => add_items(&table, &mut items),
            None => unknown.push(unknown_names(file)),
        }
    }
    items.sort();
    items.dedup();
    FoundItems { items, unknown }
}

fn unknown_names(file: &str) -> UserError {
    UserError::new(
        format!("{file} cannot be read, so keys of what it names may still be in the keychain."),
        "Look in the keychain for entries of `countersign`, and remove them there.",
    )
}

/// Reads a file; an empty table if there is none, and `None` if it cannot be read.
fn read_table(file: &Path) -> Option<Table> {
    let text = runtime::read_text(file).ok()?;
    text.unwrap_or_default().parse().ok()
}

fn add_items(table: &Table, items: &mut Vec<KeychainItem>) {
    let servers = table.get(ServersFile::SECTION).and_then(Value::as_table);
    let servers = servers.into_iter().flat_map(|servers| servers.keys());
    for server in servers.filter_map(|name| ServerId::try_from(name.clone()).ok()) {
        items.push(KeychainItem {
            title: format!("the sign-in to `{server}`"),
            names: SignInVault::keychain_names(&server).collect(),
        });
    }
    table
        .values()
        .for_each(|value| add_references(value, items));
}

fn add_references(value: &Value, items: &mut Vec<KeychainItem>) {
    match value {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix(KEYCHAIN) {
                items.push(KeychainItem {
                    title: format!("the secret `{name}`"),
                    names: vec![format!("{SECRET_PREFIX}{name}")],
                });
            }
        }
        Value::Array(list) => list.iter().for_each(|value| add_references(value, items)),
        Value::Table(table) => table
            .values()
            .for_each(|value| add_references(value, items)),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
    }
}

/// Removes what is in the keychain. Returns why some of it is left.
pub(super) fn remove_items(items: &[KeychainItem], keys: &dyn KeyStore) -> Option<UserError> {
    let remove = |item: &&KeychainItem| item.names.iter().try_for_each(|name| keys.remove(name));
    let mut rest = items.iter();
    let failed = rest.find_map(|item| Some((item, remove(&item).err()?)))?;
    let (first, error) = failed;
    let titles: Vec<&str> = std::iter::once(first)
        .chain(rest)
        .map(|item| item.title.as_str())
        .collect();
    Some(
        UserError::new(
            format!(
                "What the keychain may hold was not removed: {}.",
                titles.join(", ")
            ),
            "Look in the keychain for entries of `countersign`, and remove them there.",
        )
        .with_source(&error),
    )
}

#[cfg(test)]
mod tests {
    use provider::{MemoryKeyStore, Secret};

    use super::*;

    #[test]
    fn keys_secrets_and_sign_ins_are_found_by_what_is_set_up() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            runtime::write_atomic(&home.path().join(name), text.as_bytes(), 0o600).unwrap();
        };
        write(
            "settings.toml",
            "[[providers]]\nid = \"own\"\ntitle = \"Own\"\nwire = \"openai\"\nbase_url = \"https://own.example\"\n\
             [web_search]\nproviders = [{ id = \"brave\", wire = \"brave\" }]\n",
        );
        write(
            "servers.toml",
            "[servers.far]\nurl = \"https://far.example\"\nheaders = { A = \"keychain:far.token\" }\n",
        );
        write(
            "apis.toml",
            "[apis.near]\ndocument = \"/a.json\"\nauth = { b = { type = \"token\", token = \"keychain:near\" } }\n",
        );
        let keys = MemoryKeyStore::new();
        let names = [
            "anthropic",
            "own",
            "web_search/brave",
            "mcp:far.token",
            "mcp:near",
            "mcp-sign-in:far:0",
            "mcp-sign-in:far:1",
        ];
        let secret = Secret::new("hush").unwrap();
        for name in names.into_iter().chain(["another"]) {
            keys.set(name, &secret).unwrap();
        }
        let found = find_items(home.path());
        assert!(found.unknown.is_empty());
        assert_eq!(remove_items(&found.items, &keys), None);
        for name in names {
            assert_eq!(keys.get(name, None), Ok(None), "{name}");
        }
        assert!(keys.get("another", None).unwrap().is_some());

        let closed = MemoryKeyStore::new().without_keychain();
        let left = remove_items(&found.items, &closed).unwrap();
        assert!(left.message.contains("the sign-in to `far`"), "{left}");
        write("apis.toml", "not a table");
        assert_eq!(find_items(home.path()).unknown.len(), 1);
    }
}
