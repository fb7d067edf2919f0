//! What people signed in to servers with, in the keychain: in pieces, since some keychains take no long ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp::Vault;
use protocol::Fault;
use protocol::servers::ServerId;
use provider::{Keys, Secret};

use crate::limits::{KEPT_CHARS_MAX, KEPT_PIECES_MAX, RENEWAL_TRIES};

/// Under which provider's name the keychain files a sign-in: no reference of a server's settings leads there.
const SIGN_INS: &str = "mcp-sign-in:";

/// The sign-ins of a desk's servers.
pub(crate) struct SignIns {
    keys: Arc<dyn Keys>,
    /// What holds one stands here, for every process with the same data folder.
    locks: PathBuf,
}

impl SignIns {
    /// In a keychain, for a data folder.
    pub(crate) fn new(keys: Arc<dyn Keys>, data_dir: &Path) -> Self {
        let locks = data_dir.join("sign-ins");
        Self { keys, locks }
    }

    fn name(server: &ServerId, piece: usize) -> String {
        format!("{SIGN_INS}{server}:{piece}")
    }

    /// One piece: how many there are, which of them it is, and what it holds.
    fn piece(&self, server: &ServerId, piece: usize) -> Result<Option<(usize, String)>, Fault> {
        let Some(key) = self.keys.get(&Self::name(server, piece), None)? else {
            return Ok(None);
        };
        let read = key.secret.reveal().split_once('|');
        // The bar at its end keeps white space that stands there.
        Ok(read.and_then(|(count, text)| {
            Some((count.parse().ok()?, text.strip_suffix('|')?.to_owned()))
        }))
    }
}

impl Vault for SignIns {
    /// What is not whole is none.
    fn get(&self, server: &ServerId) -> Result<Option<String>, String> {
        let mut whole = String::new();
        let mut count = 1;
        let mut at = 0;
        while at < count {
            match self.piece(server, at).map_err(|fault| fault.message)? {
                Some((of, text)) if at == 0 && of <= KEPT_PIECES_MAX || of == count => {
                    count = of;
                    whole.push_str(&text);
                }
                Some(_) | None => return Ok(None),
            }
            at += 1;
        }
        Ok(Some(whole))
    }

    fn set(&self, server: &ServerId, record: &str) -> Result<(), String> {
        let chars: Vec<char> = record.chars().collect();
        let pieces: Vec<String> = chars
            .chunks(KEPT_CHARS_MAX)
            .map(String::from_iter)
            .collect();
        if pieces.len() > KEPT_PIECES_MAX {
            return Err("What was signed in with is too long for the keychain.".to_owned());
        }
        // The first stands last: until it does, what is there is not whole.
        self.forget(server)?;
        for (at, text) in pieces.iter().enumerate().rev() {
            let secret = Secret::new(&format!("{}|{text}|", pieces.len()));
            let secret = secret.ok_or("There is nothing to keep.")?;
            let set = self.keys.set(&Self::name(server, at), &secret);
            set.map_err(|fault| fault.message)?;
        }
        Ok(())
    }

    fn forget(&self, server: &ServerId) -> Result<(), String> {
        for at in 0..KEPT_PIECES_MAX {
            let forgot = self.keys.forget(&Self::name(server, at));
            forgot.map_err(|fault| fault.message)?;
        }
        Ok(())
    }

    fn renewing(&self, server: &ServerId) -> Result<Box<dyn Send>, String> {
        let path = self.locks.join(format!("{server}.lock"));
        // Whoever has it waits for a server.
        let mut tries = (0..RENEWAL_TRIES).map(|_| runtime::lock(&path));
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
    use provider::MemoryKeys;

    use super::*;

    #[test]
    fn what_is_long_is_kept_in_pieces_and_only_whole() {
        let keys = Arc::new(MemoryKeys::new());
        let home = tempfile::tempdir().unwrap();
        let kept = SignIns::new(keys.clone(), home.path());
        let server = ServerId::try_from("far".to_owned()).unwrap();
        assert_eq!(kept.get(&server), Ok(None));
        for len in [1, KEPT_CHARS_MAX, KEPT_CHARS_MAX + 1, 5 * KEPT_CHARS_MAX, 7] {
            let record = "é ".repeat(len);
            kept.set(&server, &record).unwrap();
            assert_eq!(kept.get(&server), Ok(Some(record)), "{len}");
        }
        kept.set(&server, &"x".repeat(3 * KEPT_CHARS_MAX)).unwrap();
        keys.forget("mcp-sign-in:far:1").unwrap();
        assert_eq!(kept.get(&server), Ok(None), "a piece is missing");
        kept.forget(&server).unwrap();
        assert_eq!(kept.get(&server), Ok(None));
        let long = "x".repeat(KEPT_CHARS_MAX * KEPT_PIECES_MAX + 1);
        assert!(kept.set(&server, &long).is_err());
        let closed = SignIns::new(Arc::new(MemoryKeys::new().without_keychain()), home.path());
        assert!(closed.get(&server).is_err() && closed.set(&server, "x").is_err());
    }

    #[test]
    fn one_process_renews_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let process = || SignIns::new(Arc::new(MemoryKeys::new()), home.path());
        let server = |name: &str| ServerId::try_from(name.to_owned()).unwrap();
        let first = process().renewing(&server("far")).unwrap();
        let _another = process().renewing(&server("near")).unwrap();
        let (told, hears) = std::sync::mpsc::channel();
        let second = std::thread::spawn({
            let (process, far) = (process(), server("far"));
            move || {
                let _held = process.renewing(&far).unwrap();
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
