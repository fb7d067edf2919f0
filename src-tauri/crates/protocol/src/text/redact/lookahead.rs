//! Reads forward in bytes that may be incomplete.

use crate::text::redact::token::ScanResult;

/// A position in some bytes. Reading past their end while more may come fails with [`ScanResult::Unsure`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookahead<'a> {
    bytes: &'a [u8],
    /// Number of bytes read.
    pub at: usize,
    is_all: bool,
}

impl<'a> Lookahead<'a> {
    /// Returns the position at the start of some bytes; `is_all` says that no more bytes will come.
    pub fn new(bytes: &'a [u8], is_all: bool) -> Self {
        Self {
            bytes,
            at: 0,
            is_all,
        }
    }

    /// Returns the next byte; none at the end.
    pub fn peek(&self) -> Result<Option<u8>, ScanResult> {
        self.peek_at(0)
    }

    /// Returns the byte `places` ahead; none past the end.
    pub fn peek_at(&self, places: usize) -> Result<Option<u8>, ScanResult> {
        match self.bytes.get(self.at + places) {
            Some(byte) => Ok(Some(*byte)),
            None if self.is_all => Ok(None),
            None => Err(ScanResult::Unsure),
        }
    }

    /// Reads one byte if it equals `byte`, and returns whether it did.
    pub fn take(&mut self, byte: u8) -> Result<bool, ScanResult> {
        let is_it = self.peek()? == Some(byte);
        self.at += usize::from(is_it);
        Ok(is_it)
    }

    /// Reads the bytes `wanted` if they come next, and returns whether they did.
    pub fn take_all(&mut self, prefix: &[u8]) -> Result<bool, ScanResult> {
        for (places, byte) in prefix.iter().enumerate() {
            if self.peek_at(places)? != Some(*byte) {
                return Ok(false);
            }
        }
        self.at += prefix.len();
        Ok(true)
    }

    /// Reads and returns bytes while `is_so` holds, at most `max`.
    pub fn take_while(
        &mut self,
        max: usize,
        is_so: impl Fn(u8) -> bool,
    ) -> Result<&'a [u8], ScanResult> {
        let start = self.at;
        while self.at - start < max {
            match self.peek()? {
                Some(byte) if is_so(byte) => self.at += 1,
                Some(_) | None => break,
            }
        }
        Ok(&self.bytes[start..self.at])
    }

    /// Reads and returns exactly `bytes` bytes.
    pub fn take_exactly(&mut self, bytes: usize) -> Result<&'a [u8], ScanResult> {
        let read = self
            .bytes
            .get(self.at..self.at + bytes)
            .ok_or(ScanResult::Unsure)?;
        self.at += bytes;
        Ok(read)
    }

    /// Reads blanks, at most `max`, and returns their number.
    pub fn take_blanks(&mut self, max: usize) -> Result<usize, ScanResult> {
        self.take_while(max, |byte| matches!(byte, b' ' | b'\t'))
            .map(<[u8]>::len)
    }
}
