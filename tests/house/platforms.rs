//! What differs by the system is on the page about platforms: it names every source file that asks which system it is
//! built for, and no other.

use std::collections::BTreeSet;
use std::path::PathBuf;

use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

use super::circles::source_files;
use super::source_rules::repo_root;

/// The page, and how it begins the paths that it shortens.
const PAGE: &str = "docs/platforms.md";
const SHORTENED: &str = "src-tauri/crates/";

/// Crates that are tools of the repository and are not shipped.
const TOOL_CRATES: [&str; 2] = ["bench", "xtask"];

/// Words of a condition that ask for the system.
const SYSTEM_WORDS: [&str; 5] = [
    "target_family",
    "target_os",
    "target_vendor",
    "unix",
    "windows",
];

/// Whether the code of one file, without its tests, asks which system it is built for.
#[derive(Default)]
struct SystemConditions(bool);

impl<'ast> Visit<'ast> for SystemConditions {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Fn(function) => &function.attrs,
            syn::Item::Impl(block) => &block.attrs,
            syn::Item::Mod(module) => &module.attrs,
            syn::Item::Use(import) => &import.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !attributes.iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let path = attribute.path();
        let is_condition = path.is_ident("cfg") || path.is_ident("cfg_attr");
        if let (true, syn::Meta::List(list)) = (is_condition, &attribute.meta) {
            self.0 |= !is_for_tests(attribute) && names_system(&list.tokens.to_string());
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let tokens = call.tokens.to_string();
        let is_condition = call.path.is_ident("cfg") || tokens.contains("cfg !");
        self.0 |= is_condition && names_system(&tokens);
    }
}

/// Whether an attribute keeps what it stands at to tests.
fn is_for_tests(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute
            .parse_args::<syn::Meta>()
            .is_ok_and(|condition| needs_test(&condition))
}

fn needs_test(condition: &syn::Meta) -> bool {
    match condition {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("all") => {
            let parts =
                list.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated);
            parts.is_ok_and(|parts| parts.iter().any(needs_test))
        }
        syn::Meta::List(_) | syn::Meta::NameValue(_) => false,
    }
}

fn names_system(condition: &str) -> bool {
    let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| SYSTEM_WORDS.contains(&word))
}

fn asks_for_system(source: &str) -> bool {
    let mut conditions = SystemConditions::default();
    conditions.visit_file(&syn::parse_file(source).unwrap());
    conditions.0
}

/// Folders with the sources of everything that ships.
fn shipped_folders() -> Vec<PathBuf> {
    let crates = std::fs::read_dir(repo_root().join(SHORTENED)).unwrap();
    let shipped = crates.map(|entry| entry.unwrap()).filter(|entry| {
        let name = entry.file_name();
        !TOOL_CRATES.iter().any(|tool| name == *tool)
    });
    let folders = shipped.map(|entry| entry.path().join("src"));
    folders.chain([repo_root().join("src-tauri/src")]).collect()
}

/// The files that ask which system they are built for, by the paths that the page has for them.
fn find_asking_files() -> BTreeSet<String> {
    let files = shipped_folders()
        .into_iter()
        .flat_map(|folder| source_files(&folder));
    files
        .filter(|file| {
            let source = std::fs::read_to_string(file).unwrap();
            // Most files have no such word, and need not be parsed.
            names_system(&source) && asks_for_system(&source)
        })
        .map(|file| {
            let below = file.strip_prefix(repo_root()).unwrap();
            let path = below.display().to_string().replace('\\', "/");
            path.strip_prefix(SHORTENED).unwrap_or(&path).to_owned()
        })
        .collect()
}

/// The source files that a page names.
fn list_named_files(page: &str) -> BTreeSet<String> {
    let code = page.split('`').skip(1).step_by(2);
    let files = code.filter(|name| name.ends_with(".rs"));
    files.map(str::to_owned).collect()
}

#[test]
fn what_differs_by_system_is_on_the_page() {
    let named = list_named_files(&std::fs::read_to_string(repo_root().join(PAGE)).unwrap());
    let asking = find_asking_files();
    assert!(asking.len() > 40, "only {} files were found", asking.len());
    let missing: Vec<_> = asking.difference(&named).collect();
    assert!(
        missing.is_empty(),
        "these files ask which system they are built for; say in {PAGE} what differs: {missing:#?}"
    );
    let stray: Vec<_> = named.difference(&asking).collect();
    assert!(
        stray.is_empty(),
        "{PAGE} names these files, which are not there, or ask for no system any more: {stray:#?}"
    );
}

#[test]
fn conditions_on_the_system_are_found() {
    for (source, expected) in [
        ("#[cfg(unix)] fn f() {}", true),
        ("#![cfg_attr(windows, allow(dead_code))]", true),
        ("fn f() -> bool { cfg!(target_os = \"macos\") }", true),
        ("fn f() -> bool { matches!(cfg!(windows), true) }", true),
        (
            "fn f() { #[cfg(not(target_family = \"unix\"))] g(); }",
            true,
        ),
        ("struct S { #[cfg(unix)] mode: u32 }", true),
        ("#[cfg(any(windows, test))] mod m;", true),
        ("#[cfg(all(feature = \"openapi\", unix))] mod m;", true),
        (
            "#[cfg(all(test, unix))] mod tests { #[cfg(unix)] fn f() {} }",
            false,
        ),
        ("#[cfg(unix)] #[cfg(test)] mod tests { fn f() {} }", false),
        ("#[cfg(test)] fn f() { assert!(cfg!(unix)); }", false),
        ("#[cfg(feature = \"openapi\")] mod unix;", false),
        ("fn f() { println!(\"windows and unix\"); }", false),
    ] {
        assert_eq!(asks_for_system(source), expected, "{source}");
    }
}

#[test]
fn files_are_named_in_code() {
    let page = "| a | `runtime/src/a.rs`, `b/src/c.rs` | runtime/src/d.rs |\n`cargo` `tests/`";
    let expected = ["b/src/c.rs", "runtime/src/a.rs"].map(str::to_owned);
    assert_eq!(list_named_files(page), BTreeSet::from(expected));
}
