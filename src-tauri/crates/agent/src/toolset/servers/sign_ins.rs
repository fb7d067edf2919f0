//! Sign-ins of people to servers, in the keychain: stored in pieces, because some keychains limit the length of an
//! item.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp::CredentialVault;
use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use provider::{KeyStore, Secret};

use crate::limits::{KEYCHAIN_CHARS_MAX, KEYCHAIN_PIECES_MAX, RENEWAL_ATTEMPTS_MAX};

/// Prefix of the provider name under which the keychain stores a sign-in: no reference of a server's settings can name
/// it.
const SIGN_IN_PREFIX: &str = "mcp-sign-in:";

/// Sign-ins to the servers of an engine.
pub(crate) struct SignInVault {
    keys: Arc<dyn KeyStore>,
    /// Folder of lock files for sign-ins, shared by all processes with the same data folder.
    locks: PathBuf,
}

impl SignInVault {
    /// Returns the sign-ins in a keychain, for a data folder.
    pub(crate) fn new(keys: Arc<dyn KeyStore>, data_dir: &Path) -> Self {
        let locks = data_dir.join("sign-ins");
        Self { keys, locks }
    }

    /// Returns the names under which the keychain may hold the sign-in to a server.
    pub(crate) fn keychain_names(server: &ServerId) -> impl Iterator<Item = String> {
        (0..KEYCHAIN_PIECES_MAX).map(|piece| Self::piece_key(server, piece))
    }

    fn piece_key(server: &ServerId, piece: usize) -> String {
        format!("{SIGN_IN_PREFIX}{server}:{piece}")
    }

    /// Reads one piece: the number of pieces, and the content of this one.
    fn read_piece(
        &self,
        server: &ServerId,
        piece: usize,
    ) -> Result<Option<(usize, String)>, UserError> {
        let Some(key) = self.keys.get(&Self::piece_key(server, piece), None)? else {
            return Ok(None);
        };
        let read = key.secret.reveal().split_once('|');
        // The bar at its end keeps white space that stands there.
        Ok(read.and_then(|(count, text)| {
            Some((count.parse().ok()?, text.strip_suffix('|')?.to_owned()))
        }))
    }
}

impl CredentialVault for SignInVault {
    /// Returns a sign-in; none if any of its pieces is missing.
    fn get(&self, server: &ServerId) -> Result<Option<String>, String> {
        let mut secret = String::new();
        let mut count = 1;
        let mut at = 0;
        while at < count {
            match self.read_piece(server, at).map_err(|fault| fault.message)? {
                Some((of, text)) if at == 0 && of <= KEYCHAIN_PIECES_MAX || of == count => {
                    count = of;
                    secret.push_str(&text);
                }
                Some(_) | None => return Ok(None),
            }
            at += 1;
        }
        Ok(Some(secret))
    }

    fn set(&self, server: &ServerId, record: &str) -> Result<(), String> {
        let chars: Vec<char> = record.chars().collect();
        let pieces: Vec<String> = chars
            .chunks(KEYCHAIN_CHARS_MAX)
            .map(String::from_iter)
            .collect();
        if pieces.len() > KEYCHAIN_PIECES_MAX {
            return Err("What was signed in with is too long for the keychain.".to_owned());
        }
        // The first stands last: until it does, what is there is not whole.
        self.remove(server)?;
        for (at, text) in pieces.iter().enumerate().rev() {
            let secret = Secret::new(&format!("{}|{text}|", pieces.len()));
            let secret = secret.ok_or("There is nothing to keep.")?;
            let set = self.keys.set(&Self::piece_key(server, at), &secret);
            set.map_err(|fault| fault.message)?;
        }
        Ok(())
    }

    fn remove(&self, server: &ServerId) -> Result<(), String> {
        for at in 0..KEYCHAIN_PIECES_MAX {
            let forgot = self.keys.remove(&Self::piece_key(server, at));
            forgot.map_err(|fault| fault.message)?;
        }
        Ok(())
    }

    fn lock_renewal(&self, server: &ServerId) -> Result<Box<dyn Send>, String> {
        let path = self.locks.join(format!("{server}.lock"));
        // Whoever has it waits for a server.
        let mut tries = (0..RENEWAL_ATTEMPTS_MAX).map(|_| runtime::lock_file(&path));
        let held = tries.find(Result::is_ok);
        match held {
            Some(Ok(held)) => Ok(Box::new(held)),
            Some(Err(_)) | None => Err(format!(
                "Another Countersign has been renewing the sign-in to `{server}` for long. Try again, or end it."
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use provider::MemoryKeyStore;

    use super::*;

    #[test]
    fn what_is_long_is_kept_in_pieces_and_only_whole() {
        let keys = Arc::new(MemoryKeyStore::new());
        let home = tempfile::tempdir().unwrap();
        let kept = SignInVault::new(keys.clone(), home.path());
        let server = ServerId::try_from("far".to_owned()).unwrap();
        assert_eq!(kept.get(&server), Ok(None));
        for len in [
            1,
            KEYCHAIN_CHARS_MAX,
            KEYCHAIN_CHARS_MAX + 1,
            5 * KEYCHAIN_CHARS_MAX,
            7,
        ] {
            let record = "é ".repeat(len);
            kept.set(&server, &record).unwrap();
            assert_eq!(kept.get(&server), Ok(Some(record)), "{len}");
        }
        kept.set(&server, &"x".repeat(3 * KEYCHAIN_CHARS_MAX))
            .unwrap();
        keys.remove("mcp-sign-in:far:1").unwrap();
        assert_eq!(kept.get(&server), Ok(None), "a piece is missing");
        kept.remove(&server).unwrap();
        assert_eq!(kept.get(&server), Ok(None));
        let long = "x".repeat(KEYCHAIN_CHARS_MAX * KEYCHAIN_PIECES_MAX + 1);
        assert!(kept.set(&server, &long).is_err());
        let closed = SignInVault::new(
            Arc::new(MemoryKeyStore::new().without_keychain()),
            home.path(),
        );
        assert!(closed.get(&server).is_err() && closed.set(&server, "x").is_err());
    }

    #[test]
    fn one_process_renews_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let process = || SignInVault::new(Arc::new(MemoryKeyStore::new()), home.path());
        let server = |name: &str| ServerId::try_from(name.to_owned()).unwrap();
        let first = process().lock_renewal(&server("far")).unwrap();
        let _another = process().lock_renewal(&server("near")).unwrap();
        let (told, hears) = std::sync::mpsc::channel();
        let second = std::thread::spawn({
            let (process, far) = (process(), server("far"));
            move || {
                let _held = process.lock_renewal(&far).unwrap();
                told.send(()).unwrap();
            }
        });
        let early = hears.recv_timeout(std::time::Duration::from_millis(100));
        assert!(early.is_err(), "it waits for the first");
        drop(first);
        hears.recv().unwrap();
        second.join().unwrap();
    }
}
