//! Tests that contents are stored in little space and read back, and that needed ones are kept.

use std::collections::BTreeMap;
use std::io::{Seek, SeekFrom};
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::limits::{BLOCK_BYTES, COPY_BYTES, UNCHUNKED_BYTES_MAX};

mod harm;

struct Home {
    folder: TempDir,
    store: CopyStore,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = CopyStore::open(folder.path()).unwrap();
        Self { folder, store }
    }

    fn put(&self, content: &[u8]) -> Digest {
        let mut batch = self.store.start_batch().unwrap();
        let digest = batch.put_bytes(content).unwrap();
        batch.commit().unwrap();
        digest
    }

    /// Puts a content from a file, as contents of a workspace come.
    fn put_file(&self, content: &[u8]) -> Digest {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut batch = self.store.start_batch().unwrap();
        let length = content.len() as u64;
        let (digest, taken) = batch.put_file(&mut file, length).unwrap();
        batch.commit().unwrap();
        assert_eq!(taken, length);
        digest
    }

    /// Returns every file of the store by its name, with its length.
    fn files(&self) -> BTreeMap<String, (PathBuf, u64)> {
        let mut files = BTreeMap::new();
        for place in ["copies", "blobs"] {
            let Ok(shelves) = fs::read_dir(self.folder.path().join(place)) else {
                continue;
            };
            for shelf in shelves {
                for file in fs::read_dir(shelf.unwrap().path()).unwrap() {
                    let file = file.unwrap();
                    let name = file.file_name().into_string().unwrap();
                    let bytes = file.metadata().unwrap().len();
                    files.insert(name, (file.path(), bytes));
                }
            }
        }
        files
    }

    /// Returns how a content is stored: the extension of its name, and how many files there are besides.
    fn form(&self, digest: &Digest) -> (String, usize) {
        let files = self.files();
        let own = files.keys().find(|name| name.starts_with(digest.as_str()));
        let own = own.unwrap();
        (own[digest.as_str().len()..].to_owned(), files.len() - 1)
    }

    fn copied(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        let mut file = tempfile::tempfile().unwrap();
        self.store.copy_to(digest, &mut file)?;
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut content = Vec::new();
        io::Read::read_to_end(&mut file, &mut content).unwrap();
        Ok(content)
    }

    fn needed(&self, digests: &[&Digest]) -> RequiredFiles {
        let mut needed = RequiredFiles::default();
        for digest in digests {
            let mut more = RequiredFiles::default();
            self.store
                .collect_required(digest, &needed, &mut more)
                .unwrap();
            needed.merge(more);
        }
        needed
    }
}

/// Returns bytes that cannot be compressed.
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut content = vec![0; bytes];
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.finalize_xof().fill(&mut content);
    content
}

/// Returns lines, each with another number.
fn text(bytes: usize) -> Vec<u8> {
    let mut content = Vec::new();
    for line in 0.. {
        if content.len() >= bytes {
            break;
        }
        content.extend_from_slice(format!("{line:>6}: let a = b({});\n", line * 7919).as_bytes());
    }
    content.truncate(bytes);
    content
}

