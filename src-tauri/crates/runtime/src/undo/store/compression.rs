//! Writing and reading of one content: compressed where that takes less disk space, and checked when read.

use std::fs::File;
use std::io::{self, Read, Write};

use protocol::Digest;
use zstd::bulk::{Compressor, decompress};

use super::content_folder::StorageForm;
use crate::limits::{BLOCK_BYTES, CHUNK_BYTES_MAX, COMPRESSION_LEVEL, COPY_BYTES};

/// Compresses one content after the other.
#[derive(Default)]
pub(super) struct ContentCompressor(Option<Compressor<'static>>);

impl ContentCompressor {
    /// Returns a content compressed, if that takes fewer blocks of the disk.
    pub(super) fn compress(&mut self, content: &[u8]) -> io::Result<Option<Vec<u8>>> {
        // Even nothing takes a block.
        if content.len() <= BLOCK_BYTES {
            return Ok(None);
        }
        let compressor = match &mut self.0 {
            Some(compressor) => compressor,
            none => none.insert(Compressor::new(COMPRESSION_LEVEL)?),
        };
        let packed = compressor.compress(content)?;
        let pays = packed.len().div_ceil(BLOCK_BYTES) < content.len().div_ceil(BLOCK_BYTES);
        Ok(pays.then_some(packed))
    }
}

/// Reads a content of at most `bytes_max` bytes from a file of its own, unchecked; `None` if the file is malformed.
pub(super) fn read_unchecked(
    file: &mut File,
    form: StorageForm,
    bytes_max: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match form {
        StorageForm::Plain => {
            file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
            Ok((bytes.len() <= bytes_max).then_some(bytes))
        }
        StorageForm::Packed => {
            let bytes_max = bytes_max.min(CHUNK_BYTES_MAX);
            // It was packed because it is shorter so.
            file.take(bytes_max as u64).read_to_end(&mut bytes)?;
            Ok(decompress(&bytes, bytes_max).ok())
        }
        StorageForm::ChunkList => Ok(None),
    }
}

/// Returns the error for a copy that does not match its name.
pub(super) fn damaged_copy_error(digest: &Digest) -> io::Error {
    let text = format!("the kept copy {digest} is damaged");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Returns the error for a copy that is missing.
pub(super) fn missing_copy_error(digest: &Digest) -> io::Error {
    let text = format!("the kept copy {digest} is missing");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// A reader that computes the digest and the length of the bytes that it reads.
pub(super) struct HashingReader<R> {
    from: R,
    hasher: blake3::Hasher,
    length: u64,
}

impl<R: Read> HashingReader<R> {
    pub(super) fn new(from: R) -> Self {
        Self {
            from,
            hasher: blake3::Hasher::new(),
            length: 0,
        }
    }

    /// Returns the digest and length of all bytes that were read.
    pub(super) fn finish(self) -> (Digest, u64) {
        (Digest::from_hash(&self.hasher.finalize()), self.length)
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = loop {
            match self.from.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if let Some(read) = buffer.get(..read) {
            self.hasher.update(read);
        }
        self.length += read as u64;
        Ok(read)
    }
}

/// Returns the digest and length of a reader's content.
pub(in super::super) fn hash_reader(from: &mut impl Read) -> io::Result<(Digest, u64)> {
    copy_hashed(from, &mut io::sink())
}

/// Copies a content and verifies its digest.
pub(super) fn copy_checked(
    from: &mut File,
    digest: &Digest,
    to: &mut impl Write,
) -> io::Result<()> {
    match copy_hashed(from, to)?.0 == *digest {
        true => Ok(()),
        false => Err(damaged_copy_error(digest)),
    }
}

fn copy_hashed(from: &mut impl Read, to: &mut impl Write) -> io::Result<(Digest, u64)> {
    let mut from = HashingReader::new(from);
    let mut buffer = vec![0; COPY_BYTES.min(256 << 10)];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(from.finish()),
            read => to.write_all(&buffer[..read])?,
        }
    }
}
