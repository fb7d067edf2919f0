//! Things that lie in several folders, each by a name of its own: the first of a name wins, and what is wrong is told.

use std::collections::HashMap;

use protocol::Fault;
use runtime::{FileError, Workspace};

use crate::limits::FOLDERS_LOOKED_MAX;

/// What is gathered, as sentences call it.
pub(crate) struct Kind {
    /// "a skill"
    pub one: &'static str,
    /// "skills"
    pub many: &'static str,
    /// How many are kept.
    pub items_max: usize,
}

/// A folder in which some may lie.
pub(crate) trait Place {
    /// What lies there.
    type Item;

    /// Where it can be read, and its path there.
    fn folder(&self) -> (&Workspace, &str);

    /// What an entry of this name is; none if it is something else.
    ///
    /// # Errors
    /// It is not as it must be.
    fn read(&self, name: &str) -> Result<Option<Self::Item>, Fault>;

    /// The name and the file of one.
    fn named(item: &Self::Item) -> (&str, &str);
}

/// A path in a folder as people read it.
pub(crate) fn shown(place: &impl Place, path: &str) -> String {
    let (from, folder) = place.folder();
    protocol::shown::name(&from.root().join(folder).join(path))
}

/// Reads all of these folders, in this order; none of them has to be there. Gives what is wrong with those that are left out.
pub(crate) fn gather<P: Place>(kind: &Kind, places: &[P]) -> (Vec<P::Item>, Vec<Fault>) {
    let Kind {
        one,
        many,
        items_max,
    } = kind;
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    let mut known: HashMap<String, String> = HashMap::new();
    for place in places {
        let (from, folder) = place.folder();
        let names = match from.names(folder, FOLDERS_LOOKED_MAX) {
            Ok(names) => names,
            // A file in its place is somebody else's.
            Err(FileError::NotAFolder { .. }) => continue,
            Err(error) => {
                faults.push(Fault::new(
                    format!("The {many} in {} cannot be read: {error}", shown(place, "")),
                    "Until they can, none of them is there.",
                ));
                continue;
            }
        };
        for entry in names {
            let item = match place.read(&entry) {
                Ok(Some(item)) => item,
                Ok(None) => continue,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            let (name, file) = P::named(&item);
            if let Some(first) = known.get(name) {
                faults.push(Fault::new(
                    format!("{file}: there is {one} `{name}` already, in {first}."),
                    "The first one is used. Rename or remove one of them.",
                ));
                continue;
            }
            if all.len() == *items_max {
                faults.push(Fault::new(
                    format!(
                        "There are more than {items_max} {many}; those from {file} on are left out."
                    ),
                    "Keep those that this work needs.",
                ));
                return (all, faults);
            }
            known.insert(name.to_owned(), file.to_owned());
            all.push(item);
        }
    }
    (all, faults)
}
