//! Which files of the store stay: those of the contents that are needed, and of the pieces of these.

use std::collections::BTreeSet;
use std::io;

use protocol::Digest;

use super::Store;
use super::pieces::List;
use super::shelves::{Form, Name, Shelves};

/// Files that are needed, and what they take on disk.
#[derive(Debug, Default)]
pub(in super::super) struct Needed {
    names: BTreeSet<Name>,
    bytes: u64,
    /// A list could not be read: what it needs is not known, so nothing may go.
    unknown: bool,
}

impl Needed {
    /// What they take on disk, in bytes.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes in what is needed besides.
    pub(in super::super) fn join(&mut self, more: Self) {
        self.names.extend(more.names);
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.unknown |= more.unknown;
    }

    fn has(&self, name: &Name) -> bool {
        self.names.contains(name)
    }
}

impl Store {
    /// Adds to `more` what a content needs and `known` does not have yet. A content that is not there needs nothing.
    pub(in super::super) fn need(
        &self,
        digest: &Digest,
        known: &Needed,
        more: &mut Needed,
    ) -> io::Result<()> {
        let seen = |name: &Name, more: &Needed| known.has(name) || more.has(name);
        let of = |form| Name::new(digest, form);
        // Most contents are needed by many entries.
        if Form::ALL.into_iter().any(|form| seen(&of(form), more)) {
            return Ok(());
        }
        for place in self.places() {
            for (name, bytes) in place.find(digest, &Form::ALL)? {
                more.bytes = more.bytes.saturating_add(bytes);
                more.names.insert(name);
            }
        }
        let list = of(Form::List);
        if !more.has(&list) {
            return Ok(());
        }
        let file = self.copies.open(&list)?;
        let pieces = match file {
            Some(file) => List::from_reader(file)?,
            None => None,
        };
        let Some(pieces) = pieces else {
            tracing::warn!(list = %digest, "a list of pieces is damaged, so no copy goes");
            more.unknown = true;
            return Ok(());
        };
        for (piece, _) in &pieces.0 {
            let of = |form| Name::new(piece, form);
            if Form::WHOLE.into_iter().any(|form| seen(&of(form), more)) {
                continue;
            }
            for (name, bytes) in self.copies.find(piece, &Form::WHOLE)? {
                more.bytes = more.bytes.saturating_add(bytes);
                more.names.insert(name);
            }
        }
        Ok(())
    }

    /// Removes every file that is not needed.
    pub(in super::super) fn keep_only(&self, needed: &Needed) -> io::Result<()> {
        if needed.unknown {
            return Ok(());
        }
        let keep = |place: &Shelves| place.keep_only(&needed.names);
        self.places().try_for_each(keep)
    }
}
