//! The log of denials, and of what was read outside of the workspace, each one once: written as soon as it is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::report::ReportLine;
use crate::{DENIALS_MAX, Denial, DenialKind, READS_MAX, TARGET_BYTES_MAX};

/// The report file of a sandbox, and the denials and reads that are in it already.
pub(super) struct AccessLog<'a> {
    report: &'a File,
    recorded: BTreeSet<Denial>,
    counts: BTreeMap<DenialKind, usize>,
    more: bool,
    reads: BTreeSet<String>,
    more_reads: bool,
}

impl<'a> AccessLog<'a> {
    pub(super) fn new(report: &'a File) -> Self {
        Self {
            report,
            recorded: BTreeSet::new(),
            counts: BTreeMap::new(),
            more: false,
            reads: BTreeSet::new(),
            more_reads: false,
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

    /// Records that a file or folder outside of the workspace is read, if it is not recorded already.
    pub(super) fn record_read(&mut self, path: &[u8]) {
        if self.more_reads {
            return;
        }
        let path = escape_target(path);
        if self.reads.contains(&path) {
            return;
        }
        let line = match self.reads.len() < READS_MAX {
            true => {
                self.reads.insert(path.clone());
                ReportLine::Read(path)
            }
            false => {
                self.more_reads = true;
                ReportLine::MoreReads
            }
        };
        // As for a denial: whoever reads a report without an end knows that it is not whole.
        let _ = line.write_to(self.report);
    }

    /// Records that a limit of the sandbox was reached.
    pub(super) fn record_limit(&mut self, limit: &str) {
        self.record_denial(DenialKind::Limit, limit.as_bytes());
    }
}

/// The access log of a sandbox, in which every thread of the supervisor writes.
#[derive(Clone)]
pub(super) struct SharedAccessLog(Arc<Mutex<AccessLog<'static>>>);

impl SharedAccessLog {
    pub(super) fn new(log: AccessLog<'static>) -> Self {
        Self(Arc::new(Mutex::new(log)))
    }

    /// Returns the log, which no other thread writes in meanwhile.
    pub(super) fn lock(&self) -> MutexGuard<'_, AccessLog<'static>> {
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
        let mut ledger = AccessLog::new(&told);
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
    fn each_read_is_noted_once_and_no_more_than_are_listed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let told = file.reopen().unwrap();
        ReportLine::Began { watched: true }.write_to(&told).unwrap();
        let mut log = AccessLog::new(&told);
        for _ in 0..2 {
            for number in 0..READS_MAX + 10 {
                log.record_read(format!("/home/{number}").as_bytes());
            }
        }
        let Some(crate::SandboxReport::Ended { reads, refused, .. }) =
            crate::read_report(file.path()).unwrap()
        else {
            panic!("nothing was told");
        };
        let expected: Vec<String> = (0..READS_MAX).map(|n| format!("/home/{n}")).collect();
        assert_eq!((reads.paths, reads.more, refused), (expected, true, vec![]));
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
