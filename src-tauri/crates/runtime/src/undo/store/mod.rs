//! Copies of file contents, named by their digest, for the owner alone, in little space.
//!
//! One rule: a content of up to [`UNCHUNKED_BYTES_MAX`] bytes is one file, a longer one is a list of its pieces, cut at
//! positions that its content determines; so an edit adds the list and the piece or two that it touched, and a run of
//! zeros is one piece. A content or a piece is compressed where that takes fewer blocks of the disk. Each is stored
//! once, however many entries need it.
//!
//! Copies are never made by reference, even where the disk could: such a copy is free only as long as the original
//! stays, and copies are kept because the original changes or is removed. Editors and agents put a new file in its
//! place, and from then on a copy by reference takes its whole length, and the next one as much again. All of it is
//! read anyway, for its digest.
//!
//! `copies/` is in this form. `blobs/` beside it is from earlier versions, whole contents uncompressed: they are read
//! and dropped, and none is added. So the earlier rules for dropping copies find nothing here that they could drop
//! wrongly; the record's format says the same to a program that opens the data folder.
//!
//! A content that is read back is checked against its name, piece by piece and as a whole. Long runs of zeros are
//! restored as holes.
//!
//! [`UNCHUNKED_BYTES_MAX`]: crate::limits::UNCHUNKED_BYTES_MAX

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use protocol::Digest;

use crate::create_private_folder;
use crate::fs::dir::{Dir, is_not_found};
use crate::limits::CHUNK_BYTES_MAX;

mod batch;
mod chunks;
mod compression;
mod content_folder;
mod required;
mod sparse;

pub(super) use batch::CopyBatch;
use chunks::ChunkList;
pub(super) use compression::hash_reader;
use compression::{copy_checked, damaged_copy_error, missing_copy_error, read_unchecked};
use content_folder::{ContentFolder, ContentName, NEW_FOLDER_NAME, StorageForm};
pub(super) use required::RequiredFiles;
use sparse::SparseWriter;
pub(super) use sparse::copy_to_new;

/// The copies of one history.
#[derive(Debug, Clone)]
pub(super) struct CopyStore {
    copies: ContentFolder,
    /// Whole contents of earlier versions.
    legacy_blobs: Option<ContentFolder>,
}

