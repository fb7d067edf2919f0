//! Copies of file contents, named by what is in them, for the owner alone.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use protocol::Digest;

use crate::dir::Dir;
use crate::limits::{COPY_BYTES, SYNC_SINGLY_MAX};
use crate::private_folder;
use crate::steps::between;

/// The folder of copies: `ab/abcd…` below it, and `new/` for what is not complete.
#[derive(Debug, Clone)]
pub(super) struct Store {
    dir: Dir,
}

impl Store {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        private_folder(&folder.join("new")).map_err(io::Error::other)?;
        Ok(Self {
            dir: Dir::open(&fs::canonicalize(folder)?)?,
        })
    }

    pub(super) fn free_bytes(&self) -> io::Result<u64> {
        self.dir.free_bytes()
    }

    /// Begins to take copies.
    pub(super) fn batch(&self) -> io::Result<Batch<'_>> {
        Ok(Batch {
            store: self,
            new: self.dir.folder(Path::new("new"))?,
            pending: BTreeSet::new(),
            count: 0,
        })
    }

    fn place(digest: &Digest) -> (&str, &str) {
        (digest.as_str().get(..2).unwrap_or("00"), digest.as_str())
    }

    pub(super) fn has(&self, digest: &Digest) -> io::Result<bool> {
        let (shelf, name) = Self::place(digest);
        Ok(self.dir.stat_at(&Path::new(shelf).join(name))?.is_some())
    }

    /// A content of at most `bytes_max` bytes.
    pub(super) fn read(&self, digest: &Digest, bytes_max: u64) -> io::Result<Vec<u8>> {
        let (shelf, name) = Self::place(digest);
        let file = self.dir.file(&Path::new(shelf).join(name))?;
        let mut content = Vec::new();
        file.take(bytes_max).read_to_end(&mut content)?;
        match Digest::of(&content) == *digest {
            true => Ok(content),
            false => Err(damaged(name)),
        }
    }

    /// Copies a content to an open file and makes sure that it is what its name says.
    pub(super) fn copy_to(&self, digest: &Digest, to: &mut File) -> io::Result<()> {
        let (shelf, name) = Self::place(digest);
        let mut from = self.dir.file(&Path::new(shelf).join(name))?;
        copy_checked(&mut from, digest, to)
    }

    /// What all copies take together, in bytes.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        let mut bytes = 0;
        for shelf in self.dir.names()? {
            let folder = self.dir.folder(Path::new(&shelf))?;
            for name in folder.names()? {
                bytes += folder.stat(&name)?.map_or(0, |stat| stat.bytes);
            }
        }
        Ok(bytes)
    }

    /// Removes half-written copies of an earlier run.
    pub(super) fn sweep(&self) -> io::Result<()> {
        let new = self.dir.folder(Path::new("new"))?;
        for name in new.names()? {
            new.remove_tree(&name)?;
        }
        Ok(())
    }

    /// Removes every copy that is not in `keep`.
    pub(super) fn keep_only(&self, keep: &BTreeSet<Digest>) -> io::Result<()> {
        for shelf in self.dir.names()? {
            if shelf == *"new" {
                continue;
            }
            let folder = self.dir.folder(Path::new(&shelf))?;
            for name in folder.names()? {
                let kept = name
                    .to_str()
                    .is_some_and(|name| keep.contains(&Digest::from(name)));
                if !kept {
                    folder.remove_file(&name)?;
                    between()?;
                }
            }
        }
        Ok(())
    }
}

/// Copies that are being taken: written first, synced together, named last.
pub(super) struct Batch<'a> {
    store: &'a Store,
    new: Dir,
    pending: BTreeSet<Digest>,
    count: usize,
}

impl Batch<'_> {
    /// Takes a copy of some bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(bytes);
        if !self.pending.contains(&digest) && !self.store.has(&digest)? {
            let name = OsString::from(digest.as_str());
            self.new.remove_tree(&name)?;
            let mut file = self.new.create(&name, Some(0o600))?;
            file.write_all(bytes)?;
            self.pending.insert(digest.clone());
            between()?;
        }
        Ok(digest)
    }

    /// Takes a copy of a file; returns its digest and length.
    pub(super) fn put_file(&mut self, file: &mut File, bytes: u64) -> io::Result<(Digest, u64)> {
        if bytes <= COPY_BYTES as u64 {
            let mut content = Vec::new();
            file.take(COPY_BYTES as u64 + 1).read_to_end(&mut content)?;
            if content.len() <= COPY_BYTES {
                return Ok((self.put(&content)?, content.len() as u64));
            }
            return Err(io::Error::other("it grows while it is copied"));
        }
        self.count += 1;
        let name = OsString::from(format!("large-{}", self.count));
        self.new.remove_tree(&name)?;
        let mut copy = self.new.create(&name, Some(0o600))?;
        let (digest, length) = copy_hashed(file, &mut copy)?;
        between()?;
        if self.pending.contains(&digest) || self.store.has(&digest)? {
            self.new.remove_file(&name)?;
        } else {
            self.new.rename(&name, &OsString::from(digest.as_str()))?;
            self.pending.insert(digest.clone());
        }
        Ok((digest, length))
    }

    /// Puts all copies on disk and gives them their names.
    pub(super) fn finish(self) -> io::Result<()> {
        let many = self.pending.len() > SYNC_SINGLY_MAX;
        let synced = many && self.store.dir.sync_everything()?;
        if !synced {
            for digest in &self.pending {
                self.new.file(Path::new(digest.as_str()))?.sync_all()?;
            }
        }
        between()?;
        let mut shelves = BTreeSet::new();
        for digest in &self.pending {
            let (shelf, name) = Store::place(digest);
            if shelves.insert(shelf) && self.store.dir.stat(shelf.as_ref())?.is_none() {
                self.store.dir.create_folder(shelf.as_ref(), 0o700)?;
            }
            let folder = self.store.dir.folder(Path::new(shelf))?;
            self.new.rename_to(name.as_ref(), &folder, name.as_ref())?;
        }
        between()?;
        if !(many && self.store.dir.sync_everything()?) {
            for shelf in shelves {
                self.store.dir.folder(Path::new(shelf))?.sync()?;
            }
            self.store.dir.sync()?;
        }
        Ok(())
    }
}

fn damaged(name: &str) -> io::Error {
    let text = format!("the kept copy {name} is damaged");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The digest and length of what a reader gives.
pub(super) fn hashed(from: &mut impl Read) -> io::Result<(Digest, u64)> {
    copy_hashed(from, &mut io::sink())
}

/// Copies a content and makes sure that it is what it should be.
pub(super) fn copy_checked(from: &mut File, digest: &Digest, to: &mut File) -> io::Result<()> {
    match copy_hashed(from, to)?.0 == *digest {
        true => Ok(()),
        false => Err(damaged(digest.as_str())),
    }
}

fn copy_hashed(from: &mut impl Read, to: &mut impl Write) -> io::Result<(Digest, u64)> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; COPY_BYTES.min(256 << 10)];
    let mut length = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        length += read as u64;
    }
    Ok((Digest::of_hash(&hasher.finalize()), length))
}
