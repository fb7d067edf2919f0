//! No circle among the modules at the top of a crate: of two folders, one may know the other, and never each the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

use super::source_rules::repo_root;

/// Which modules each module uses, with one file and path that shows it.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// The paths of one file that begin with `crate`, without those of its tests.
#[derive(Default)]
struct CratePaths(BTreeSet<String>);

impl CratePaths {
    /// Adds every path that an import names below these segments.
    fn add_tree(&mut self, segments: &[String], tree: &syn::UseTree) {
        let joined = |name: &syn::Ident| [segments, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.add_tree(&joined(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.add(&joined(&name.ident)),
            syn::UseTree::Rename(rename) => self.add(&joined(&rename.ident)),
            syn::UseTree::Glob(_) => self.add(segments),
            syn::UseTree::Group(group) => {
                group
                    .items
                    .iter()
                    .for_each(|item| self.add_tree(segments, item));
            }
        }
    }

    fn add(&mut self, segments: &[String]) {
        if segments.len() > 1 && segments[0] == "crate" {
            self.0.insert(segments.join("::"));
        }
    }
}

impl<'ast> Visit<'ast> for CratePaths {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test_code(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        if !is_test_code(&import.attrs) {
            self.add_tree(&[], &import.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|one| one.ident.to_string());
        self.add(&segments.collect::<Vec<_>>());
        visit::visit_path(self, path);
    }
}

pub(crate) fn is_test_code(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|condition| condition == "test")
    })
}

/// Every source file below a folder, but those of tests.
pub(crate) fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name == "tests" || name == "test_request" {
            continue;
        }
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The module at the top of a crate that a file belongs to; none for the root of the crate.
fn top_module(source: &Path, file: &Path) -> Option<String> {
    let first = file.strip_prefix(source).unwrap().iter().next().unwrap();
    let name = first.to_str().unwrap().trim_end_matches(".rs");
    (!matches!(name, "lib" | "main")).then(|| name.to_owned())
}

fn read_uses(source: &Path) -> Uses {
    let files = source_files(source);
    let modules: BTreeSet<String> = files
        .iter()
        .filter_map(|file| top_module(source, file))
        .collect();
    let mut uses = Uses::new();
    for file in &files {
        let Some(module) = top_module(source, file) else {
            continue;
        };
        let parsed = syn::parse_file(&std::fs::read_to_string(file).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut paths = CratePaths::default();
        paths.visit_file(&parsed);
        for path in paths.0 {
            let used = path.split("::").nth(1).unwrap().to_owned();
            if used != module && modules.contains(&used) {
                let shown = file.strip_prefix(source).unwrap().display();
                uses.entry(module.clone())
                    .or_default()
                    .entry(used)
                    .or_insert_with(|| format!("{shown} uses {path}"));
            }
        }
    }
    uses
}

/// A way from a module back to itself, as the uses along it; none if there is none.
fn find_circle(uses: &Uses) -> Option<Vec<String>> {
    fn walk<'a>(
        uses: &'a Uses,
        module: &'a str,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<String>> {
        if let Some(start) = way.iter().position(|passed| *passed == module) {
            let circle = way[start..]
                .iter()
                .zip(way[start + 1..].iter().chain([&module]));
            return Some(circle.map(|(from, to)| uses[*from][*to].clone()).collect());
        }
        if !done.insert(module) {
            return None;
        }
        way.push(module);
        let used = uses.get(module).into_iter().flatten();
        let found = used
            .map(|(used, _)| used)
            .find_map(|used| walk(uses, used, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    uses.keys()
        .find_map(|module| walk(uses, module, &mut Vec::new(), &mut done))
}

#[test]
fn modules_form_no_circle() {
    let crates = repo_root().join("src-tauri/crates");
    let mut checked = 0;
    for folder in std::fs::read_dir(crates).unwrap() {
        let folder = folder.unwrap().path();
        let uses = read_uses(&folder.join("src"));
        if let Some(circle) = find_circle(&uses) {
            panic!("{}: {}", folder.display(), circle.join("; "));
        }
        checked += 1;
    }
    assert!(checked >= 14, "only {checked} crates were looked at");
}

/// A circle is found and named by what closes it.
#[test]
fn a_circle_is_found() {
    let uses = |pairs: &[(&str, &str)]| {
        let mut uses = Uses::new();
        for (from, to) in pairs {
            let used = uses.entry((*from).to_owned()).or_default();
            used.insert((*to).to_owned(), format!("{from} uses {to}"));
        }
        uses
    };
    let straight = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")];
    assert_eq!(find_circle(&uses(&straight)), None);
    let round = [&straight[..], &[("d", "b")]].concat();
    assert_eq!(
        find_circle(&uses(&round)).unwrap(),
        ["b uses c", "c uses d", "d uses b"]
    );
    let parsed = syn::parse_file("use crate::{a::B, c}; fn f() -> crate::d::E { crate::f::g() }");
    let mut paths = CratePaths::default();
    paths.visit_file(&parsed.unwrap());
    let expected = ["crate::a::B", "crate::c", "crate::d::E", "crate::f::g"];
    assert_eq!(paths.0.iter().collect::<Vec<_>>(), expected);
}
