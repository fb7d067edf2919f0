//! Changes to rules files by the person: whole texts, rules added at the end, and one rule changed or removed.

use std::path::{Path, PathBuf};

use policy::rules_file::{self, RulesFileSource};
use policy::trust::text_digest;
use protocol::rule::rules_view::{NewRule, RuleLocation};
use protocol::{Digest, RuleScope, UserError};

use super::RulebookScope;
use crate::permissions::trust;

/// Replaces the text of a rules file, if the file still equals the edited version. This also trusts a project's file.
/// Returns the workspace root, for a project's file.
///
/// # Errors
/// The text is malformed, the file changed since, or it cannot be written.
pub fn save_rules(
    data_dir: &Path,
    place: &RulebookScope,
    scope: RuleScope,
    text: &str,
    base: Option<&Digest>,
) -> Result<Option<PathBuf>, UserError> {
    let _lock = lock_rules(data_dir)?;
    check_unchanged(data_dir, place, scope, base)?;
    write_rules(data_dir, place, scope, text)
}

/// Changes or removes one rule of a file that has not changed since it was read; the rest stays letter for letter.
///
/// # Errors
/// The file changed since, the rule is wrong, or the file cannot be read or written.
pub fn change_rule(
    data_dir: &Path,
    at: &RuleLocation,
    rule: Option<&NewRule>,
) -> Result<Option<PathBuf>, UserError> {
    let place = RulebookScope::from_folder(at.workspace.as_deref())?;
    let _lock = lock_rules(data_dir)?;
    let text = check_unchanged(data_dir, &place, at.scope, Some(&at.base))?;
    check_trusted(data_dir, &place, at.scope)?;
    let text = match rule {
        Some(rule) => rules_file::replace_rule(&text, at.line, rule)?,
        None => rules_file::remove_rule(&text, at.line)?,
    };
    write_rules(data_dir, &place, at.scope, &text)
}

/// Returns the text that would replace one rule of a file that has not changed since it was read.
pub(super) fn preview_block(
    data_dir: &Path,
    at: &RuleLocation,
    rule: &NewRule,
) -> Result<String, UserError> {
    let place = RulebookScope::from_folder(at.workspace.as_deref())?;
    let text = check_unchanged(data_dir, &place, at.scope, Some(&at.base))?;
    rules_file::format_replaced_rule(&text, at.line, rule)
}

/// Adds rules at the end of a rules file; the rest stays letter for letter.
///
/// # Errors
/// A rule is wrong, or the file cannot be read or written.
pub fn add_rules(
    data_dir: &Path,
    place: &RulebookScope,
    scope: RuleScope,
    rules: &[NewRule],
) -> Result<Option<PathBuf>, UserError> {
    let _lock = lock_rules(data_dir)?;
    check_trusted(data_dir, place, scope)?;
    let mut text = place.read_text(data_dir, scope)?.unwrap_or_default();
    for rule in rules {
        rules_file::parse_new_rule(rule, &RulesFileSource::new("", scope))?;
        if !text.is_empty() {
            let end = if text.ends_with('\n') { "\n" } else { "\n\n" };
            text.push_str(end);
        }
        text.push_str(&rules_file::format_rule(rule));
    }
    write_rules(data_dir, place, scope, &text)
}

/// Locks the rules files, across processes, while one is read and rewritten.
fn lock_rules(data_dir: &Path) -> Result<runtime::FileLock, UserError> {
    Ok(runtime::lock_file(&data_dir.join("rules.lock"))?)
}

/// Returns the text of a file that has not changed since it was read; empty if there was no file.
fn check_unchanged(
    data_dir: &Path,
    place: &RulebookScope,
    scope: RuleScope,
    base: Option<&Digest>,
) -> Result<String, UserError> {
    let text = place.read_text(data_dir, scope)?;
    if text.as_deref().map(text_digest).as_ref() == base {
        return Ok(text.unwrap_or_default());
    }
    Err(UserError::new(
        format!(
            "{} changed since you began to edit it.",
            place.display_path(data_dir, scope)
        ),
        "Look at it again, and put your change into what it is now.",
    ))
}

/// Checks that a project's file is trusted before one of its rules is changed: such a change does not show the rest of
/// the file, so only a trusted file stays trusted.
fn check_trusted(
    data_dir: &Path,
    place: &RulebookScope,
    scope: RuleScope,
) -> Result<(), UserError> {
    let (Some(workspace), RuleScope::Project) = (&place.0, scope) else {
        return Ok(());
    };
    let Some(text) = place.read_text(data_dir, scope)? else {
        return Ok(());
    };
    let root = workspace.root().to_string_lossy();
    match policy::trust::check_trust(&root, &text, &trust::load_trusted(data_dir)?).can_loosen() {
        true => Ok(()),
        false => Err(UserError::new(
            format!(
                "{} is not trusted as it is now.",
                place.display_path(data_dir, scope)
            ),
            "Look at it and trust it first, then change its rules.",
        )),
    }
}

fn write_rules(
    data_dir: &Path,
    place: &RulebookScope,
    scope: RuleScope,
    text: &str,
) -> Result<Option<PathBuf>, UserError> {
    let file = place.file_path(data_dir, scope)?;
    let shown = place.display_path(data_dir, scope);
    rules_file::parse_rules_file(text, &RulesFileSource::new(&shown, scope))
        .map_err(|fault| UserError::new(fault.message, "Correct it. Nothing was saved."))?;
    match (&place.0, scope) {
        (Some(workspace), RuleScope::Project) => {
            let root = workspace.root().to_owned();
            check_no_links(&root, &file)?;
            runtime::write_atomic(&file, text.as_bytes(), 0o644)?;
            trust::trust_project(data_dir, &root, &text_digest(text)).map(Some)
        }
        _ => {
            runtime::write_atomic(&file, text.as_bytes(), 0o600)?;
            Ok(None)
        }
    }
}

/// Checks that a project has no link in place of its rules file: the target of such a link is not written.
fn check_no_links(root: &Path, file: &Path) -> Result<(), UserError> {
    let folder = file.parent().unwrap_or(root);
    for path in [folder, file] {
        if runtime::is_link(path) {
            return Err(UserError::new(
                format!("{} is a link, so it is not written to.", path.display()),
                "Put a file or folder in its place.",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use protocol::RuleAction;

    use super::*;

    /// Each engine and each command has its own file handle on the lock, as each process has.
    #[test]
    fn whoever_saves_at_the_same_time_loses_nothing() {
        let home = tempfile::tempdir().unwrap();
        let place = RulebookScope::from_folder(None).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (data_dir, place) = (home.path(), &place);
                scope.spawn(move || {
                    for number in 0..10 {
                        let rule = NewRule {
                            permission: "bash".to_owned(),
                            pattern: Some(format!("prog-{thread} run-{number}")),
                            action: RuleAction::Allow,
                            ..NewRule::default()
                        };
                        add_rules(data_dir, place, RuleScope::User, &[rule]).unwrap();
                    }
                });
            }
        });
        let text = place
            .read_text(home.path(), RuleScope::User)
            .unwrap()
            .unwrap();
        let read = rules_file::parse_rules_file(&text, &RulesFileSource::new("r", RuleScope::User))
            .unwrap();
        assert_eq!(read.rules.len(), 40);
    }
}
