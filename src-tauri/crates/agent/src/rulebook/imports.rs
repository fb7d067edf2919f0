//! Permissions of other products, found where those products keep them.

use std::path::{Path, PathBuf};

use policy::import::{self, Whose};
use protocol::Fault;
use protocol::import::{ImportSource, Product};

use super::Place;

/// Where a product keeps what a person, or a project, permits; below the home or the project's folder.
const PLACES: &[(Product, Whose, &str)] = &[
    (Product::ClaudeCode, Whose::Person, ".claude/settings.json"),
    (Product::ClaudeCode, Whose::Project, ".claude/settings.json"),
    (
        Product::ClaudeCode,
        Whose::Project,
        ".claude/settings.local.json",
    ),
    (
        Product::Opencode,
        Whose::Person,
        ".config/opencode/opencode.json",
    ),
    (
        Product::Opencode,
        Whose::Person,
        ".config/opencode/opencode.jsonc",
    ),
    (Product::Opencode, Whose::Project, "opencode.json"),
    (Product::Opencode, Whose::Project, "opencode.jsonc"),
    (Product::Codex, Whose::Person, ".codex/rules"),
    (Product::Codex, Whose::Project, ".codex/rules"),
];

/// Every file that is there, with what could be taken from it.
pub fn found(place: &Place) -> Vec<ImportSource> {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    let workspace = place.0.as_ref().map(|one| one.root().to_owned());
    let mut all = Vec::new();
    for (product, whose, path) in PLACES {
        let under = match whose {
            Whose::Person => &home,
            Whose::Project => &workspace,
        };
        let Some(path) = under.as_ref().map(|under| under.join(path)) else {
            continue;
        };
        for file in files(*product, path) {
            all.extend(source(*product, &file, *whose));
        }
    }
    all
}

/// What could be taken from a file that is named.
pub fn of_file(product: Product, file: &Path, whose: Whose) -> ImportSource {
    source(product, file, whose).unwrap_or_else(|| ImportSource {
        product,
        file: file.display().to_string(),
        fault: Some(Fault::new(
            format!("There is no file {}.", file.display()),
            "Check the path.",
        )),
        suggestions: Vec::new(),
    })
}

/// A folder of rules stands for the files in it.
fn files(product: Product, path: PathBuf) -> Vec<PathBuf> {
    match product {
        Product::ClaudeCode | Product::Opencode => vec![path],
        Product::Codex => {
            let names = runtime::names_in(&path).unwrap_or_default().into_iter();
            let rules = names.filter(|name| name.ends_with(".rules"));
            rules.map(|name| path.join(name)).collect()
        }
    }
}

fn source(product: Product, file: &Path, whose: Whose) -> Option<ImportSource> {
    let read = match runtime::read_text(file) {
        Ok(None) => return None,
        Ok(Some(text)) => import::read(product, &text, whose),
        Err(error) => Err(error.into()),
    };
    let (suggestions, fault) = match read {
        Ok(suggestions) => (suggestions, None),
        Err(fault) => (Vec::new(), Some(fault)),
    };
    Some(ImportSource {
        product,
        file: file.display().to_string(),
        fault,
        suggestions,
    })
}
