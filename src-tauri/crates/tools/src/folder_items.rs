//! Loads named items from several folders: the first item of a name wins, and invalid items are reported.

use std::collections::HashMap;

use protocol::UserError;
use runtime::{FileError, Workspace};

use crate::limits::FOLDERS_SCANNED_MAX;

/// The kind of the items, as sentences name it.
pub(crate) struct ItemKind {
    /// "a skill"
    pub one: &'static str,
    /// "skills"
    pub many: &'static str,
    /// Most items that are kept.
    pub items_max: usize,
}

/// A folder that may contain items.
pub(crate) trait ItemFolder {
    /// The type of the items.
    type Item;

    /// Returns the workspace through which the folder is read, and its path there.
    fn folder(&self) -> (&Workspace, &str);

    /// Reads the item from the entry of this name; `None` if the entry is something else.
    ///
    /// # Errors
    /// If the item is not valid.
    fn read_item(&self, name: &str) -> Result<Option<Self::Item>, UserError>;

    /// Returns the name and the file of an item.
    fn name_and_file(item: &Self::Item) -> (&str, &str);
}

/// Formats a path in a folder for display.
pub(crate) fn display_path(place: &impl ItemFolder, path: &str) -> String {
    let (from, folder) = place.folder();
    protocol::text::display_text::name(&from.root().join(folder).join(path))
}

/// Loads the items of these folders, in this order; a folder may be missing. Also returns an error for each item that
/// is left out.
pub(crate) fn collect_items<P: ItemFolder>(
    kind: &ItemKind,
    places: &[P],
) -> (Vec<P::Item>, Vec<UserError>) {
    let ItemKind {
        one,
        many,
        items_max,
    } = kind;
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    let mut files_by_name: HashMap<String, String> = HashMap::new();
    for place in places {
        let (from, folder) = place.folder();
        let names = match from.list_names(folder, FOLDERS_SCANNED_MAX) {
            Ok(names) => names,
            // A file in its place is somebody else's.
            Err(FileError::NotAFolder { .. }) => continue,
            Err(error) => {
                faults.push(UserError::new(
                    format!(
                        "The {many} in {} cannot be read: {error}",
                        display_path(place, "")
                    ),
                    "Until they can, none of them is there.",
                ));
                continue;
            }
        };
        for entry in names {
            let item = match place.read_item(&entry) {
                Ok(Some(item)) => item,
                Ok(None) => continue,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            let (name, file) = P::name_and_file(&item);
            if let Some(first) = files_by_name.get(name) {
                faults.push(UserError::new(
                    format!("{file}: there is {one} `{name}` already, in {first}."),
                    "The first one is used. Rename or remove one of them.",
                ));
                continue;
            }
            if all.len() == *items_max {
                faults.push(UserError::new(
                    format!(
                        "There are more than {items_max} {many}; those from {file} on are left out."
                    ),
                    "Keep those that this work needs.",
                ));
                return (all, faults);
            }
            files_by_name.insert(name.to_owned(), file.to_owned());
            all.push(item);
        }
    }
    (all, faults)
}
