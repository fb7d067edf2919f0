//! The log of denials, each one once: written as soon as it is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::report::ReportLine;
use crate::{DENIALS_MAX, Denial, DenialKind, TARGET_BYTES_MAX};

/// The report file of a sandbox, and the denials that are in it already.
pub(super) struct DenialLog<'a> {
    report: &'a File,
    recorded: BTreeSet<Denial>,
    counts: BTreeMap<DenialKind, usize>,
    more: bool,
}

impl<'a> DenialLog<'a> {
    pub(super) fn new(report: &'a File) -> Self {
        Self {
            report,
            recorded: BTreeSet::new(),
            counts: BTreeMap::new(),
            more: false,
        }
    }

    /// Records a denial, if it is not recorded already. One kind cannot crowd out another.
    pub(super) fn record_denial(&mut self, kind: DenialKind, target: &[u8]) {
        let refused = Denial {
            kind,
            target: escape_target(target),
        };
        if self.recorded.contains(&refused) {
            return;
        }
        let count = self.counts.entry(kind).or_default();
        let line = match *count < DENIALS_MAX {
            true => {
                *count += 1;
                self.recorded.insert(refused.clone());
                ReportLine::Refused(refused)
            }
            false if self.more => return,
            false => {
                self.more = true;
                ReportLine::More
            }
        };
        // A denial that cannot be written down cannot be reported elsewhere; the command is refused all the same.
        let _ = line.write_to(self.report);
    }

    /// Records that a limit of the sandbox was reached.
    pub(super) fn record_limit(&mut self, limit: &str) {
        self.record_denial(DenialKind::Limit, limit.as_bytes());
    }
}

/// The denial log of a sandbox, in which every thread of the supervisor writes.
#[derive(Clone)]
pub(super) struct SharedDenialLog(Arc<Mutex<DenialLog<'static>>>);

impl SharedDenialLog {
    pub(super) fn new(log: DenialLog<'static>) -> Self {
        Self(Arc::new(Mutex::new(log)))
    }

    /// Returns the log, which no other thread writes in meanwhile.
    pub(super) fn lock(&self) -> MutexGuard<'_, DenialLog<'static>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Formats bytes as text of bounded length: bytes that are no text, or would move a cursor, are `\xNN`.
fn escape_target(target: &[u8]) -> String {
    const CUT: char = '…';
    let mut shown = String::new();
    for chunk in target.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char.is_control() {
                true => push_escaped(&mut shown, char.encode_utf8(&mut [0; 4]).as_bytes()),
                false => shown.push(char),
            }
        }
        push_escaped(&mut shown, chunk.invalid());
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

fn push_escaped(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a text does not fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_noted_once_and_no_kind_crowds_out_another() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let told = file.reopen().unwrap();
        ReportLine::Began { watched: true }.write_to(&told).unwrap();
        let mut ledger = DenialLog::new(&told);
        for _ in 0..2 {
            for number in 0..DENIALS_MAX + 10 {
                ledger.record_denial(DenialKind::Write, format!("/{number}").as_bytes());
            }
        }
        ledger.record_denial(DenialKind::Network, b"example.org");
        let Some(crate::SandboxReport::Ended { refused, more, .. }) =
            crate::read_report(file.path()).unwrap()
        else {
            panic!("nothing was told");
        };
        let mut expected: Vec<Denial> = (0..DENIALS_MAX)
            .map(|number| Denial {
                kind: DenialKind::Write,
                target: format!("/{number}"),
            })
            .collect();
        expected.push(Denial {
            kind: DenialKind::Network,
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
            assert_eq!(escape_target(target), expected);
        }
    }
}
