//! The files of the store that are kept: those of the contents that are needed, and of their pieces.

use std::collections::BTreeSet;
use std::io;

use protocol::Digest;

use super::CopyStore;
use super::chunks::ChunkList;
use super::content_folder::{ContentFolder, ContentName, StorageForm};

/// Files that are needed, and their size on disk.
#[derive(Debug, Default)]
pub(in super::super) struct RequiredFiles {
    names: BTreeSet<ContentName>,
    bytes: u64,
    /// Whether a list could not be read: its pieces are not known, so nothing may be removed.
    is_incomplete: bool,
}

impl RequiredFiles {
    /// Returns the space that the files take on disk, in bytes.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds further needed files.
    pub(in super::super) fn merge(&mut self, more: Self) {
        self.names.extend(more.names);
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.is_incomplete |= more.is_incomplete;
    }

    fn contains(&self, name: &ContentName) -> bool {
        self.names.contains(name)
    }
}

impl CopyStore {
    /// Adds to `more` the files that a content needs and `known` does not have yet. A missing content needs nothing.
    pub(in super::super) fn collect_required(
        &self,
        digest: &Digest,
        required: &RequiredFiles,
        more: &mut RequiredFiles,
    ) -> io::Result<()> {
        let is_collected = |name: &ContentName, more: &RequiredFiles| {
            required.contains(name) || more.contains(name)
        };
        let of = |form| ContentName::new(digest, form);
        // Most contents are needed by many entries.
        if StorageForm::ALL
            .into_iter()
            .any(|form| is_collected(&of(form), more))
        {
            return Ok(());
        }
        for place in self.content_folders() {
            for (name, bytes) in place.find_forms(digest, &StorageForm::ALL)? {
                more.bytes = more.bytes.saturating_add(bytes);
                more.names.insert(name);
            }
        }
        let list = of(StorageForm::ChunkList);
        if !more.contains(&list) {
            return Ok(());
        }
        let file = self.copies.open_content(&list)?;
        let pieces = match file {
            Some(file) => ChunkList::from_reader(file)?,
            None => None,
        };
        let Some(pieces) = pieces else {
            tracing::warn!(list = %digest, "a list of pieces is damaged, so no copy goes");
            more.is_incomplete = true;
            return Ok(());
        };
        for (piece, _) in &pieces.0 {
            let of = |form| ContentName::new(piece, form);
            if StorageForm::WHOLE
                .into_iter()
                .any(|form| is_collected(&of(form), more))
            {
                continue;
            }
            for (name, bytes) in self.copies.find_forms(piece, &StorageForm::WHOLE)? {
                more.bytes = more.bytes.saturating_add(bytes);
                more.names.insert(name);
            }
        }
        Ok(())
    }

    /// Removes every file that is not needed.
    pub(in super::super) fn retain_only(&self, needed: &RequiredFiles) -> io::Result<()> {
        if needed.is_incomplete {
            return Ok(());
        }
        let keep = |place: &ContentFolder| place.retain_only(&needed.names);
        self.content_folders().try_for_each(keep)
    }
}