#[test]
fn what_goes_in_comes_out() {
    let table: [(&str, Vec<u8>, &str); 15] = [
        ("nothing", Vec::new(), ""),
        ("one byte", vec![7], ""),
        ("a block", text(BLOCK_BYTES), ""),
        ("a little more", text(BLOCK_BYTES + 1), ".zst"),
        ("noise, a little more", noise(BLOCK_BYTES + 1, 1), ""),
        ("zeros", vec![0; 40_000], ".zst"),
        (
            "one less than a whole",
            text(UNCHUNKED_BYTES_MAX - 1),
            ".zst",
        ),
        ("a whole", noise(UNCHUNKED_BYTES_MAX, 2), ""),
        (
            "one more than a whole",
            noise(UNCHUNKED_BYTES_MAX + 1, 3),
            ".list",
        ),
        ("text in pieces", text(300_000), ".list"),
        ("zeros in pieces", vec![0; 300_001], ".list"),
        ("as much as goes through memory", text(COPY_BYTES), ".list"),
        ("one more", text(COPY_BYTES + 1), ".list"),
        ("streamed noise", noise(3_000_000, 4), ".list"),
        ("longer pieces", text(5_000_000), ".list"),
    ];
    for (what, content, form) in table {
        let homes = [Home::new(), Home::new()];
        let digest = Digest::from_bytes(&content);
        assert!(!homes[0].store.contains(&digest).unwrap(), "{what}");
        assert_eq!(homes[0].put(&content), digest, "{what}");
        assert_eq!(homes[1].put_file(&content), digest, "{what}");
        let names = |home: &Home| home.files().into_keys().collect::<Vec<_>>();
        assert_eq!(names(&homes[0]), names(&homes[1]), "{what}: one way to cut");
        for home in homes {
            assert_eq!(home.form(&digest).0, form, "{what}");
            assert!(home.store.contains(&digest).unwrap(), "{what}");
            let length = content.len() as u64;
            assert!(
                home.store.read_content(&digest, length).unwrap() == content,
                "{what}"
            );
            assert!(home.copied(&digest).unwrap() == content, "{what}");
            assert!(
                length == 0 || home.store.read_content(&digest, length - 1).is_err(),
                "{what}"
            );
            let bytes: u64 = home.files().values().map(|(_, bytes)| bytes).sum();
            assert_eq!(home.store.disk_bytes().unwrap(), bytes, "{what}");
            assert_eq!(
                home.needed(&[&digest]).bytes(),
                bytes,
                "{what}: all is needed"
            );
            assert!(
                bytes <= length + length / 200 + 256,
                "{what}: {bytes} bytes"
            );
            // Once more is nothing more.
            let before = names(&home);
            home.put_file(&content);
            assert_eq!(names(&home), before, "{what}");
        }
    }
}

#[test]
fn pieces_are_of_a_length() {
    for (bytes, least, most) in [(1 << 20, 20, 160), (4 << 20, 120, 700), (5 << 20, 30, 200)] {
        let home = Home::new();
        let digest = home.put_file(&noise(bytes, 9));
        let (_, pieces) = home.form(&digest);
        assert!((least..=most).contains(&pieces), "{bytes}: {pieces} pieces");
    }
}

/// A hole takes next to nothing, neither in memory nor in the store, and is restored as one.
#[test]
fn a_hole_is_one_piece_and_comes_out_as_a_hole() {
    let mebibyte = 1 << 20;
    let table: [(&str, u64, &[u64]); 4] = [
        ("nothing else", 200 * mebibyte + 1, &[]),
        ("something first", 80 * mebibyte, &[0]),
        ("something last", 80 * mebibyte, &[80 * mebibyte - 3]),
        (
            "something between",
            80 * mebibyte,
            &[40 * mebibyte, 60 * mebibyte + 7],
        ),
    ];
    for (what, bytes, places) in table {
        let home = Home::new();
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(bytes).unwrap();
        for place in places {
            file.seek(SeekFrom::Start(*place)).unwrap();
            file.write_all(b"abc").unwrap();
        }
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut batch = home.store.start_batch().unwrap();
        let (digest, length) = batch.put_file(&mut file, bytes).unwrap();
        batch.commit().unwrap();
        assert_eq!(length, bytes, "{what}");
        let (form, others) = home.form(&digest);
        assert_eq!(form, ".list", "{what}");
        assert!(others <= 2 + 2 * places.len(), "{what}: {others} pieces");
        assert!(home.store.disk_bytes().unwrap() < 50_000, "{what}");
        let mut out = tempfile::tempfile().unwrap();
        home.store.copy_to(&digest, &mut out).unwrap();
        out.seek(SeekFrom::Start(0)).unwrap();
        assert_eq!(hash_reader(&mut out).unwrap(), (digest, bytes), "{what}");
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::MetadataExt;
            let taken = out.metadata().unwrap().blocks() * 512;
            assert!(taken < 8 * mebibyte, "{what}: {taken} bytes on disk");
        }
    }
}

