//! Forms in which git keeps the content of a file that it checks out in another form.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// Returns the forms in which a commit may have a content, such that git can restore the content from each of them:
///
/// - as it is;
/// - with the line ends that a checkout turns into CRLF (`core.autocrlf`, `eol=crlf`), if all of them are;
/// - as a pointer of Git LFS, if the store of large files in the repository's common folder has the content.
pub(super) fn list_stored_forms<'a>(
    content: &'a [u8],
    common_dir: &Path,
) -> impl Iterator<Item = Cow<'a, [u8]>> {
    let line_ends = with_short_line_ends(content).map(Cow::Owned);
    let pointer = find_large_file_pointer(content, common_dir).map(Cow::Owned);
    [Some(Cow::Borrowed(content)), line_ends, pointer]
        .into_iter()
        .flatten()
}

/// Returns a text with LF for each CRLF; none if it has no CRLF, or line ends of both kinds.
fn with_short_line_ends(content: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(content.len());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        match line {
            [line @ .., b'\r', b'\n'] => {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
            [.., b'\n'] => return None,
            last => text.extend_from_slice(last),
        }
    }
    (text.len() < content.len()).then_some(text)
}

/// Returns the pointer that is committed in place of a large file; none if the store does not have the file.
fn find_large_file_pointer(content: &[u8], common_dir: &Path) -> Option<Vec<u8>> {
    let store = common_dir.join("lfs").join("objects");
    if !store.is_dir() {
        return None;
    }
    let id = data_encoding::HEXLOWER.encode(&Sha256::digest(content));
    let object = store.join(&id[..2]).join(&id[2..4]).join(&id);
    let size = content.len();
    let is_stored =
        fs::symlink_metadata(object).is_ok_and(|meta| meta.is_file() && meta.len() == size as u64);
    is_stored.then(|| {
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize {size}\n")
            .into_bytes()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_count_as_one_where_all_are_alike() {
        for (content, expected) in [
            ("one\r\ntwo\r\n", Some("one\ntwo\n")),
            ("one\r\ntwo", Some("one\ntwo")),
            ("one\r\ntwo\n", None),
            ("one\ntwo\n", None),
            ("one\rtwo", None),
            ("", None),
        ] {
            let expected = expected.map(|text| text.as_bytes().to_vec());
            assert_eq!(
                with_short_line_ends(content.as_bytes()),
                expected,
                "{content:?}"
            );
        }
    }

    #[test]
    fn a_large_file_counts_where_the_store_has_it_whole() {
        let common_dir = tempfile::tempdir().unwrap();
        let content = b"large";
        let find = || find_large_file_pointer(content, common_dir.path());
        assert_eq!(find(), None);
        // `printf large | sha256sum`
        let id = "d35c416a85b807e9b5384915d6ebb4a9f7352713efd89857b45a242f473728a9";
        let folder = common_dir
            .path()
            .join("lfs/objects")
            .join(&id[..2])
            .join(&id[2..4]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(id), "lar").unwrap();
        assert_eq!(find(), None);
        fs::write(folder.join(id), content).unwrap();
        let pointer =
            format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize 5\n");
        assert_eq!(find(), Some(pointer.into_bytes()));
    }
}
