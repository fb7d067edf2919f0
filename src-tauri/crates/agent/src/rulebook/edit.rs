//! Rules files changed by the person: whole texts, and rules added at the end.

use std::path::{Path, PathBuf};

use policy::rules_file::{self, Source};
use policy::trust::digest;
use protocol::rules_view::NewRule;
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
    let file = place.file(data_dir, scope)?;
    let shown = place.file_shown(data_dir, scope);
    let now = place.text(data_dir, scope)?.map(|text| digest(&text));
    if now.as_ref() != base {
        return Err(Fault::new(
            format!("{shown} changed since you began to edit it."),
            "Look at it again, and put your change into what it is now.",
        ));
    }
    write(data_dir, place, scope, &file, &shown, text)
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
    let file = place.file(data_dir, scope)?;
    let shown = place.file_shown(data_dir, scope);
    let mut text = place.text(data_dir, scope)?.unwrap_or_default();
    for rule in rules {
        rules_file::read_new(rule, &Source::new("", scope))?;
        if !text.is_empty() {
            let end = if text.ends_with('\n') { "\n" } else { "\n\n" };
            text.push_str(end);
        }
        text.push_str(&rules_file::text_of(rule));
    }
    // Who adds rules to a project's file did not look at the rest of it: only what is trusted already stays so.
    let was_trusted = match (&place.0, scope) {
        (Some(workspace), RuleScope::Project) => {
            let root = workspace.root().to_string_lossy();
            let known = trust::trusted(data_dir)?;
            let before = place.text(data_dir, scope)?;
            before.is_none_or(|text| policy::trust::check(&root, &text, &known).may_loosen())
        }
        _ => true,
    };
    if was_trusted {
        return write(data_dir, place, scope, &file, &shown, &text);
    }
    Err(Fault::new(
        format!("{shown} is not trusted as it is now."),
        "Look at it and trust it first, then add rules to it.",
    ))
}

fn write(
    data_dir: &Path,
    place: &Place,
    scope: RuleScope,
    file: &Path,
    shown: &str,
    text: &str,
) -> Result<Option<PathBuf>, Fault> {
    rules_file::read(text, &Source::new(shown, scope))
        .map_err(|fault| Fault::new(fault.message, "Correct it. Nothing was saved."))?;
    match (&place.0, scope) {
        (Some(workspace), RuleScope::Project) => {
            let root = workspace.root().to_owned();
            refuse_links(&root, file)?;
            runtime::write_atomic(file, text.as_bytes(), 0o644)?;
            trust::accept(data_dir, &root, &digest(text)).map(Some)
        }
        _ => {
            runtime::private_folder(data_dir)?;
            runtime::write_atomic(file, text.as_bytes(), 0o600)?;
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
