//! Rules files changed by the person: whole texts, rules added at the end, and one rule changed or taken out.

use std::path::{Path, PathBuf};

use policy::rules_file::{self, Source};
use policy::trust::digest;
use protocol::rules_view::{NewRule, RulePlace};
use protocol::{Digest, Fault, RuleScope};

use super::Place;
use crate::trust;

/// Puts a text in the place of a rules file, if that is still the one that was edited. A project's file is trusted by this
/// act. Gives the workspace root, for a project's.
///
/// # Errors
/// The text is malformed, the file changed since, or it cannot be written.
pub fn save(
    data_dir: &Path,
    place: &Place,
    scope: RuleScope,
    text: &str,
    base: Option<&Digest>,
) -> Result<Option<PathBuf>, Fault> {
    let _lock = lock(data_dir)?;
    unchanged(data_dir, place, scope, base)?;
    write(data_dir, place, scope, text)
}

/// Changes one rule of a file that still is as it was read, or takes it out; the rest stays as it stands, letter for letter.
///
/// # Errors
/// The file changed since, the rule is wrong, or the file cannot be read or written.
pub fn change(
    data_dir: &Path,
    at: &RulePlace,
    rule: Option<&NewRule>,
) -> Result<Option<PathBuf>, Fault> {
    let place = Place::of(at.workspace.as_deref())?;
    let _lock = lock(data_dir)?;
    let text = unchanged(data_dir, &place, at.scope, Some(&at.base))?;
    trusted_before(data_dir, &place, at.scope)?;
    let text = match rule {
        Some(rule) => rules_file::with_changed(&text, at.line, rule)?,
        None => rules_file::without(&text, at.line)?,
    };
    write(data_dir, &place, at.scope, &text)
}

/// What would stand in a file that still is as it was read in the place of one of its rules.
pub(super) fn block_with(data_dir: &Path, at: &RulePlace, rule: &NewRule) -> Result<String, Fault> {
    let place = Place::of(at.workspace.as_deref())?;
    let text = unchanged(data_dir, &place, at.scope, Some(&at.base))?;
    rules_file::block_with(&text, at.line, rule)
}

/// Adds rules at the end of a rules file; the rest stays as it stands, letter for letter.
///
/// # Errors
/// A rule is wrong, or the file cannot be read or written.
pub fn add(
    data_dir: &Path,
    place: &Place,
    scope: RuleScope,
    rules: &[NewRule],
) -> Result<Option<PathBuf>, Fault> {
    let _lock = lock(data_dir)?;
    trusted_before(data_dir, place, scope)?;
    let mut text = place.text(data_dir, scope)?.unwrap_or_default();
    for rule in rules {
        rules_file::read_new(rule, &Source::new("", scope))?;
        if !text.is_empty() {
            let end = if text.ends_with('\n') { "\n" } else { "\n\n" };
            text.push_str(end);
        }
        text.push_str(&rules_file::text_of(rule));
    }
    write(data_dir, place, scope, &text)
}

/// Whoever reads a rules file to write it anew has this meanwhile, in whichever process.
fn lock(data_dir: &Path) -> Result<runtime::Lock, Fault> {
    Ok(runtime::lock(&data_dir.join("rules.lock"))?)
}

/// The text of a file that still is the one that was read; empty if there was none.
fn unchanged(
    data_dir: &Path,
    place: &Place,
    scope: RuleScope,
    base: Option<&Digest>,
) -> Result<String, Fault> {
    let text = place.text(data_dir, scope)?;
    if text.as_deref().map(digest).as_ref() == base {
        return Ok(text.unwrap_or_default());
    }
    Err(Fault::new(
        format!(
            "{} changed since you began to edit it.",
            place.file_shown(data_dir, scope)
        ),
        "Look at it again, and put your change into what it is now.",
    ))
}

/// Who changes a rule of a project's file did not look at the rest of it: only what is trusted already stays so.
fn trusted_before(data_dir: &Path, place: &Place, scope: RuleScope) -> Result<(), Fault> {
    let (Some(workspace), RuleScope::Project) = (&place.0, scope) else {
        return Ok(());
    };
    let Some(text) = place.text(data_dir, scope)? else {
        return Ok(());
    };
    let root = workspace.root().to_string_lossy();
    match policy::trust::check(&root, &text, &trust::trusted(data_dir)?).may_loosen() {
        true => Ok(()),
        false => Err(Fault::new(
            format!(
                "{} is not trusted as it is now.",
                place.file_shown(data_dir, scope)
            ),
            "Look at it and trust it first, then change its rules.",
        )),
    }
}

fn write(
    data_dir: &Path,
    place: &Place,
    scope: RuleScope,
    text: &str,
) -> Result<Option<PathBuf>, Fault> {
    let file = place.file(data_dir, scope)?;
    let shown = place.file_shown(data_dir, scope);
    rules_file::read(text, &Source::new(&shown, scope))
        .map_err(|fault| Fault::new(fault.message, "Correct it. Nothing was saved."))?;
    match (&place.0, scope) {
        (Some(workspace), RuleScope::Project) => {
            let root = workspace.root().to_owned();
            refuse_links(&root, &file)?;
            runtime::write_atomic(&file, text.as_bytes(), 0o644)?;
            trust::accept(data_dir, &root, &digest(text)).map(Some)
        }
        _ => {
            runtime::write_atomic(&file, text.as_bytes(), 0o600)?;
            Ok(None)
        }
    }
}

/// A project may come with a link in the place of its rules: what that leads to is not written.
fn refuse_links(root: &Path, file: &Path) -> Result<(), Fault> {
    let folder = file.parent().unwrap_or(root);
    for path in [folder, file] {
        if runtime::is_link(path) {
            return Err(Fault::new(
                format!("{} is a link, so it is not written to.", path.display()),
                "Put a file or folder in its place.",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use protocol::Action;

    use super::*;

    /// Each desk and each command has its own file handle on the lock, as each process has.
    #[test]
    fn whoever_saves_at_the_same_time_loses_nothing() {
        let home = tempfile::tempdir().unwrap();
        let place = Place::of(None).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (data_dir, place) = (home.path(), &place);
                scope.spawn(move || {
                    for number in 0..10 {
                        let rule = NewRule {
                            permission: "bash".to_owned(),
                            pattern: Some(format!("prog-{thread} run-{number}")),
                            action: Action::Allow,
                            ..NewRule::default()
                        };
                        add(data_dir, place, RuleScope::User, &[rule]).unwrap();
                    }
                });
            }
        });
        let text = place.text(home.path(), RuleScope::User).unwrap().unwrap();
        let read = rules_file::read(&text, &Source::new("r", RuleScope::User)).unwrap();
        assert_eq!(read.rules.len(), 40);
    }
}
