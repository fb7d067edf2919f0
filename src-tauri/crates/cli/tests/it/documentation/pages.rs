//! Which pages there are.

use std::path::Path;

use super::repository;

/// Pages for those who change the code. Their commands build, test and release, and are not run here.
const CONTRIBUTORS_PAGES: [&str; 3] = [
    "docs/architecture.md",
    "docs/testing.md",
    "docs/translations.md",
];

/// Every page for users, by its path in the repository.
pub(super) fn list_pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/reference"] {
        let items = std::fs::read_dir(repository().join(folder)).unwrap();
        let names = items.map(|item| item.unwrap().file_name().into_string().unwrap());
        let markdown = names.filter(|name| Path::new(name).extension().is_some_and(|e| e == "md"));
        pages.extend(markdown.map(|name| format!("{folder}/{name}")));
    }
    pages.retain(|page| !CONTRIBUTORS_PAGES.contains(&page.as_str()));
    pages.sort();
    pages
}

/// The site leaves out the same pages as the tests.
#[test]
fn the_site_leaves_out_the_pages_for_contributors() {
    let config = super::read_page("docs/.vitepress/config.ts");
    let (_, list) = config.split_once("const CONTRIBUTORS_PAGES = [").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    let named: Vec<String> = list
        .split(',')
        .map(|name| format!("docs/{}", name.trim().trim_matches('\'')))
        .collect();
    assert_eq!(named, CONTRIBUTORS_PAGES);
}
