//! What goes with a message beside its text: images, and files that it names.

use std::time::{Duration, UNIX_EPOCH};

use protocol::query::{Answer, Query};
use protocol::session::attachments::{DroppedFile, ImageSupport};
use support::{Fixture, expect_variant, say_text};

fn root(desk: &Fixture) -> String {
    desk.workspace_root().display().to_string()
}

async fn file_names(desk: &Fixture, text: &str) -> Vec<String> {
    let query = Query::FileNames {
        workspace: root(desk),
        text: text.to_owned(),
        limit: 3,
    };
    expect_variant!(desk.query(query).await, Answer::FileNames { paths } => paths)
}

async fn find_dropped(desk: &Fixture, name: &str, bytes: u64, modified: i64) -> Vec<String> {
    let file = DroppedFile {
        name: name.to_owned(),
        bytes,
        modified,
    };
    let query = Query::DroppedFile {
        workspace: root(desk),
        file,
    };
    expect_variant!(desk.query(query).await, Answer::DroppedFile { paths } => paths)
}

#[tokio::test]
async fn files_of_the_workspace_are_offered_by_their_names() {
    let mut desk = Fixture::new([say_text("Done.")]).await;
    for path in [
        "src/lib.rs",
        "src/library.rs",
        "docs/lib/a.md",
        ".git/config",
        "out/b.o",
    ] {
        desk.write_file(path, "x");
    }
    desk.write_file(".gitignore", "out/\n");
    assert_eq!(
        file_names(&desk, "lib").await,
        ["src/lib.rs", "src/library.rs", "docs/lib/a.md"]
    );
    assert!(file_names(&desk, "b.o").await.is_empty(), "an ignored one");
    assert!(file_names(&desk, "config").await.is_empty(), "git's own");
}

#[tokio::test]
async fn a_dropped_file_is_found_in_the_workspace_or_not_at_all() {
    let mut desk = Fixture::new([say_text("Done.")]).await;
    desk.write_file("notes/plan.md", "plan");
    let time = UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
    let file = desk.workspace_root().join("notes/plan.md");
    let file = std::fs::File::options().write(true).open(file).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(
        find_dropped(&desk, "plan.md", 4, 1_700_000_000_123).await,
        ["notes/plan.md"]
    );
    // Another file of that name, elsewhere.
    assert!(
        find_dropped(&desk, "plan.md", 5, 1_700_000_000_123)
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn what_becomes_of_images_is_known_before_they_are_sent() {
    let mut desk = Fixture::new([say_text("Done.")]).await;
    desk.play().await;
    let query = Query::ImageSupport {
        session: desk.session.clone(),
    };
    let support =
        expect_variant!(desk.query(query).await, Answer::ImageSupport { support } => support);
    assert_eq!(
        support,
        ImageSupport::Described,
        "a scripted model is shown none"
    );
}
