//! Tests of copies that are damaged, missing, or from earlier versions.

use super::*;

#[test]
fn what_is_damaged_is_named() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 4] = [
        ("cut off", |file| {
            let length = fs::metadata(file).unwrap().len();
            let file = fs::OpenOptions::new().write(true).open(file).unwrap();
            file.set_len(length - 1).unwrap();
        }),
        ("one bit", |file| {
            let mut bytes = fs::read(file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(file, bytes).unwrap();
        }),
        ("empty", |file| fs::write(file, "").unwrap()),
        ("gone", |file| fs::remove_file(file).unwrap()),
    ];
    for (content, form) in [
        (text(BLOCK_BYTES), ""),
        (text(50_000), ".zst"),
        (text(200_000), ".list"),
        (noise(200_000, 5), ".list"),
    ] {
        for (what, harm) in harms {
            let home = Home::new();
            let digest = home.put(&content);
            for (name, (path, _)) in home.files() {
                harm(&path);
                let error = home.store.read_content(&digest, 1 << 20).unwrap_err();
                let word = if what == "gone" { "missing" } else { "damaged" };
                let told = error.to_string();
                assert!(told.contains(word), "{form}, {what}, {name}: {told}");
                let named = [&name[..64], digest.as_str()];
                assert!(named.iter().any(|name| told.contains(name)), "{told}");
                assert_eq!(home.copied(&digest).unwrap_err().to_string(), told);
                fs::remove_file(&path).ok();
                assert!(
                    !home.store.contains(&digest).unwrap(),
                    "{form}, {what}, {name}"
                );
                // It is taken anew.
                home.put(&content);
                assert!(home.store.read_content(&digest, 1 << 20).unwrap() == content);
            }
        }
    }
}

/// The pieces of an unreadable list are not known, so nothing is removed.
#[test]
fn a_damaged_list_keeps_every_piece() {
    let home = Home::new();
    let content = text(300_000);
    let digest = home.put(&content);
    let other = home.put(b"needed by nobody");
    let before = home.files();
    let (list, _) = &before[&format!("{digest}.list")];
    let whole = fs::read(list).unwrap();
    fs::write(list, &whole[..whole.len() - 36]).unwrap();
    home.store.retain_only(&home.needed(&[&digest])).unwrap();
    assert_eq!(home.files().len(), before.len());
    fs::write(list, whole).unwrap();
    home.store.retain_only(&home.needed(&[&digest])).unwrap();
    assert!(!home.store.contains(&other).unwrap());
    assert!(home.store.read_content(&digest, 1 << 20).unwrap() == content);
    // Nobody needs a damaged one any more: it goes with its pieces.
    fs::write(list, "damaged").unwrap();
    home.store.retain_only(&RequiredFiles::default()).unwrap();
    assert_eq!(home.files().len(), 0);
}

/// Creates a data folder of an earlier version: whole contents, uncompressed.
#[test]
fn copies_of_before_are_read_and_dropped_and_none_is_added() {
    let home = Home::new();
    let contents = [b"short".to_vec(), text(300_000), noise(2_000_000, 6)];
    let digests = contents.clone().map(|content| Digest::from_bytes(&content));
    let blobs = home.folder.path().join("blobs");
    fs::create_dir_all(blobs.join("new")).unwrap();
    fs::write(blobs.join("new/large-1"), "half-written").unwrap();
    for (digest, content) in digests.iter().zip(&contents) {
        fs::create_dir_all(blobs.join(&digest.as_str()[..2])).unwrap();
        let file = blobs.join(&digest.as_str()[..2]).join(digest.as_str());
        fs::write(file, content).unwrap();
    }
    let home = Home {
        store: CopyStore::open(home.folder.path()).unwrap(),
        ..home
    };
    home.store.remove_partial_files().unwrap();
    let before = home.files();
    assert_eq!(before.len(), 3, "what was half-written is swept");
    for (digest, content) in digests.iter().zip(&contents) {
        assert!(home.store.contains(digest).unwrap());
        assert!(home.store.read_content(digest, 1 << 22).unwrap() == *content);
        assert!(home.copied(digest).unwrap() == *content);
        assert_eq!(home.put_file(content), *digest);
    }
    assert_eq!(home.files(), before, "they are there already");
    // An edit of one is kept in pieces, and does not lean on the other.
    let mut edited = contents[1].clone();
    edited[1_000] = b'!';
    let edited_digest = home.put(&edited);
    assert_eq!(home.needed(&[&digests[0]]).bytes(), 5);
    home.store
        .retain_only(&home.needed(&[&digests[0], &edited_digest]))
        .unwrap();
    assert!(home.store.contains(&digests[0]).unwrap());
    assert!(
        !home.store.contains(&digests[1]).unwrap() && !home.store.contains(&digests[2]).unwrap()
    );
    assert!(home.store.read_content(&edited_digest, 1 << 20).unwrap() == edited);
    // One of before that is damaged is found as ever.
    let (path, _) = &home.files()[digests[0].as_str()];
    fs::write(path, "shorT").unwrap();
    let error = home
        .store
        .read_content(&digests[0], 10)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("damaged") && error.contains(digests[0].as_str()),
        "{error}"
    );
}
