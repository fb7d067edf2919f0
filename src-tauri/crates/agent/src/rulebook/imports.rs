//! Permissions of other products, read from those products' own files.

use std::path::{Path, PathBuf};

use policy::import::{self, ConfigOwner};
use protocol::UserError;
use protocol::rule::import::{ImportSource, RuleImportProduct};

use super::RulebookScope;

/// Paths at which a product stores the permissions of a person or a project; below the home or the project's folder.
const IMPORT_PATHS: &[(RuleImportProduct, ConfigOwner, &str)] = &[
    (
        RuleImportProduct::ClaudeCode,
        ConfigOwner::Person,
        ".claude/settings.json",
    ),
    (
        RuleImportProduct::ClaudeCode,
        ConfigOwner::Project,
        ".claude/settings.json",
    ),
    (
        RuleImportProduct::ClaudeCode,
        ConfigOwner::Project,
        ".claude/settings.local.json",
    ),
    (
        RuleImportProduct::Opencode,
        ConfigOwner::Person,
        ".config/opencode/opencode.json",
    ),
    (
        RuleImportProduct::Opencode,
        ConfigOwner::Person,
        ".config/opencode/opencode.jsonc",
    ),
    (
        RuleImportProduct::Opencode,
        ConfigOwner::Project,
        "opencode.json",
    ),
    (
        RuleImportProduct::Opencode,
        ConfigOwner::Project,
        "opencode.jsonc",
    ),
    (
        RuleImportProduct::Codex,
        ConfigOwner::Person,
        ".codex/rules",
    ),
    (
        RuleImportProduct::Codex,
        ConfigOwner::Project,
        ".codex/rules",
    ),
];

/// Returns every existing file, with the permissions that could be imported from it.
pub fn found(place: &RulebookScope) -> Vec<ImportSource> {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    let workspace = place.0.as_ref().map(|one| one.root().to_owned());
    let mut all = Vec::new();
    for (product, whose, path) in IMPORT_PATHS {
        let under = match whose {
            ConfigOwner::Person => &home,
            ConfigOwner::Project => &workspace,
        };
        let Some(path) = under.as_ref().map(|under| under.join(path)) else {
            continue;
        };
        for file in list_files(*product, path) {
            all.extend(read_source(*product, &file, *whose));
        }
    }
    all
}

/// Returns the permissions that could be imported from a given file.
pub fn source_from_file(
    product: RuleImportProduct,
    file: &Path,
    whose: ConfigOwner,
) -> ImportSource {
    read_source(product, file, whose).unwrap_or_else(|| ImportSource {
        product,
        file: file.display().to_string(),
        fault: Some(UserError::new(
            format!("There is no file {}.", file.display()),
            "Check the path.",
        )),
        suggestions: Vec::new(),
    })
}

/// Lists the files of a path; a folder of rules stands for the files in it.
fn list_files(product: RuleImportProduct, path: PathBuf) -> Vec<PathBuf> {
    match product {
        RuleImportProduct::ClaudeCode | RuleImportProduct::Opencode => vec![path],
        RuleImportProduct::Codex => {
            let names = runtime::list_file_names(&path)
                .unwrap_or_default()
                .into_iter();
            let rules = names.filter(|name| name.ends_with(".rules"));
            rules.map(|name| path.join(name)).collect()
        }
    }
}

fn read_source(
    product: RuleImportProduct,
    file: &Path,
    whose: ConfigOwner,
) -> Option<ImportSource> {
    let read = match runtime::read_text(file) {
        Ok(None) => return None,
        Ok(Some(text)) => import::import_permissions(product, &text, whose),
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
