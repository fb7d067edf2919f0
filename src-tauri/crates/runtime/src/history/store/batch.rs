//! Copies that are being taken: written first, synced together, named last.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use protocol::Digest;

use super::Store;
use super::packed::{Hashing, Press};
use super::pieces::{self, Cutter, List};
use super::shelves::{Form, NEW, Name};
use crate::dir::Dir;
use crate::limits::{COPY_BYTES, SYNC_SINGLY_MAX, WHOLE_BYTES_MAX};
use crate::steps::between;

/// Copies that are being taken.
pub(in super::super) struct Batch<'a> {
    store: &'a Store,
    new: Dir,
    pending: BTreeSet<Name>,
    press: Press,
}

/// A piece that has its place.
struct PutPiece {
    digest: Digest,
    /// Its file, if it was written for this.
    fresh: Option<Name>,
}

impl Store {
    /// Begins to take copies.
    pub(in super::super) fn batch(&self) -> io::Result<Batch<'_>> {
        Ok(Batch {
            store: self,
            new: self.copies.0.folder(Path::new(NEW))?,
            pending: BTreeSet::new(),
            press: Press::default(),
        })
    }
}

impl Batch<'_> {
    /// Takes a copy of some bytes.
    pub(in super::super) fn put(&mut self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(bytes);
        if self.is_pending(&digest, &Form::ALL) || self.store.has(&digest)? {
            return Ok(digest);
        }
        if bytes.len() <= WHOLE_BYTES_MAX {
            self.write(&digest, bytes)?;
            return Ok(digest);
        }
        let mut list = List::default();
        for piece in pieces::of(bytes) {
            list.add(self.put_piece(piece)?.digest, piece)?;
        }
        self.write_list(&digest, &list)?;
        Ok(digest)
    }

    /// Takes a copy of a file; returns its digest and length. A long one is never in memory as a whole.
    pub(in super::super) fn put_file(
        &mut self,
        file: &mut File,
        bytes: u64,
    ) -> io::Result<(Digest, u64)> {
        if bytes <= COPY_BYTES as u64 {
            let mut content = Vec::new();
            file.take(COPY_BYTES as u64 + 1).read_to_end(&mut content)?;
            if content.len() <= COPY_BYTES {
                return Ok((self.put(&content)?, content.len() as u64));
            }
            return Err(io::Error::other("it grows while it is copied"));
        }
        let mut from = Hashing::new(file);
        let mut list = List::default();
        let mut fresh = Vec::new();
        let mut cutter = Cutter::new(&mut from, bytes);
        while let Some(piece) = cutter.next()? {
            let put = self.put_piece(piece)?;
            list.add(put.digest, piece)?;
            fresh.extend(put.fresh);
        }
        let (digest, length) = from.end();
        if !self.is_pending(&digest, &Form::ALL) && !self.store.has(&digest)? {
            self.write_list(&digest, &list)?;
            return Ok((digest, length));
        }
        // It is there already, cut in another way or whole, which only its digest could tell.
        for name in fresh {
            self.new.remove_file(&name.file())?;
            self.pending.remove(&name);
        }
        Ok((digest, length))
    }

    fn put_piece(&mut self, piece: &[u8]) -> io::Result<PutPiece> {
        let digest = Digest::of(piece);
        let known = self.is_pending(&digest, &Form::WHOLE) || self.store.has_piece(&digest)?;
        let fresh = match known {
            true => None,
            false => Some(self.write(&digest, piece)?),
        };
        Ok(PutPiece { digest, fresh })
    }

    fn is_pending(&self, digest: &Digest, forms: &[Form]) -> bool {
        let mut names = forms.iter().map(|form| Name::new(digest, *form));
        names.any(|name| self.pending.contains(&name))
    }

    fn write(&mut self, digest: &Digest, content: &[u8]) -> io::Result<Name> {
        match self.press.pack(content)? {
            Some(packed) => self.write_file(Name::new(digest, Form::Packed), &packed),
            None => self.write_file(Name::new(digest, Form::Plain), content),
        }
    }

    fn write_list(&mut self, digest: &Digest, list: &List) -> io::Result<Name> {
        self.write_file(Name::new(digest, Form::List), &list.to_bytes()?)
    }

    fn write_file(&mut self, name: Name, bytes: &[u8]) -> io::Result<Name> {
        let file = name.file();
        self.new.remove_tree(&file)?;
        self.new.create(&file, Some(0o600))?.write_all(bytes)?;
        self.pending.insert(name.clone());
        between()?;
        Ok(name)
    }

    /// Puts all copies on disk and gives them their names: pieces first, then the lists that need them.
    pub(in super::super) fn finish(self) -> io::Result<()> {
        let copies = &self.store.copies.0;
        let many = self.pending.len() > SYNC_SINGLY_MAX;
        let synced = many && copies.sync_everything()?;
        if !synced {
            for name in &self.pending {
                self.new.file(Path::new(&name.file()))?.sync_all()?;
            }
        }
        between()?;
        let mut shelves: BTreeSet<&Path> = BTreeSet::new();
        for lists in [false, true] {
            for name in &self.pending {
                if (name.form == Form::List) != lists {
                    continue;
                }
                let shelf = name.shelf();
                if shelves.insert(shelf) && copies.stat(shelf.as_os_str())?.is_none() {
                    copies.create_folder(shelf.as_os_str(), 0o700)?;
                }
                let (file, folder) = (name.file(), copies.folder(shelf)?);
                self.new.rename_to(&file, &folder, &file)?;
            }
            between()?;
        }
        if !(many && copies.sync_everything()?) {
            for shelf in shelves {
                copies.folder(shelf)?.sync()?;
            }
            copies.sync()?;
        }
        Ok(())
    }
}
