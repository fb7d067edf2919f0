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
    /// In memory, where a person put it for this run of the app.
    Run,
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "from {name}"),
            Self::Keychain => f.write_str("from the system keychain"),
            Self::Run => f.write_str("for this run only"),
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
    /// The key of a provider: what the environment variable `env` holds, else what is kept for this run, else what the
    /// keychain holds.
    ///
    /// # Errors
    /// When the environment has none and the keychain cannot be asked; the fault says why.
    fn get(&self, provider: &str, env: Option<&str>) -> Result<Option<ApiKey>, UserError>;

    /// Keeps a key in the keychain.
    ///
    /// # Errors
    /// When the keychain cannot be reached or refuses.
    fn set(&self, provider: &str, secret: &Secret) -> Result<(), UserError>;

    /// Keeps a key in memory, for this run of the app. It comes before one in the keychain, which stays.
    fn set_for_run(&self, provider: &str, secret: &Secret);

    /// Takes a key out of memory if it is kept for this run, else out of the keychain; fine if there is none.
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
        let known = known.filter(|known| match known.from {
            KeySource::Keychain | KeySource::Run => true,
            KeySource::Environment(_) => false,
        });
        if let Some(known) = known {
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

    fn set_for_run(&self, provider: &str, secret: &Secret) {
        self.cache_key(provider, secret.clone(), KeySource::Run);
    }

    fn remove(&self, provider: &str) -> Result<(), UserError> {
        let known = self.lock_cache().remove(provider);
        if known.is_some_and(|known| known.from == KeySource::Run) {
            return Ok(());
        }
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
    for_run: Mutex<HashMap<String, Secret>>,
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

    fn lock_run(&self) -> std::sync::MutexGuard<'_, HashMap<String, Secret>> {
        self.for_run.lock().unwrap_or_else(PoisonError::into_inner)
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
        let key = |secret: &Secret, from| ApiKey {
            secret: secret.clone(),
            from,
        };
        if let Some(secret) = self.lock_run().get(provider) {
            return Ok(Some(key(secret, KeySource::Run)));
        }
        let keychain = self.lock_keychain()?;
        Ok(keychain
            .get(provider)
            .map(|secret| key(secret, KeySource::Keychain)))
    }

    fn set(&self, provider: &str, secret: &Secret) -> Result<(), UserError> {
        self.lock_keychain()?
            .insert(provider.to_owned(), secret.clone());
        Ok(())
    }

    fn set_for_run(&self, provider: &str, secret: &Secret) {
        self.lock_run().insert(provider.to_owned(), secret.clone());
    }

    fn remove(&self, provider: &str) -> Result<(), UserError> {
        if self.lock_run().remove(provider).is_none() {
            self.lock_keychain()?.remove(provider);
        }
        Ok(())
    }

    fn loaded_keys(&self) -> Vec<LoadedKey> {
        let loaded = |keys: &HashMap<String, Secret>, from: &KeySource| -> Vec<LoadedKey> {
            let keys = keys.iter().map(|(name, secret)| LoadedKey {
                name: name.clone(),
                key: ApiKey {
                    secret: secret.clone(),
                    from: from.clone(),
                },
            });
            keys.collect()
        };
        let mut all = loaded(&self.lock_run(), &KeySource::Run);
        if let Ok(keychain) = self.lock_keychain() {
            all.extend(loaded(&keychain, &KeySource::Keychain));
        }
        all
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

    /// Where there is no keychain, a key can be kept for this run alone; removing it leaves one in the keychain.
    #[test]
    fn a_key_for_this_run_needs_no_keychain_and_comes_before_it() {
        let secret = |text: &str| Secret::new(text).unwrap();
        let found = |keys: &dyn KeyStore| keys.get("a", None).map(|key| key.map(|key| key.from));
        let without = MemoryKeyStore::new().without_keychain();
        without.set("a", &secret("one")).unwrap_err();
        without.set_for_run("a", &secret("one"));
        assert_eq!(found(&without), Ok(Some(KeySource::Run)));
        assert_eq!(without.loaded_keys().len(), 1);
        without.remove("a").unwrap();
        found(&without).unwrap_err();

        let with = MemoryKeyStore::new();
        with.set("a", &secret("kept")).unwrap();
        with.set_for_run("a", &secret("other"));
        assert_eq!(found(&with), Ok(Some(KeySource::Run)));
        with.remove("a").unwrap();
        assert_eq!(found(&with), Ok(Some(KeySource::Keychain)));

        let system = SystemKeyStore::default();
        system.set_for_run("a", &secret("other"));
        assert_eq!(found(&system), Ok(Some(KeySource::Run)));
        system.remove("a").unwrap();
        assert_eq!(system.loaded_keys(), []);
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
