//! Private keys in PEM: many lines between two marks, and the handling of a missing second mark.

use crate::text::redact::token::ScanResult;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
/// Maximum length of the label between the dashes: "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK".
const LABEL_BYTES_MAX: usize = 40;
/// Maximum length of a key, in bytes. Anything longer is not a key; the rest is shown again.
const KEY_BYTES_MAX: usize = 64 * 1024;
/// Length of a key's line, in bytes, beyond which nothing is held back to see how the line goes on.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// Looks for the first mark of a private key at the start of the bytes. The whole mark counts as part of the key.
pub(super) fn scan_private_key(bytes: &[u8], is_all: bool) -> ScanResult {
    let open = match is_all {
        true => ScanResult::No,
        false => ScanResult::Unsure,
    };
    if !BEGIN.iter().zip(bytes).all(|(a, b)| a == b) {
        return ScanResult::No;
    }
    let Some(after) = bytes.get(BEGIN.len()..) else {
        return open;
    };
    let label = after
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ')
        .count();
    if label > LABEL_BYTES_MAX {
        return ScanResult::No;
    }
    let tail = &after[label..];
    if !DASHES.iter().zip(tail).all(|(a, b)| a == b) {
        return ScanResult::No;
    }
    if tail.len() < DASHES.len() {
        return open;
    }
    let name = &after[..label];
    match name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK") {
        true => ScanResult::Secret {
            kept: 0,
            end: BEGIN.len() + label + DASHES.len(),
            goes_on: None,
        },
        false => ScanResult::No,
    }
}

/// Number of bytes that still belong to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyBodyScan {
    /// This many bytes belong to the key; the rest is undecided.
    Continues(usize),
    /// This many bytes belong to the key, which ends there.
    EndsAt(usize),
}

/// Examines the bytes within a key, from the start of a line or directly after the first mark; `seen` bytes of the key
/// came before.
pub(super) fn scan_key_body(bytes: &[u8], offset: usize, is_all: bool) -> KeyBodyScan {
    let mut line = 0;
    let mut at = 0;
    while at < bytes.len() {
        if offset + at >= KEY_BYTES_MAX {
            return KeyBodyScan::EndsAt(at);
        }
        let rest = &bytes[at..];
        if rest[0] == b'-' && END.iter().zip(rest).all(|(a, b)| a == b) {
            let Some(after) = rest.get(END.len()..) else {
                break;
            };
            let close = after.windows(DASHES.len()).position(|five| five == DASHES);
            match close {
                Some(found) if found <= LABEL_BYTES_MAX => {
                    return KeyBodyScan::EndsAt(at + END.len() + found + DASHES.len());
                }
                None if after.len() <= LABEL_BYTES_MAX + DASHES.len() && !is_all => break,
                _ => return KeyBodyScan::EndsAt(line),
            }
        }
        if !is_key_byte(rest[0]) {
            // A line that no key has: this was a mark alone, in a test or a manual. The line is shown.
            return KeyBodyScan::EndsAt(line);
        }
        at += 1;
        if rest[0] == b'\n' || at - line >= LINE_BYTES_MAX {
            line = at;
        }
    }
    match is_all {
        true => KeyBodyScan::Continues(bytes.len()),
        false => KeyBodyScan::Continues(line),
    }
}

/// Returns whether a byte may occur within a key: Base64, the headers of old keys, and any prefix or separator of the
/// lines where a file is listed or quoted.
fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'+' | b'/'
                | b'='
                | b' '
                | b'\t'
                | b'\r'
                | b'\n'
                | b'\\'
                | b'"'
                | b'\''
                | b','
                | b':'
                | b'-'
                | b'.'
                | b'_'
        )
}
