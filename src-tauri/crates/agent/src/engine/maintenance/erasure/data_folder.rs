//! Which folders are data folders of the app, and how they are removed.

use std::path::{Path, PathBuf};

use protocol::UserError;
use runtime::Workspace;

use crate::engine::maintenance::folder_size::DataPart;
use crate::engine::maintenance::folder_use::LOCK_FILE;
use crate::engine::maintenance::record_check::RECORD_NAME;
use crate::host::config::EngineConfig;

/// Files that a data folder has from its first use on.
const MARKS: [&str; 2] = [LOCK_FILE, RECORD_NAME];
/// Names of other things that an error lists at most.
const STRANGERS_LISTED_MAX: usize = 5;

/// Makes sure that a folder, named by its real path, is a data folder of the app, and that nothing else lies in it.
///
/// # Errors
/// Says what speaks against it.
pub(super) fn check_is_ours(folder: &Path) -> Result<(), UserError> {
    let refused = |message: String, hint: &str| Err(UserError::new(message, hint));
    let named = folder.display();
    let home = EngineConfig::home_dir().and_then(|home| Workspace::open(&home).ok());
    if home.is_some_and(|home| home.root().starts_with(folder)) {
        return refused(
            format!("{named} is no data folder: your home folder lies in it, or is it."),
            "Name the data folder after --data-dir. Nothing was erased.",
        );
    }
    let names = runtime::list_all_names(folder)?.unwrap_or_default();
    let strangers: Vec<_> = names
        .iter()
        .filter(|name| DataPart::of_path(Path::new(name)) == DataPart::Other)
        .map(|name| name.to_string_lossy())
        .collect();
    if !MARKS
        .iter()
        .any(|mark| names.iter().any(|name| name == mark))
    {
        return refused(
            format!("{named} does not look like a data folder of Countersign: it has no record."),
            "Check the path after --data-dir. Nothing was erased.",
        );
    }
    if !strangers.is_empty() {
        let more = match strangers.len() > STRANGERS_LISTED_MAX {
            true => ", …",
            false => "",
        };
        let listed = &strangers[..strangers.len().min(STRANGERS_LISTED_MAX)];
        return refused(
            format!(
                "In {named} lies something that Countersign did not put there: {}{more}.",
                listed.join(", ")
            ),
            "Move it elsewhere, then try again. Nothing was erased.",
        );
    }
    Ok(())
}

/// Returns the data folders that `data restore` replaced, and kept beside this one.
///
/// # Errors
/// The folder that they are in cannot be read.
pub(super) fn find_replaced(data_dir: &Path) -> Result<Vec<PathBuf>, UserError> {
    let (Some(above), Some(name)) = (data_dir.parent(), data_dir.file_name()) else {
        return Ok(Vec::new());
    };
    let prefix = format!("{}.replaced", name.to_string_lossy());
    let names = runtime::list_all_names(above)?.unwrap_or_default();
    let replaced = names.iter().filter(|name| {
        let number = name.to_str().and_then(|name| name.strip_prefix(&prefix));
        number.is_some_and(|number| {
            number.is_empty()
                || number
                    .strip_prefix('-')
                    .is_some_and(|digits| digits.parse::<u32>().is_ok())
        })
    });
    let replaced = replaced.map(|name| above.join(name));
    Ok(replaced
        .filter(|folder| !runtime::is_link(folder) && check_is_ours(folder).is_ok())
        .collect())
}

/// Removes a file or a folder of the app. Returns what is left: where links in it led, and why something could not be
/// removed.
pub(super) fn remove_with_links(path: &Path) -> Vec<UserError> {
    let below = match runtime::is_link(path) {
        true => Vec::new(),
        false => list_below(path),
    };
    let links = std::iter::once(path.to_owned()).chain(below);
    let targets: Vec<PathBuf> = links
        .filter_map(|link| Some(link.parent()?.join(runtime::read_link_target(&link)?)))
        .collect();
    if let Err(error) = runtime::remove_tree(path) {
        return vec![
            UserError::new(
                format!("{} was not removed, or not whole.", path.display()),
                "Make sure that it may be removed, and try again.",
            )
            .with_source(&error),
        ];
    }
    let left = targets.into_iter().map(|target| {
        UserError::new(
            format!(
                "{} was not removed: a link in {} led there.",
                target.display(),
                path.display()
            ),
            "Remove it yourself if nothing else needs it.",
        )
    });
    left.collect()
}

/// Lists the paths in a folder; none if it is a file.
fn list_below(folder: &Path) -> Vec<PathBuf> {
    let names = runtime::list_all_names(folder).ok().flatten();
    let names = names.unwrap_or_default().into_iter();
    names.map(|name| folder.join(name)).collect()
}