/// The purpose of pieces: each edit of a long file adds a piece or two and the list.
#[test]
fn a_thousand_edits_of_a_megabyte_take_less_than_a_twentieth() {
    let home = Home::new();
    let mut content = text(1_000_000);
    let mut digests = vec![home.put(&content)];
    for edit in 0..1_000_usize {
        let at = edit * 997_001 % (content.len() - 20);
        let word = format!("{edit:06}");
        match edit % 3 {
            0 => content[at..at + word.len()].copy_from_slice(word.as_bytes()),
            1 => drop(content.splice(at..at, word.bytes())),
            _ => drop(content.drain(at..at + word.len())),
        }
        let mut batch = home.store.start_batch().unwrap();
        digests.push(batch.put_bytes(&content).unwrap());
        batch.commit().unwrap();
    }
    let whole = 1_001_000_000;
    let taken = home.store.disk_bytes().unwrap();
    assert!(taken * 20 < whole, "{taken} bytes");
    assert!(home.store.read_content(&digests[1_000], 2_000_000).unwrap() == content);
    assert!(home.store.read_content(&digests[0], 2_000_000).unwrap() == text(1_000_000));
    // Without the first half, the other half is whole.
    let kept: Vec<&Digest> = digests[500..].iter().collect();
    let needed = home.needed(&kept);
    home.store.retain_only(&needed).unwrap();
    assert_eq!(home.store.disk_bytes().unwrap(), needed.bytes());
    for (number, digest) in digests.iter().enumerate() {
        assert_eq!(
            home.store.contains(digest).unwrap(),
            number >= 500,
            "{number}"
        );
    }
    for digest in kept.iter().step_by(50) {
        assert!(home.store.read_content(digest, 2_000_000).is_ok());
    }
}

#[test]
fn what_is_shared_goes_with_the_last_that_needs_it() {
    let home = Home::new();
    let first = noise(400_000, 1);
    let mut second = first.clone();
    second[200_000..200_010].copy_from_slice(b"an edit of");
    let digests = [home.put(&first), home.put(&second), home.put(b"short")];
    let all = home.store.disk_bytes().unwrap();
    assert!(all < 500_000, "both together: {all}");
    assert_eq!(
        home.needed(&[&digests[0], &digests[1], &digests[2]])
            .bytes(),
        all
    );
    home.store
        .retain_only(&home.needed(&[&digests[1]]))
        .unwrap();
    assert!(home.store.read_content(&digests[1], 1 << 20).unwrap() == second);
    assert!(
        !home.store.contains(&digests[0]).unwrap() && !home.store.contains(&digests[2]).unwrap()
    );
    home.store.retain_only(&RequiredFiles::default()).unwrap();
    assert_eq!(home.files().len(), 0);
}

#[cfg(unix)]
#[test]
fn all_of_it_is_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    for content in [text(10), text(10_000), text(100_000)] {
        home.put_file(&content);
    }
    for (path, _) in home.files().values() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }
}

/// One edit: its position, the number of bytes removed, and the bytes inserted.
type Edit = (prop::sample::Index, usize, Vec<u8>);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let comes = prop::collection::vec(any::<u8>(), 0..3_000);
    prop::collection::vec((any::<prop::sample::Index>(), 0..5_000_usize, comes), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However a content is edited, every version is restored, and files needed by a kept version are never removed.
    #[test]
    fn every_version_comes_out(bytes in 0..1_500_000_usize, seed: u64, of_lines: bool, edits in edits()) {
        let home = Home::new();
        let mut content = if of_lines { text(bytes) } else { noise(bytes, seed) };
        let mut versions = vec![content.clone()];
        for (at, goes, comes) in edits {
            let at = at.index(content.len() + 1);
            let end = (at + goes).min(content.len());
            content.splice(at..end, comes);
            versions.push(content.clone());
        }
        let mut batch = home.store.start_batch().unwrap();
        let digests: Vec<Digest> = versions.iter().map(|version| batch.put_bytes(version).unwrap()).collect();
        batch.commit().unwrap();
        for (digest, version) in digests.iter().zip(&versions) {
            prop_assert!(home.store.read_content(digest, 1 << 22).unwrap() == *version);
        }
        let kept = seed as usize % versions.len();
        let needed = home.needed(&[&digests[kept]]);
        home.store.retain_only(&needed).unwrap();
        prop_assert_eq!(home.store.disk_bytes().unwrap(), needed.bytes());
        prop_assert!(home.copied(&digests[kept]).unwrap() == versions[kept]);
    }
}
