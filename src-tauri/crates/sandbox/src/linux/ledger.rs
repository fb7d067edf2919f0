//! What was refused, each thing once: written down as soon as it is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;

use crate::told::Line;
use crate::{REFUSED_MAX, Refused, RefusedKind, TARGET_BYTES_MAX};

/// The file of a room, and what stands in it already.
pub(super) struct Ledger<'a> {
    told: &'a File,
    seen: BTreeSet<Refused>,
    counts: BTreeMap<RefusedKind, usize>,
    more: bool,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(told: &'a File) -> Self {
        Self {
            told,
            seen: BTreeSet::new(),
            counts: BTreeMap::new(),
            more: false,
        }
    }

    /// Notes it, if it is not there. One kind cannot crowd out another.
    pub(super) fn note(&mut self, kind: RefusedKind, target: &[u8]) {
        let refused = Refused {
            kind,
            target: shown(target),
        };
        if self.seen.contains(&refused) {
            return;
        }
        let count = self.counts.entry(kind).or_default();
        let line = match *count < REFUSED_MAX {
            true => {
                *count += 1;
                self.seen.insert(refused.clone());
                Line::Refused(refused)
            }
            false if self.more => return,
            false => {
                self.more = true;
                Line::More
            }
        };
        // What cannot be written down cannot be said elsewhere either; the command is refused it all the same.
        let _ = line.write(self.told);
    }
}

/// Bytes as text of bounded length: what is none, or would move a cursor, is `\xNN`.
fn shown(target: &[u8]) -> String {
    const CUT: char = '…';
    let mut shown = String::new();
    for chunk in target.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char.is_control() {
                true => escape(&mut shown, char.encode_utf8(&mut [0; 4]).as_bytes()),
                false => shown.push(char),
            }
        }
        escape(&mut shown, chunk.invalid());
        if shown.len() > TARGET_BYTES_MAX {
            break;
        }
    }
    if shown.len() > TARGET_BYTES_MAX {
        shown.truncate(shown.floor_char_boundary(TARGET_BYTES_MAX - CUT.len_utf8()));
        shown.push(CUT);
    }
    shown
}

fn escape(shown: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a text does not fail.
        let _ = write!(shown, "\\x{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_noted_once_and_no_kind_crowds_out_another() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let told = file.reopen().unwrap();
        Line::Began { watched: true }.write(&told).unwrap();
        let mut ledger = Ledger::new(&told);
        for _ in 0..2 {
            for number in 0..REFUSED_MAX + 10 {
                ledger.note(RefusedKind::Write, format!("/{number}").as_bytes());
            }
        }
        ledger.note(RefusedKind::Network, b"example.org");
        let Some(crate::Told::Ended { refused, more, .. }) = crate::read_told(file.path()).unwrap()
        else {
            panic!("nothing was told");
        };
        let mut expected: Vec<Refused> = (0..REFUSED_MAX)
            .map(|number| Refused {
                kind: RefusedKind::Write,
                target: format!("/{number}"),
            })
            .collect();
        expected.push(Refused {
            kind: RefusedKind::Network,
            target: "example.org".into(),
        });
        assert_eq!((refused, more), (expected, true));
    }

    #[test]
    fn targets_are_text_of_bounded_length() {
        let long = format!("{}…", "é".repeat((TARGET_BYTES_MAX - 3) / 2));
        for (target, expected) in [
            (&b"/a b\\"[..], "/a b\\"),
            (b"/new\nline", "/new\\x0aline"),
            (b"/\x1b[2J\xff\xc3", "/\\x1b[2J\\xff\\xc3"),
            ("\u{85}".as_bytes(), "\\xc2\\x85"),
            ("é".repeat(1_000).as_bytes(), long.as_str()),
        ] {
            assert_eq!(shown(target), expected);
        }
    }
}
