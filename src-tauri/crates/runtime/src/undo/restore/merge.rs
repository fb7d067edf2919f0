//! Merges two changes of one text where they touch different lines.

use protocol::Digest;

/// Returns the text with both changes; `None` where they touch the same lines, or where one of the three is no text.
pub(in crate::undo) fn merge_texts(base: &[u8], mine: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let text = |bytes| {
        std::str::from_utf8(bytes)
            .ok()
            .filter(|text| !text.contains('\0'))
    };
    diffy::merge(text(base)?, text(mine)?, text(theirs)?)
        .ok()
        .map(String::into_bytes)
}

/// A text made by merging two changes, and its digest in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::undo) struct MergedText {
    pub blob: Digest,
    pub bytes: Vec<u8>,
}

impl MergedText {
    pub(in crate::undo) fn new(bytes: Vec<u8>) -> Self {
        Self {
            blob: Digest::from_bytes(&bytes),
            bytes,
        }
    }
}
