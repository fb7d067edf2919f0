//! The secrets that a person let go, each to one receiver: only keyed digests are kept, and they end with the process.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use policy::watchdogs::KnownSecret;

/// Digest of a secret and its receiver, by a key that nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SecretRelease(u64);

/// The secrets that a person let go in a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReleasedSecrets {
    key: RandomState,
    released: HashSet<SecretRelease>,
}

impl ReleasedSecrets {
    /// Returns the release of a secret to a receiver, whether or not a person made it.
    pub fn release_of(&self, secret: &KnownSecret, receiver: &str) -> SecretRelease {
        SecretRelease(self.key.hash_one((secret, receiver)))
    }

    /// Adds releases that a person made.
    pub fn add(&mut self, releases: &[SecretRelease]) {
        self.released.extend(releases);
    }

    /// Whether a person made this release.
    pub fn contains(&self, release: SecretRelease) -> bool {
        self.released.contains(&release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_of_one_secret_to_one_receiver() {
        let env = "A_KEY=qX7pL2mZ9vRt4KwS\nB_KEY=Zm81nQ0xLs7dPw3T\n";
        let secrets = KnownSecret::find_in_file(".env", env.as_bytes());
        let elsewhere = KnownSecret::find_in_file("app/.env", env.as_bytes());
        let mut released = ReleasedSecrets::default();
        released.add(&[released.release_of(&secrets[0], "api.example")]);
        for (secret, receiver, expected) in [
            (&secrets[0], "api.example", true),
            // The same value, wherever it stands.
            (&elsewhere[0], "api.example", true),
            (&secrets[0], "other.example", false),
            (&secrets[1], "api.example", false),
        ] {
            let release = released.release_of(secret, receiver);
            assert_eq!(
                released.contains(release),
                expected,
                "{secret:?} {receiver}"
            );
        }
        // Another session has another key.
        let release = released.release_of(&secrets[0], "api.example");
        assert!(!ReleasedSecrets::default().contains(release));
        assert!(!format!("{released:?}").contains("qX7pL2mZ9vRt4KwS"));
    }
}
