//! Writing of a content into a new file, in which long runs of zeros become holes, as they take no space in the store.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use protocol::Digest;

use super::compression::copy_checked;
use crate::limits::HOLE_BYTES_MIN;

/// Copies a content to a file that was just created, and verifies its digest.
pub(in super::super) fn copy_to_new(
    from: &mut File,
    digest: &Digest,
    to: &mut File,
) -> io::Result<()> {
    let mut to = SparseWriter::new(to);
    copy_checked(from, digest, &mut to)?;
    to.finish()
}

/// A new file that is written from its beginning to its end.
pub(super) struct SparseWriter<'a> {
    file: &'a mut File,
    bytes: u64,
    /// Whether the file ends in a hole so far.
    ends_open: bool,
}

impl<'a> SparseWriter<'a> {
    pub(super) fn new(file: &'a mut File) -> Self {
        Self {
            file,
            bytes: 0,
            ends_open: false,
        }
    }

    /// Sets the length of the file, if it ends in zeros.
    pub(super) fn finish(self) -> io::Result<()> {
        match self.ends_open {
            true => self.file.set_len(self.bytes),
            false => Ok(()),
        }
    }
}

impl Write for SparseWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.ends_open = bytes.len() >= HOLE_BYTES_MIN && bytes.iter().all(|byte| *byte == 0);
        let more = bytes.len() as u64;
        self.bytes += more;
        match self.ends_open {
            true => drop(self.file.seek(SeekFrom::Start(self.bytes))?),
            false => self.file.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
