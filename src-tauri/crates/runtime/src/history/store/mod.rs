//! Copies of file contents, named by what is in them, for the owner alone, in little room.
//!
//! One rule: a content of up to [`WHOLE_BYTES_MAX`] bytes is one file, a longer one is a list of its pieces, cut where the
//! content itself says so; so an edit adds the list and the piece or two that it touched, and a run of zeros is one piece.
//! A content or a piece is packed where that takes fewer blocks of the disk. Each is there once, whoever needs it.
//!
//! Copies are never made by reference, even where the disk could: such a copy is free only as long as the original
//! stays, and what is kept is kept because the original changes or goes. Editors and agents put a new file in its place,
//! and from then on a copy by reference takes its whole length, and the next one as much again. All of it is read anyway,
//! for its digest.
//!
//! `copies/` is in this form. `blobs/` beside it is from before, whole contents as they are: they are read and dropped,
//! and none is added. So what dropped copies by the rules of that time finds nothing here that it could drop wrongly; the
//! record's format says the same to a program that opens the data folder.
//!
//! What is read back is checked against its name, piece by piece and as a whole. Long runs of zeros come back as holes.
//!
//! [`WHOLE_BYTES_MAX`]: crate::limits::WHOLE_BYTES_MAX

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use protocol::Digest;

use crate::dir::{Dir, is_absence};
use crate::limits::KEPT_PIECE_BYTES_MAX;
use crate::private_folder;

mod batch;
mod holes;
mod keep;
mod packed;
mod pieces;
mod shelves;

pub(super) use batch::Batch;
use holes::Holes;
pub(super) use holes::copy_to_new;
pub(super) use keep::Needed;
pub(super) use packed::hashed;
use packed::{copy_checked, damaged, missing, unpack};
use pieces::List;
use shelves::{Form, NEW, Name, Shelves};

/// The copies of one history.
#[derive(Debug, Clone)]
pub(super) struct Store {
    copies: Shelves,
    /// Whole contents of before.
    blobs: Option<Shelves>,
}

impl Store {
    /// Opens or makes the store in the folder of a history.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let copies = folder.join("copies");
        private_folder(&copies.join(NEW)).map_err(io::Error::other)?;
        let blobs = match fs::canonicalize(folder.join("blobs")) {
            Err(error) if is_absence(&error) => None,
            other => Some(Shelves(Dir::open(&other?)?)),
        };
        let copies = Shelves(Dir::open(&fs::canonicalize(copies)?)?);
        Ok(Self { copies, blobs })
    }

    pub(super) fn free_bytes(&self) -> io::Result<u64> {
        self.copies.0.free_bytes()
    }

    /// Both folders.
    fn places(&self) -> impl Iterator<Item = &Shelves> {
        std::iter::once(&self.copies).chain(&self.blobs)
    }

    /// Whether a content is there, with all of its pieces.
    pub(super) fn has(&self, digest: &Digest) -> io::Result<bool> {
        let found = self.copies.find(digest, &Form::ALL)?;
        if found.iter().any(|(name, _)| name.form != Form::List) || self.has_of_before(digest)? {
            return Ok(true);
        }
        for (name, _) in found {
            if self.has_pieces(&name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_of_before(&self, digest: &Digest) -> io::Result<bool> {
        match &self.blobs {
            Some(blobs) => Ok(!blobs.find(digest, &[Form::Plain])?.is_empty()),
            None => Ok(false),
        }
    }

    /// Whether a list is there with all of its pieces. A piece is never among the copies of before: what is kept of those
    /// was decided without lists.
    fn has_pieces(&self, list: &Name) -> io::Result<bool> {
        let Some(file) = self.copies.open(list)? else {
            return Ok(false);
        };
        let Some(list) = List::from_reader(file)? else {
            return Ok(false);
        };
        for (piece, _) in &list.0 {
            if !self.has_piece(piece)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_piece(&self, piece: &Digest) -> io::Result<bool> {
        Ok(!self.copies.find(piece, &Form::WHOLE)?.is_empty())
    }

    /// A content of at most `bytes_max` bytes.
    pub(super) fn read(&self, digest: &Digest, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut content = Capped {
            bytes: Vec::new(),
            bytes_max,
        };
        self.pour(digest, &mut content)?;
        Ok(content.bytes)
    }

    /// Copies a content to a file that was just made, and makes sure that it is what its name says.
    pub(super) fn copy_to(&self, digest: &Digest, to: &mut File) -> io::Result<()> {
        let mut to = Holes::new(to);
        self.pour(digest, &mut to)?;
        to.end()
    }

    fn pour(&self, digest: &Digest, to: &mut impl Write) -> io::Result<()> {
        for form in Form::ALL {
            let Some(mut file) = self.copies.open(&Name::new(digest, form))? else {
                continue;
            };
            return match form {
                Form::Plain => copy_checked(&mut file, digest, to),
                Form::Packed => match unpack(&mut file, form, KEPT_PIECE_BYTES_MAX)? {
                    Some(content) if Digest::of(&content) == *digest => to.write_all(&content),
                    Some(_) | None => Err(damaged(digest)),
                },
                Form::List => {
                    let list = List::from_reader(file)?.ok_or_else(|| damaged(digest))?;
                    self.pour_pieces(digest, &list, to)
                }
            };
        }
        let of_before = self.blobs.as_ref();
        let file = match of_before {
            Some(blobs) => blobs.open(&Name::new(digest, Form::Plain))?,
            None => None,
        };
        copy_checked(&mut file.ok_or_else(|| missing(digest))?, digest, to)
    }

    fn pour_pieces(&self, digest: &Digest, list: &List, to: &mut impl Write) -> io::Result<()> {
        let mut whole = blake3::Hasher::new();
        let mut content = Vec::new();
        let mut last = None;
        for row @ (piece, bytes) in &list.0 {
            // A run of zeros is the same piece many times.
            if last.replace(row) != Some(row) {
                content = self.piece(piece, *bytes)?;
            }
            whole.update(&content);
            to.write_all(&content)?;
        }
        match Digest::of_hash(&whole.finalize()) == *digest {
            true => Ok(()),
            false => Err(damaged(digest)),
        }
    }

    /// One piece, which must be so long.
    fn piece(&self, piece: &Digest, bytes: u32) -> io::Result<Vec<u8>> {
        for form in Form::WHOLE {
            if let Some(mut file) = self.copies.open(&Name::new(piece, form))? {
                let content = unpack(&mut file, form, bytes as usize)?;
                let whole = content.filter(|content| Digest::of(content) == *piece);
                return whole.ok_or_else(|| damaged(piece));
            }
        }
        Err(missing(piece))
    }

    /// What all copies take together, in bytes.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        self.places().map(Shelves::bytes).sum()
    }

    /// Removes half-written copies of an earlier run.
    pub(super) fn sweep(&self) -> io::Result<()> {
        self.places().try_for_each(Shelves::sweep)
    }
}

/// Takes so many bytes and no more.
struct Capped {
    bytes: Vec<u8>,
    bytes_max: u64,
}

impl Write for Capped {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + more.len()) as u64 > self.bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
