//! The coverage of an undo, shown before it: what is restored, what is removed, and which effects no copy of files can
//! revert.

use std::path::Path;

use protocol::event::{CallChange, EventBody};
use protocol::history::{IrreversibleEffect, RestoreCoverage, RestorePreview};
use protocol::{Notice, NoticeLevel, UndoDirection, UndoEntry, UserError};

use crate::session::engine_state::EngineState;

/// Adds the effects of the calls beyond files, and the summary sentence.
pub(crate) fn add_coverage(
    engine: &EngineState,
    preview: &mut RestorePreview,
) -> Result<(), UserError> {
    if preview.direction == UndoDirection::Undo {
        for entry in &preview.entries {
            preview.coverage.cannot.extend(find_losses(engine, entry)?);
        }
    }
    preview.coverage.text = describe_coverage(&preview.coverage);
    Ok(())
}

/// Returns the effects of a call that an undo cannot revert, as far as the facts of its last verdict tell.
fn find_losses(
    engine: &EngineState,
    entry: &UndoEntry,
) -> Result<Vec<IrreversibleEffect>, UserError> {
    if entry.action.is_some() {
        return Ok(Vec::new());
    }
    let events = engine.record.call_events(&entry.session, &entry.call, 0)?;
    let evidence = events.into_iter().rev().find_map(|event| match event.body {
        EventBody::Call {
            change: CallChange::Judged { evidence, .. },
            ..
        } => evidence,
        _ => None,
    });
    let lasting =
        evidence.map(|evidence| policy::irreversible::list_irreversible_actions(&evidence));
    let lost = lasting
        .into_iter()
        .flatten()
        .map(|lasting| IrreversibleEffect {
            entry: entry.id.clone(),
            what: lasting.what,
            reason: lasting.reason.to_owned(),
        });
    Ok(lost.collect())
}

fn describe_coverage(coverage: &RestoreCoverage) -> String {
    let paths = |count: u64| match count {
        1 => "1 path".to_owned(),
        many => format!("{many} paths"),
    };
    let mut parts = Vec::new();
    if coverage.restores > 0 {
        parts.push(format!("restores {}", paths(coverage.restores)));
    }
    if coverage.removes > 0 {
        parts.push(format!("removes {}", paths(coverage.removes)));
    }
    let mut text = match parts.is_empty() {
        true => "changes no path".to_owned(),
        false => parts.join(" and "),
    };
    if !coverage.cannot.is_empty() {
        let mut names: Vec<&str> = coverage.cannot.iter().map(|lost| &*lost.what).collect();
        names.dedup();
        text.push_str(&format!("; cannot undo: {}", names.join(", ")));
    }
    let mut sentence: String = text[..1].to_uppercase();
    sentence.push_str(&text[1..]);
    sentence.push('.');
    sentence
}

/// Returns a warning if the workspace is the home folder, or contains it.
pub(crate) fn home_folder_warning(root: &Path) -> Option<String> {
    let home = directories::BaseDirs::new()?;
    warn_about_home(root, home.home_dir())
}

/// Returns the home folder warning as a notice in a session.
pub(crate) fn home_folder_notice(root: &Path) -> Option<Notice> {
    Some(Notice {
        level: NoticeLevel::Warning,
        fault: UserError::new(
            home_folder_warning(root)?,
            "Choose the folder of one project, if you can.",
        ),
    })
}

fn warn_about_home(root: &Path, home: &Path) -> Option<String> {
    let which = match (root == home, home.starts_with(root)) {
        (true, _) => "is your home folder",
        (false, true) => "holds your home folder",
        (false, false) => return None,
    };
    Some(format!(
        "The workspace {which}: agents can reach everything in it, and copies for undo may grow large."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_is_told_in_one_sentence() {
        let lost = |what: &str| IrreversibleEffect {
            entry: "und_1".into(),
            what: what.into(),
            reason: String::new(),
        };
        let tables = [
            (0, 0, vec![], "Changes no path."),
            (1, 0, vec![], "Restores 1 path."),
            (0, 2, vec![], "Removes 2 paths."),
            (
                3,
                1,
                vec![lost("git push"), lost("/etc/hosts")],
                "Restores 3 paths and removes 1 path; cannot undo: git push, /etc/hosts.",
            ),
        ];
        for (restores, removes, cannot, expected) in tables {
            let coverage = RestoreCoverage {
                restores,
                removes,
                cannot,
                ..RestoreCoverage::default()
            };
            assert_eq!(describe_coverage(&coverage), expected);
        }
    }

    #[test]
    fn the_home_folder_is_warned_of() {
        let home = Path::new("/home/mira");
        let tables = [
            ("/home/mira", Some("is your home folder")),
            ("/home", Some("holds your home folder")),
            ("/", Some("holds your home folder")),
            ("/home/mira/code", None),
            ("/home/mir", None),
        ];
        for (root, expected) in tables {
            let said = warn_about_home(Path::new(root), home);
            match expected {
                None => assert_eq!(said, None, "{root}"),
                Some(words) => assert!(said.unwrap().contains(words), "{root}"),
            }
        }
    }
}
