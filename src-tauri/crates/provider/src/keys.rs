//! Where keys come from: the environment first, then the system keychain; in tests, memory.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use protocol::{FaultCause, UserError};

use crate::Secret;

/// The name under which the keychain files our keys.
const KEYCHAIN_SERVICE: &str = "countersign";

/// A key and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The key.
    pub secret: Secret,
    /// Where it was found.
    pub from: KeySource,
}

/// Where a key was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In this environment variable.
    Environment(String),
    /// In the system keychain.
    Keychain,
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "from {name}"),
            Self::Keychain => f.write_str("from the system keychain"),
        }
    }
}

/// A key that is in memory, with the name that it is kept by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedKey {
    /// The name: a provider's, or whoever else uses the key.
    pub name: String,
    /// The key.
    pub key: ApiKey,
}

/// A place that holds keys. Its methods may block: they are called away from the async threads.
pub trait KeyStore: Send + Sync {
    /// The key of a provider: what the environment variable `env` holds, else what the keychain holds.
    ///
    /// # Errors
    /// When the environment has none and the keychain cannot be asked; the fault says why.
    fn get(&self, provider: &str, env: Option<&str>) -> Result<Option<ApiKey>, UserError>;

    /// Keeps a key in the keychain.
    ///
    /// # Errors
    /// When the keychain cannot be reached or refuses.
    fn set(&self, provider: &str, secret: &Secret) -> Result<(), UserError>;

    /// Takes a key out of the keychain; fine if there is none.
    ///
    /// # Errors
    /// When the keychain cannot be reached or refuses.
    fn remove(&self, provider: &str) -> Result<(), UserError>;

    /// The keys that are in memory: nobody is asked to unlock anything for them.
    fn loaded_keys(&self) -> Vec<LoadedKey>;
}

/// The environment of this process and the keychain of the system: Keychain on macOS, Credential Manager on Windows,
/// the Secret Service elsewhere.
///
/// A key that was found is kept in memory: so a person is asked to unlock the keychain once, and the key is known when it
/// leaves.
#[derive(Debug, Default)]
pub struct SystemKeyStore {
    cache: Mutex<HashMap<String, ApiKey>>,
}

impl SystemKeyStore {
    fn lock_cache(&self) -> std::sync::MutexGuard<'_, HashMap<String, ApiKey>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a key in memory, and returns it.
    fn cache_key(&self, provider: &str, secret: Secret, from: KeySource) -> ApiKey {
        let key = ApiKey { secret, from };
        self.lock_cache().insert(provider.to_owned(), key.clone());
        key
    }
}

impl KeyStore for SystemKeyStore {
    fn get(&self, provider: &str, env: Option<&str>) -> Result<Option<ApiKey>, UserError> {
        let value = env.and_then(|name| Some((name, std::env::var(name).ok()?)));
        if let Some((name, secret)) =
            value.and_then(|(name, text)| Some((name, Secret::new(&text)?)))
        {
            let from = KeySource::Environment(name.to_owned());
            return Ok(Some(self.cache_key(provider, secret, from)));
        }
        let known = self.lock_cache().get(provider).cloned();
        if let Some(known) = known.filter(|known| known.from == KeySource::Keychain) {
            return Ok(Some(known));
        }
        let secret = keychain_entry(provider)
            .and_then(|entry| entry.get_password())
            .map(|text| Secret::new(&text))
            .or_else(|error| match error {
                keyring::Error::NoEntry => Ok(None),
                other => Err(keychain_error(&other)),
            })?;
        Ok(secret.map(|secret| self.cache_key(provider, secret, KeySource::Keychain)))
    }

    fn set(&self, provider: &str, secret: &Secret) -> Result<(), UserError> {
        keychain_entry(provider)
            .and_then(|entry| entry.set_password(secret.reveal()))
            .map_err(|error| keychain_error(&error))?;
        self.cache_key(provider, secret.clone(), KeySource::Keychain);
        Ok(())
    }

    fn remove(&self, provider: &str) -> Result<(), UserError> {
        self.lock_cache().remove(provider);
        match keychain_entry(provider).and_then(|entry| entry.delete_credential()) {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(keychain_error(&error)),
        }
    }

    fn loaded_keys(&self) -> Vec<LoadedKey> {
        let cache = self.lock_cache();
        let keys = cache.iter().map(|(name, key)| LoadedKey {
            name: name.clone(),
            key: key.clone(),
        });
        keys.collect()
    }
}

fn keychain_entry(provider: &str) -> keyring::Result<keyring::Entry> {
    keyring::Entry::new(KEYCHAIN_SERVICE, provider)
}

