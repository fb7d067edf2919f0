//! The documentation says what is true: its commands run, its files are read by the real parsers, and its references are
//! those of the code. How a page is written: CONTRIBUTING.md.

mod command_reference;
mod comments;
// The commands of the pages are those of a shell, and many run in the sandbox.
#[cfg(target_os = "linux")]
mod console;
mod fenced_blocks;
mod pages;
mod settings_reference;
mod settings_types;
mod snippets;
#[cfg(target_os = "linux")]
mod transcript;

use std::path::PathBuf;

use fenced_blocks::FencedBlock;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The text of a page, by its path in the repository.
fn read_page(page: &str) -> String {
    let file = repository().join(page);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Compares a written page with what the code makes of it; `UPDATE_GOLDEN=1` writes it anew.
fn assert_page_is(page: &str, made: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(repository().join(page), made).unwrap();
    }
    let hint = "is not what the code says: run this test with UPDATE_GOLDEN=1";
    assert!(read_page(page) == made, "{page} {hint}");
}

/// Every fenced block of the pages that people read: README and those of the site.
fn all_blocks() -> Vec<FencedBlock> {
    let pages = pages::list_pages();
    let blocks = pages.iter().flat_map(|page| FencedBlock::read_page(page));
    blocks.collect()
}
