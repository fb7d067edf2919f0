//! Comparison of two files by content, where nothing else tells whether they are the same.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::fs::dir::{Dir, open_file_kind};
use crate::fs::workspace::PathKind;
use crate::limits::COPY_BYTES;

/// Whether the regular files of one name in two folders have the same content. None of the content is kept.
pub(in crate::dry_run) fn has_same_content(
    one: &Dir,
    other: &Dir,
    name: &OsStr,
) -> io::Result<bool> {
    let (one, other) = (
        one.open_file(Path::new(name))?,
        other.open_file(Path::new(name))?,
    );
    for file in [&one, &other] {
        if open_file_kind(file)? != PathKind::File {
            return Ok(false);
        }
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    loop {
        read_piece(&one, &mut ours)?;
        read_piece(&other, &mut theirs)?;
        if ours != theirs {
            return Ok(false);
        }
        if ours.is_empty() {
            return Ok(true);
        }
    }
}

/// Reads the next piece of a file, of the same length in every file that has as much left; empty at the end of the
/// file.
fn read_piece(file: &File, piece: &mut Vec<u8>) -> io::Result<()> {
    piece.clear();
    file.take(COPY_BYTES as u64).read_to_end(piece)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_anywhere_makes_another_file() {
        let home = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            std::fs::create_dir(home.path().join(name)).unwrap();
            Dir::open(&home.path().canonicalize().unwrap().join(name)).unwrap()
        };
        let (one, other) = (folder("one"), folder("other"));
        let long = vec![7; COPY_BYTES * 2 + 3];
        let mut changed = long.clone();
        changed[COPY_BYTES + 1] = 8;
        for (ours, theirs, is_same) in [
            (&b""[..], &b""[..], true),
            (b"a", b"a", true),
            (b"a", b"b", false),
            (b"a", b"", false),
            (b"", b"a", false),
            (&long, &long, true),
            (&long, &changed, false),
            (&long, &long[1..], false),
        ] {
            for (place, content) in [("one", ours), ("other", theirs)] {
                std::fs::write(home.path().join(place).join("f"), content).unwrap();
            }
            let same = has_same_content(&one, &other, OsStr::new("f")).unwrap();
            assert_eq!(same, is_same, "{} and {}", ours.len(), theirs.len());
        }
    }
}