impl CopyStore {
    /// Opens or creates the store in the folder of a history.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let copies = folder.join("copies");
        create_private_folder(&copies.join(NEW_FOLDER_NAME)).map_err(io::Error::other)?;
        let blobs = match fs::canonicalize(folder.join("blobs")) {
            Err(error) if is_not_found(&error) => None,
            other => Some(ContentFolder(Dir::open(&other?)?)),
        };
        let copies = ContentFolder(Dir::open(&fs::canonicalize(copies)?)?);
        Ok(Self {
            copies,
            legacy_blobs: blobs,
        })
    }

    pub(super) fn free_bytes(&self) -> io::Result<u64> {
        self.copies.0.free_bytes()
    }

    /// Returns both folders.
    fn content_folders(&self) -> impl Iterator<Item = &ContentFolder> {
        std::iter::once(&self.copies).chain(&self.legacy_blobs)
    }

    /// Whether a content exists, with all of its pieces.
    pub(super) fn contains(&self, digest: &Digest) -> io::Result<bool> {
        let found = self.copies.find_forms(digest, &StorageForm::ALL)?;
        if found
            .iter()
            .any(|(name, _)| name.form != StorageForm::ChunkList)
            || self.has_legacy_copy(digest)?
        {
            return Ok(true);
        }
        for (name, _) in found {
            if self.has_all_chunks(&name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_legacy_copy(&self, digest: &Digest) -> io::Result<bool> {
        match &self.legacy_blobs {
            Some(blobs) => Ok(!blobs.find_forms(digest, &[StorageForm::Plain])?.is_empty()),
            None => Ok(false),
        }
    }

    /// Whether a list exists with all of its pieces. A piece is never among the copies of earlier versions, whose
    /// retention was decided without lists.
    fn has_all_chunks(&self, list: &ContentName) -> io::Result<bool> {
        let Some(file) = self.copies.open_content(list)? else {
            return Ok(false);
        };
        let Some(list) = ChunkList::from_reader(file)? else {
            return Ok(false);
        };
        for (piece, _) in &list.0 {
            if !self.has_chunk(piece)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_chunk(&self, piece: &Digest) -> io::Result<bool> {
        Ok(!self
            .copies
            .find_forms(piece, &StorageForm::WHOLE)?
            .is_empty())
    }

    /// Reads a content of at most `bytes_max` bytes.
    pub(super) fn read_content(&self, digest: &Digest, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut content = CappedBuffer {
            bytes: Vec::new(),
            bytes_max,
        };
        self.write_content(digest, &mut content)?;
        Ok(content.bytes)
    }

    /// Copies a content to a file that was just created, and verifies that it matches its name.
    pub(super) fn copy_to(&self, digest: &Digest, to: &mut File) -> io::Result<()> {
        let mut to = SparseWriter::new(to);
        self.write_content(digest, &mut to)?;
        to.finish()
    }

    fn write_content(&self, digest: &Digest, to: &mut impl Write) -> io::Result<()> {
        for form in StorageForm::ALL {
            let Some(mut file) = self.copies.open_content(&ContentName::new(digest, form))? else {
                continue;
            };
            return match form {
                StorageForm::Plain => copy_checked(&mut file, digest, to),
                StorageForm::Packed => match read_unchecked(&mut file, form, CHUNK_BYTES_MAX)? {
                    Some(content) if Digest::from_bytes(&content) == *digest => {
                        to.write_all(&content)
                    }
                    Some(_) | None => Err(damaged_copy_error(digest)),
                },
                StorageForm::ChunkList => {
                    let list =
                        ChunkList::from_reader(file)?.ok_or_else(|| damaged_copy_error(digest))?;
                    self.write_chunks(digest, &list, to)
                }
            };
        }
        let of_before = self.legacy_blobs.as_ref();
        let file = match of_before {
            Some(blobs) => blobs.open_content(&ContentName::new(digest, StorageForm::Plain))?,
            None => None,
        };
        copy_checked(
            &mut file.ok_or_else(|| missing_copy_error(digest))?,
            digest,
            to,
        )
    }

    fn write_chunks(
        &self,
        digest: &Digest,
        list: &ChunkList,
        to: &mut impl Write,
    ) -> io::Result<()> {
        let mut hasher = blake3::Hasher::new();
        let mut content = Vec::new();
        let mut last = None;
        for row @ (piece, bytes) in &list.0 {
            // A run of zeros is the same piece many times.
            if last.replace(row) != Some(row) {
                content = self.read_chunk(piece, *bytes)?;
            }
            hasher.update(&content);
            to.write_all(&content)?;
        }
        match Digest::from_hash(&hasher.finalize()) == *digest {
            true => Ok(()),
            false => Err(damaged_copy_error(digest)),
        }
    }

    /// Reads one piece of exactly this length.
    fn read_chunk(&self, piece: &Digest, bytes: u32) -> io::Result<Vec<u8>> {
        for form in StorageForm::WHOLE {
            if let Some(mut file) = self.copies.open_content(&ContentName::new(piece, form))? {
                let content = read_unchecked(&mut file, form, bytes as usize)?;
                let whole = content.filter(|content| Digest::from_bytes(content) == *piece);
                return whole.ok_or_else(|| damaged_copy_error(piece));
            }
        }
        Err(missing_copy_error(piece))
    }

    /// Returns the space that all copies take together, in bytes.
    pub(super) fn disk_bytes(&self) -> io::Result<u64> {
        self.content_folders().map(ContentFolder::disk_bytes).sum()
    }

    /// Removes half-written copies of an earlier run.
    pub(super) fn remove_partial_files(&self) -> io::Result<()> {
        self.content_folders()
            .try_for_each(ContentFolder::remove_partial_files)
    }
}

/// A buffer that takes so many bytes and no more.
struct CappedBuffer {
    bytes: Vec<u8>,
    bytes_max: u64,
}

impl Write for CappedBuffer {
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
