//! Splitting of a long content into pieces, and the list by which it is put together again.

use std::io::{self, Read};
use std::ops::Range;

use fastcdc::v2020::FastCDC;
use protocol::Digest;

use crate::limits::{CHUNK_BYTES, CHUNK_BYTES_LAST, CHUNK_BYTES_MAX, CHUNK_LIST_BYTES_MAX};

/// Header of a list. Another format has another header.
const CHUNK_LIST_HEADER: &[u8] = b"countersign pieces 1\n";
/// Length of a row: a digest and a length.
const ROW_BYTES: usize = DIGEST_BYTES + 4;
const DIGEST_BYTES: usize = 32;
/// How many of the longest pieces are read at once.
const CHUNKS_AHEAD: usize = 4;

/// Returns the minimum, average and maximum length of pieces of a content of so many bytes.
fn chunk_lengths(bytes: u64) -> (usize, usize, usize) {
    let fits = CHUNK_BYTES.iter().find(|(upto, _)| bytes <= *upto);
    let average = fits.map_or(CHUNK_BYTES_LAST, |(_, average)| *average);
    (average / 4, average, average * 4)
}

/// Splits a content into pieces, in their order.
pub(super) fn split_chunks(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (least, average, most) = chunk_lengths(content.len() as u64);
    let cuts = FastCDC::new(content, least, average, most);
    cuts.filter_map(|cut| content.get(cut.offset..cut.offset + cut.length))
}

/// Splits the content of a reader, with a few pieces of it in memory.
pub(super) struct Chunker<R> {
    from: R,
    lengths: (usize, usize, usize),
    buffer: Vec<u8>,
    /// Part of the buffer that is read and not returned yet.
    ahead: Range<usize>,
    ended: bool,
}

impl<R: Read> Chunker<R> {
    /// Returns a splitter for a content of about so many bytes.
    pub(super) fn new(from: R, bytes: u64) -> Self {
        let lengths = chunk_lengths(bytes);
        Self {
            from,
            lengths,
            buffer: vec![0; lengths.2 * CHUNKS_AHEAD],
            ahead: 0..0,
            ended: false,
        }
    }

    /// Returns the next piece; `None` at the end.
    pub(super) fn next_chunk(&mut self) -> io::Result<Option<&[u8]>> {
        let (least, average, most) = self.lengths;
        self.fill_buffer(most)?;
        let ahead = self.buffer.get(self.ahead.clone()).unwrap_or_default();
        let Some(cut) = FastCDC::new(ahead, least, average, most).next() else {
            return Ok(None);
        };
        self.ahead.start += cut.length;
        Ok(ahead.get(..cut.length))
    }

    /// Reads on if less than the longest piece is buffered.
    fn fill_buffer(&mut self, most: usize) -> io::Result<()> {
        if self.ended || self.ahead.len() >= most {
            return Ok(());
        }
        self.buffer.copy_within(self.ahead.clone(), 0);
        self.ahead = 0..self.ahead.len();
        while let Some(room) = self
            .buffer
            .get_mut(self.ahead.end..)
            .filter(|room| !room.is_empty())
        {
            match self.from.read(room)? {
                0 => {
                    self.ended = true;
                    break;
                }
                read => self.ahead.end += read,
            }
        }
        Ok(())
    }
}

/// The pieces of one content by their digests and lengths in bytes, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ChunkList(pub Vec<(Digest, u32)>);

impl ChunkList {
    pub(super) fn push_chunk(&mut self, digest: Digest, piece: &[u8]) -> io::Result<()> {
        let bytes = u32::try_from(piece.len()).map_err(io::Error::other)?;
        self.0.push((digest, bytes));
        Ok(())
    }

    /// Serializes the list, with its own digest at the end, so that a damaged one is detected without its pieces.
    pub(super) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = CHUNK_LIST_HEADER.to_vec();
        for (digest, length) in &self.0 {
            let hash = blake3::Hash::from_hex(digest.as_str()).map_err(io::Error::other)?;
            bytes.extend_from_slice(hash.as_bytes());
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        bytes.extend_from_slice(blake3::hash(&bytes).as_bytes());
        match bytes.len() as u64 <= CHUNK_LIST_BYTES_MAX {
            true => Ok(bytes),
            false => Err(io::Error::other("it has too many pieces to be kept")),
        }
    }

    /// Reads a list; `None` if it is damaged, or of an unknown format.
    pub(super) fn from_reader(from: impl Read) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        from.take(CHUNK_LIST_BYTES_MAX + 1)
            .read_to_end(&mut bytes)?;
        Ok(Self::from_bytes(&bytes))
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (told, own) = bytes.split_last_chunk::<DIGEST_BYTES>()?;
        let rows = told.strip_prefix(CHUNK_LIST_HEADER)?;
        if bytes.len() as u64 > CHUNK_LIST_BYTES_MAX
            || *blake3::hash(told).as_bytes() != *own
            || rows.len() % ROW_BYTES != 0
        {
            return None;
        }
        let row = |row: &[u8]| {
            let (digest, length) = row.split_first_chunk::<DIGEST_BYTES>()?;
            let length = u32::from_le_bytes(length.try_into().ok()?);
            let digest = Digest::from_hash(&blake3::Hash::from_bytes(*digest));
            (length as usize <= CHUNK_BYTES_MAX).then_some((digest, length))
        };
        let rows: Option<Vec<_>> = rows.chunks_exact(ROW_BYTES).map(row).collect();
        rows.map(Self)
    }
}
