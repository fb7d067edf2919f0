//! What people signed in to servers with, in the keychain: in pieces, since some keychains take no long ones.

use std::sync::Arc;

use mcp::Vault;
use protocol::Fault;
use protocol::servers::ServerId;
use provider::{Keys, Secret};

use crate::limits::{KEPT_CHARS_MAX, KEPT_PIECES_MAX};

/// Under which provider's name the keychain files a sign-in: no reference of a server's settings leads there.
const SIGN_INS: &str = "mcp-sign-in:";

/// The sign-ins of a desk's servers.
pub(crate) struct SignIns(pub Arc<dyn Keys>);

impl SignIns {
    fn name(server: &ServerId, piece: usize) -> String {
        format!("{SIGN_INS}{server}:{piece}")
    }

    /// One piece: how many there are, which of them it is, and what it holds.
    fn piece(&self, server: &ServerId, piece: usize) -> Result<Option<(usize, String)>, Fault> {
        let Some(key) = self.0.get(&Self::name(server, piece), None)? else {
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
            match self.piece(server, at).map_err(|fault| fault.to_string())? {
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
            let set = self.0.set(&Self::name(server, at), &secret);
            set.map_err(|fault| fault.to_string())?;
        }
        Ok(())
    }

    fn forget(&self, server: &ServerId) -> Result<(), String> {
        for at in 0..KEPT_PIECES_MAX {
            let forgot = self.0.forget(&Self::name(server, at));
            forgot.map_err(|fault| fault.to_string())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use provider::MemoryKeys;

    use super::*;

    #[test]
    fn what_is_long_is_kept_in_pieces_and_only_whole() {
        let keys = Arc::new(MemoryKeys::new());
        let kept = SignIns(keys.clone());
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
        let closed = SignIns(Arc::new(MemoryKeys::new().without_keychain()));
        assert!(closed.get(&server).is_err() && closed.set(&server, "x").is_err());
    }
}
