//! The output of a command: its head in memory, the whole in a file when it is long, and text pieces for live
//! observers.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use protocol::text::cut;
use protocol::text::redact::Masker;

use super::{CommandExit, CommandRun, OutputSpill};
use crate::limits::SPILL_BYTES_MAX;

pub(super) struct OutputCollector<'a, F> {
    head: Vec<u8>,
    head_bytes_max: usize,
    bytes: u64,
    spill: Option<&'a OutputSpill>,
    file: Option<(PathBuf, File)>,
    note: Option<String>,
    watcher: F,
    masker: Option<Masker>,
    /// The beginning of a character whose end has not arrived yet.
    partial_char: Vec<u8>,
}

impl<'a, F: FnMut(&str) + Send> OutputCollector<'a, F> {
    pub(super) fn new(
        head_bytes_max: u64,
        spill: Option<&'a OutputSpill>,
        masks: bool,
        watcher: F,
    ) -> Self {
        Self {
            head: Vec::new(),
            head_bytes_max: usize::try_from(head_bytes_max).unwrap_or(usize::MAX),
            bytes: 0,
            spill,
            file: None,
            note: None,
            watcher,
            masker: masks.then(Masker::default),
            partial_char: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        match &mut self.masker {
            Some(masker) => {
                let sure = masker.push(bytes);
                self.append_head(&sure);
            }
            None => self.append_head(bytes),
        }
    }

    fn append_head(&mut self, bytes: &[u8]) {
        let room = self.head_bytes_max - self.head.len();
        let (kept, over) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(kept);
        if !over.is_empty() {
            self.write_overflow(over);
        }
        self.bytes += bytes.len() as u64;
        self.emit_text(bytes);
    }

    /// Writes the output that exceeds the head; the file begins with the head, so that it is whole.
    fn write_overflow(&mut self, over: &[u8]) {
        if self.note.is_some() {
            return;
        }
        if self.file.is_none() {
            let Some(spill) = self.spill else { return };
            match spill.folder.create_output_file(&spill.call) {
                Ok((path, mut file)) => match file.write_all(&self.head) {
                    Ok(()) => self.file = Some((path, file)),
                    Err(error) => {
                        self.note = Some(format!("the rest could not be kept: {error}"));
                        return;
                    }
                },
                Err(error) => {
                    self.note = Some(error.to_string());
                    return;
                }
            }
        }
        let Some((_, file)) = &mut self.file else {
            return;
        };
        // Before this piece the file holds everything that came: as much as was counted, and the head's last part.
        let held = self.bytes.max(self.head.len() as u64);
        let room = SPILL_BYTES_MAX.saturating_sub(held);
        let cut = usize::try_from(room).unwrap_or(usize::MAX).min(over.len());
        if let Err(error) = file.write_all(&over[..cut]) {
            self.note = Some(format!("the file is shorter than the output: {error}"));
        } else if cut < over.len() {
            self.note = Some(format!(
                "the file is shorter than the output: it ends after {SPILL_BYTES_MAX} bytes"
            ));
        }
    }

    /// Passes on whole characters, and keeps the beginning of an incomplete one for the next piece.
    fn emit_text(&mut self, bytes: &[u8]) {
        let mut all = std::mem::take(&mut self.partial_char);
        all.extend_from_slice(bytes);
        self.partial_char = all.split_off(cut::complete_chars_len(&all));
        if !all.is_empty() {
            (self.watcher)(&String::from_utf8_lossy(&all));
        }
    }

    pub(super) fn into_result(mut self, exit: CommandExit, duration: Duration) -> CommandRun {
        if let Some(rest) = self.masker.as_mut().map(Masker::finish) {
            self.append_head(&rest);
        }
        let rest = std::mem::take(&mut self.partial_char);
        if !rest.is_empty() {
            (self.watcher)(&String::from_utf8_lossy(&rest));
        }
        CommandRun {
            exit,
            head: self.head,
            spilled: self.file.map(|(path, _)| path),
            spill_note: self.note,
            bytes: self.bytes,
            secrets_masked: self.masker.as_ref().map_or(0, Masker::count),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_between_characters() {
        let text = "aü€😀z".as_bytes();
        let cases: [&[&[u8]]; 5] = [
            &[text],
            &[&text[..2], &text[2..5], &text[5..8], &text[8..]],
            &[&text[..9], &text[9..]],
            &[b"\xff", b"a"],
            &[b"\xe2\x82", b"x\xf0\x9f"],
        ];
        for pieces in cases {
            let mut shown: Vec<String> = Vec::new();
            let mut output =
                OutputCollector::new(1_000, None, false, |text: &str| shown.push(text.to_owned()));
            for piece in pieces {
                output.push(piece);
            }
            let ran = output.into_result(CommandExit::Code(0), Duration::ZERO);
            assert_eq!(ran.head, pieces.concat());
            let whole = String::from_utf8_lossy(&ran.head).into_owned();
            assert_eq!(shown.concat(), whole, "{pieces:?}");
        }
    }

    /// A secret split over two pieces is in none of the kept or shown output.
    #[test]
    fn a_secret_in_two_pieces_is_masked() {
        let mut shown = String::new();
        let mut output = OutputCollector::new(20, None, true, |text: &str| shown.push_str(text));
        for piece in ["key AKIAIOSF", "ODNN7EXAMPLE and g", "o on"] {
            output.push(piece.as_bytes());
        }
        let ran = output.into_result(CommandExit::Code(0), Duration::ZERO);
        assert_eq!(ran.head, b"key *** and go on");
        assert_eq!((ran.bytes, ran.secrets_masked), (17, 1));
        assert_eq!(shown, "key *** and go on");
    }
}
