//! A data folder that lost its record.

use agent::{Engine, EngineConfig, Host};

/// A record that is lost beside what belongs to it is not taken for a new one, and nothing is changed.
#[tokio::test]
async fn a_record_that_is_missing_or_empty_beside_its_files_is_refused() {
    let change = "1 change that can be undone and the files of 0 sessions lie";
    let session = "0 changes that can be undone and the files of 1 session lie";
    for (beside, is_empty, told) in [
        ("history/entries/und_1.json", true, change),
        ("history/entries/und_1.json", false, change),
        ("sessions/ses_1/kept", true, session),
        ("sessions/ses_1/kept", false, session),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (file, kept) = (folder.path().join("record.db"), folder.path().join(beside));
        std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
        std::fs::write(&kept, "{}").unwrap();
        if is_empty {
            std::fs::write(&file, "").unwrap();
        }
        let refused = Engine::open(EngineConfig::new(folder.path().to_owned(), Host::Person)).await;
        let fault = refused.err().expect("it is refused");
        assert!(
            fault.message.contains("record.db is missing or empty")
                && fault.message.contains(told)
                && fault.hint.contains("backup"),
            "{fault}"
        );
        assert_eq!(std::fs::read(&kept).unwrap(), b"{}");
        let length = std::fs::metadata(&file).map_or(0, |found| found.len());
        assert_eq!((file.exists(), length), (is_empty, 0), "nothing was made");
    }
}

/// With nothing beside it, an empty one is as good as none.
#[tokio::test]
async fn an_empty_record_in_an_empty_folder_is_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    std::fs::write(&file, "").unwrap();
    let opened = Engine::open(EngineConfig::new(folder.path().to_owned(), Host::Person)).await;
    assert!(opened.is_ok());
    assert!(std::fs::metadata(&file).unwrap().len() > 0);
}
