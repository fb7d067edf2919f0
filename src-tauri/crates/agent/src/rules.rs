//! The rules in force for a session: built in, the person's, the project's, and those the caller named.

use std::path::Path;

use policy::RuleSet;
use policy::rules_file::{self, Source};
use policy::trust::{self, Trusted};
use protocol::{Fault, RuleScope};
use runtime::Workspace;

use crate::limits::CONFIG_BYTES_MAX;

/// The project's rules, relative to the workspace root.
const PROJECT_FILE: &str = ".countersign/rules.toml";

/// Texts of project files that the person trusted.
const TRUSTED_FILE: &str = "trusted.json";

/// Loads all of them. A source that cannot be read makes every call ask, and says why.
pub fn load(data_dir: &Path, workspace: &Workspace, named: Option<&Path>) -> (RuleSet, Vec<Fault>) {
    let root = workspace.root().to_string_lossy();
    let mut set = RuleSet::builtin().with_root(root.clone());
    // Where the workspace holds the data folder itself, nothing there is an agent's business.
    if let Some(inside) = within(data_dir, workspace.root()) {
        set = set.protecting(&inside);
    }
    let mut faults = Vec::new();
    let trusted = trusted(data_dir).unwrap_or_else(|fault| {
        faults.push(fault);
        Vec::new()
    });
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
            Ok(Some(text)) => {
                let mut source = Source::new(&file, scope);
                source.trusted |= trust::check(&root, &text, &trusted).may_loosen();
                rules_file::read(&text, &source)
            }
            Err(fault) => Err(fault),
        };
        match read {
            Ok(rules) => set.add(rules),
            Err(fault) => {
                set.broken.get_or_insert_with(|| fault.message.clone());
                faults.push(fault);
            }
        }
    }
    (set, faults)
}

/// The texts of project files that the person trusted. They are kept with the person's own things, where no project reaches.
fn trusted(data_dir: &Path) -> Result<Vec<Trusted>, Fault> {
    let file = data_dir.join(TRUSTED_FILE);
    let Some(text) = runtime::read_text(&file)? else {
        return Ok(Vec::new());
    };
    serde_json::from_str(&text).map_err(|error| {
        Fault::new(
            format!("{} cannot be read: {error}.", file.display()),
            "Remove it. Until then no project's rules may loosen anything.",
        )
    })
}

/// The way from a folder to another one in it; none if it is not in it.
fn within(inner: &Path, outer: &Path) -> Option<String> {
    let real = Workspace::open(inner).ok()?;
    let way = real.root().strip_prefix(outer).ok()?;
    Some(way.to_string_lossy().replace('\\', "/"))
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