/// A machine without a keychain is ordinary (servers, containers), so this says so plainly. The cause stands in the
/// context; errors of the keychain that carry what was stored are named without it.
fn keychain_error(error: &keyring::Error) -> UserError {
    let mut fault = UserError::new(
        "The system keychain cannot be used here.",
        "Use an environment variable for the key.",
    );
    fault.cause = Some(FaultCause::KeychainUnusable);
    fault.context.push(match error {
        keyring::Error::BadEncoding(_) | keyring::Error::BadDataFormat(_, _) => {
            "what the keychain holds is not text".to_owned()
        }
        keyring::Error::NoDefaultStore => match keyring::Entry::store_status() {
            Err(cause) => cause.to_string(),
            Ok(()) => error.to_string(),
        },
        other => other.to_string(),
    });
    fault
}

/// Keys in memory: for tests, and for hosts that must not touch the system's keychain.
#[derive(Debug, Default)]
pub struct MemoryKeyStore {
    environment: HashMap<String, Secret>,
    keychain: Mutex<HashMap<String, Secret>>,
    unavailable: bool,
}

impl MemoryKeyStore {
    /// No keys at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the store with an environment variable.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        if let Some(secret) = Secret::new(value) {
            self.environment.insert(name.to_owned(), secret);
        }
        self
    }

    /// Returns the store with a keychain that cannot be reached.
    #[must_use]
    pub fn without_keychain(mut self) -> Self {
        self.unavailable = true;
        self
    }

    fn lock_keychain(
        &self,
    ) -> Result<std::sync::MutexGuard<'_, HashMap<String, Secret>>, UserError> {
        if self.unavailable {
            return Err(keychain_error(&keyring::Error::NoDefaultStore));
        }
        Ok(self.keychain.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl KeyStore for MemoryKeyStore {
    fn get(&self, provider: &str, env: Option<&str>) -> Result<Option<ApiKey>, UserError> {
        let from_env = env.and_then(|name| {
            self.environment.get(name).map(|secret| ApiKey {
                secret: secret.clone(),
                from: KeySource::Environment(name.to_owned()),
            })
        });
        if from_env.is_some() {
            return Ok(from_env);
        }
        Ok(self.lock_keychain()?.get(provider).map(|secret| ApiKey {
            secret: secret.clone(),
            from: KeySource::Keychain,
        }))
    }

    fn set(&self, provider: &str, secret: &Secret) -> Result<(), UserError> {
        self.lock_keychain()?
            .insert(provider.to_owned(), secret.clone());
        Ok(())
    }

    fn remove(&self, provider: &str) -> Result<(), UserError> {
        self.lock_keychain()?.remove(provider);
        Ok(())
    }

    fn loaded_keys(&self) -> Vec<LoadedKey> {
        let Ok(keychain) = self.lock_keychain() else {
            return Vec::new();
        };
        let keys = keychain.iter().map(|(name, secret)| LoadedKey {
            name: name.clone(),
            key: ApiKey {
                secret: secret.clone(),
                from: KeySource::Keychain,
            },
        });
        keys.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_comes_before_the_keychain() {
        let keys = MemoryKeyStore::new().with_env("A_KEY", "from-env");
        keys.set("a", &Secret::new("from-chain").unwrap()).unwrap();
        let key = |text: &str, from| {
            Some(ApiKey {
                secret: Secret::new(text).unwrap(),
                from,
            })
        };
        let env = KeySource::Environment("A_KEY".to_owned());
        assert_eq!(keys.get("a", Some("A_KEY")).unwrap(), key("from-env", env));
        assert_eq!(
            keys.get("a", Some("B_KEY")).unwrap(),
            key("from-chain", KeySource::Keychain)
        );
        keys.remove("a").unwrap();
        assert_eq!(keys.get("a", None).unwrap(), None);
    }

    #[test]
    fn a_key_is_loaded_once_it_was_used() {
        let keys = SystemKeyStore::default();
        assert_eq!(keys.loaded_keys(), []);
        // A variable that every test process of cargo has.
        let key = keys.get("a", Some("CARGO_MANIFEST_DIR")).unwrap().unwrap();
        let name = "a".to_owned();
        assert_eq!(keys.loaded_keys(), [LoadedKey { name, key }]);
    }

    #[test]
    fn a_missing_keychain_is_said_plainly() {
        let fault = MemoryKeyStore::new()
            .without_keychain()
            .get("a", Some("A_KEY"))
            .unwrap_err();
        assert_eq!(
            fault.to_string(),
            "The system keychain cannot be used here. Use an environment variable for the key."
        );
    }
}
