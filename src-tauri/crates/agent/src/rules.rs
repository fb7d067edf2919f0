//! The rules in force for a session: built in, the person's, the project's, and those the caller named.

use std::path::Path;

use policy::{RuleSet, rules_file};
use protocol::{Fault, RuleScope};
use runtime::Workspace;

use crate::limits::CONFIG_BYTES_MAX;

/// The project's rules, relative to the workspace root.
const PROJECT_FILE: &str = ".countersign/rules.toml";

/// Loads all of them. A source that cannot be read makes every call ask, and says why.
pub fn load(data_dir: &Path, workspace: &Workspace, named: Option<&Path>) -> (RuleSet, Vec<Fault>) {
    let mut set = RuleSet::builtin();
    let mut faults = Vec::new();
    let user = data_dir.join("rules.toml");
    let sources = [
        (
            runtime::read_text(&user).map_err(Fault::from),
            user.display().to_string(),
            RuleScope::User,
        ),
        (
            project(workspace),
            PROJECT_FILE.to_owned(),
            RuleScope::Project,
        ),
        match named {
            Some(file) => (
                must_exist(file),
                file.display().to_string(),
                RuleScope::Session,
            ),
            None => (Ok(None), String::new(), RuleScope::Session),
        },
    ];
    for (text, file, scope) in sources {
        let read = match text {
            Ok(None) => continue,
            Ok(Some(text)) => rules_file::parse(&text, &file, scope),
            Err(fault) => Err(fault),
        };
        match read {
            Ok(rules) => set.extend(rules),
            Err(fault) => {
                set.broken.get_or_insert_with(|| fault.message.clone());
                faults.push(fault);
            }
        }
    }
    (set, faults)
}

fn project(workspace: &Workspace) -> Result<Option<String>, Fault> {
    let unreadable = |what: String| {
        Fault::new(
            format!("{PROJECT_FILE} cannot be read: {what}"),
            "Correct or remove it. Until then every call asks.",
        )
    };
    match workspace.read_whole(PROJECT_FILE, CONFIG_BYTES_MAX) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| unreadable("it is not UTF-8 text.".into())),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

fn must_exist(file: &Path) -> Result<Option<String>, Fault> {
    match runtime::read_text(file)? {
        Some(text) => Ok(Some(text)),
        None => Err(Fault::new(
            format!("There is no rules file {}.", file.display()),
            "Check the path.",
        )),
    }
}
