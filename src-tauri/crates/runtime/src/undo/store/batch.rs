//! Copies that are being taken: written first, synced together, named last.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use protocol::Digest;

use super::CopyStore;
use super::chunks::{self, ChunkList, Chunker};
use super::compression::{ContentCompressor, HashingReader};
use super::content_folder::{ContentName, NEW_FOLDER_NAME, StorageForm};
use crate::fs::dir::Dir;
use crate::fs::fault_injection::crash_point;
use crate::limits::{COPY_BYTES, SYNC_SINGLY_MAX, UNCHUNKED_BYTES_MAX};

/// Copies that are being taken.
pub(in super::super) struct CopyBatch<'a> {
    store: &'a CopyStore,
    new: Dir,
    pending: BTreeSet<ContentName>,
    press: ContentCompressor,
}

/// A piece that is stored.
struct StoredChunk {
    digest: Digest,
    /// Name of its file, if it was written for this batch.
    fresh: Option<ContentName>,
}

impl CopyStore {
    /// Begins a batch of copies.
    pub(in super::super) fn start_batch(&self) -> io::Result<CopyBatch<'_>> {
        Ok(CopyBatch {
            store: self,
            new: self.copies.0.open_folder(Path::new(NEW_FOLDER_NAME))?,
            pending: BTreeSet::new(),
            press: ContentCompressor::default(),
        })
    }
}

impl CopyBatch<'_> {
    /// Takes a copy of some bytes.
    pub(in super::super) fn put_bytes(&mut self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::from_bytes(bytes);
        if self.is_pending(&digest, &StorageForm::ALL) || self.store.contains(&digest)? {
            return Ok(digest);
        }
        if bytes.len() <= UNCHUNKED_BYTES_MAX {
            self.write_content(&digest, bytes)?;
            return Ok(digest);
        }
        let mut list = ChunkList::default();
        for piece in chunks::split_chunks(bytes) {
            list.push_chunk(self.put_chunk(piece)?.digest, piece)?;
        }
        self.write_chunk_list(&digest, &list)?;
        Ok(digest)
    }

    /// Takes a copy of a file; returns its digest and length. A long file is never in memory as a whole.
    pub(in super::super) fn put_file(
        &mut self,
        file: &mut File,
        bytes: u64,
    ) -> io::Result<(Digest, u64)> {
        if bytes <= COPY_BYTES as u64 {
            let mut content = Vec::new();
            file.take(COPY_BYTES as u64 + 1).read_to_end(&mut content)?;
            if content.len() <= COPY_BYTES {
                return Ok((self.put_bytes(&content)?, content.len() as u64));
            }
            return Err(io::Error::other("it grows while it is copied"));
        }
        let mut from = HashingReader::new(file);
        let mut list = ChunkList::default();
        let mut fresh = Vec::new();
        let mut cutter = Chunker::new(&mut from, bytes);
        while let Some(piece) = cutter.next_chunk()? {
            let put = self.put_chunk(piece)?;
            list.push_chunk(put.digest, piece)?;
            fresh.extend(put.fresh);
        }
        let (digest, length) = from.finish();
        if !self.is_pending(&digest, &StorageForm::ALL) && !self.store.contains(&digest)? {
            self.write_chunk_list(&digest, &list)?;
            return Ok((digest, length));
        }
        // It is there already, cut in another way or whole, which only its digest could tell.
        for name in fresh {
            self.new.remove_file(&name.file_name())?;
            self.pending.remove(&name);
        }
        Ok((digest, length))
    }

    fn put_chunk(&mut self, piece: &[u8]) -> io::Result<StoredChunk> {
        let digest = Digest::from_bytes(piece);
        let known =
            self.is_pending(&digest, &StorageForm::WHOLE) || self.store.has_chunk(&digest)?;
        let fresh = match known {
            true => None,
            false => Some(self.write_content(&digest, piece)?),
        };
        Ok(StoredChunk { digest, fresh })
    }

    fn is_pending(&self, digest: &Digest, forms: &[StorageForm]) -> bool {
        let mut names = forms.iter().map(|form| ContentName::new(digest, *form));
        names.any(|name| self.pending.contains(&name))
    }

    fn write_content(&mut self, digest: &Digest, content: &[u8]) -> io::Result<ContentName> {
        match self.press.compress(content)? {
            Some(packed) => self.write_file(ContentName::new(digest, StorageForm::Packed), &packed),
            None => self.write_file(ContentName::new(digest, StorageForm::Plain), content),
        }
    }

    fn write_chunk_list(&mut self, digest: &Digest, list: &ChunkList) -> io::Result<ContentName> {
        self.write_file(
            ContentName::new(digest, StorageForm::ChunkList),
            &list.to_bytes()?,
        )
    }

    fn write_file(&mut self, name: ContentName, bytes: &[u8]) -> io::Result<ContentName> {
        let file = name.file_name();
        self.new.remove_tree(&file)?;
        self.new.create(&file, Some(0o600))?.write_all(bytes)?;
        self.pending.insert(name.clone());
        crash_point()?;
        Ok(name)
    }

    /// Syncs all copies to disk and gives them their names: pieces first, then the lists that need them.
    pub(in super::super) fn commit(self) -> io::Result<()> {
        let copies = &self.store.copies.0;
        let many = self.pending.len() > SYNC_SINGLY_MAX;
        let synced = many && copies.sync_file_system()?;
        if !synced {
            for name in &self.pending {
                self.new
                    .open_file(Path::new(&name.file_name()))?
                    .sync_all()?;
            }
        }
        crash_point()?;
        let mut folder_names: BTreeSet<&Path> = BTreeSet::new();
        for lists in [false, true] {
            for name in &self.pending {
                if (name.form == StorageForm::ChunkList) != lists {
                    continue;
                }
                let folder_name = name.folder_name();
                if folder_names.insert(folder_name)
                    && copies.stat(folder_name.as_os_str())?.is_none()
                {
                    copies.create_folder(folder_name.as_os_str(), 0o700)?;
                }
                let (file, folder) = (name.file_name(), copies.open_folder(folder_name)?);
                self.new.rename_to(&file, &folder, &file)?;
            }
            crash_point()?;
        }
        if !(many && copies.sync_file_system()?) {
            for folder_name in folder_names {
                copies.open_folder(folder_name)?.sync()?;
            }
            copies.sync()?;
        }
        Ok(())
    }
}
