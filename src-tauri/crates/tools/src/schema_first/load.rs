//! The schema-first tools of a workspace and of its person: definitions, activities and delegates, each from a folder of
//! its own, so that each can be replaced without the others (`S004-23`, `S004-45`).

use std::sync::Arc;

use protocol::interface::Origin;
use protocol::{Digest, Fault};
use runtime::{FileError, Workspace};
use serde_json::{Map, Value};

use super::activity::{Activity, Explicit, quoted};
use super::definition::Definition;
use super::delegated::Delegated;
use super::file::{definitions, fault};
use super::latent::Latent;
use super::request::{self, Request};
use super::strict_json::Wrong;
use crate::limits::{DEFINITIONS_BYTES_MAX, FILES_PER_FOLDER_MAX};
use crate::registry::Registry;
use crate::tool::Tool;

const TOOLS: &str = "tools";
const ACTIVITIES: &str = "activities";
const DELEGATES: &str = "delegates";

/// Adds the tools of a workspace (`.countersign/tools/*.json`) and of its person (`tools/*.json` in the data folder) to
/// those that are there, and says what is wrong with file, line and reason; everything else is added.
///
/// A tool is bound to the activity that `_activity` names, or else to the one of its own name, or to the delegate that
/// `_delegate` names; what is bound to neither is latent (`S004-25`). A person's file comes before the workspace's.
pub fn load(registry: &mut Registry, workspace: &Workspace, person: &Workspace) -> Vec<Fault> {
    let mut faults = Vec::new();
    let homes = homes(workspace, person);
    let activities = Files::of(&homes, ACTIVITIES, &mut faults);
    let delegates = Files::of(&homes, DELEGATES, &mut faults);
    let tools = Files::of(&homes, TOOLS, &mut faults);
    for (home, name) in &tools.0 {
        let Some(stem) = name.strip_suffix(".json") else {
            continue;
        };
        let file = format!("{}{TOOLS}/{name}", home.named);
        let text = match home.text(&format!("{TOOLS}/{name}")) {
            Ok(text) => text,
            Err(why) => {
                faults.push(Fault::new(format!("{file}: {why}"), ""));
                continue;
            }
        };
        let read = definitions(&file, stem, &text);
        faults.extend(read.faults);
        for (line, definition) in read.tools {
            let tool = bind(&definition, &file, &activities, &delegates, &mut faults);
            if let Err(refused) = registry.register(tool) {
                faults.push(fault(&file, line, refused.message.trim_end_matches('.')));
            }
        }
    }
    faults
}

/// Adds the tools that a request brings (`S004-43`).
///
/// # Errors
/// The first one that cannot be used, or whose name another tool has.
pub fn add(registry: &mut Registry, tools: &Map<String, Value>) -> Result<(), Fault> {
    for (name, schema) in tools {
        let definition = request::definition(name, schema)?;
        let origin = Origin::File {
            path: "the request".to_owned(),
        };
        registry.register(Arc::new(Latent::new(&definition, origin)))?;
    }
    Ok(())
}

/// A digest of all that [`load`] goes by, to notice that nothing of it changed since. What cannot be read counts with the
/// reason.
pub fn digest(workspace: &Workspace, person: &Workspace) -> Digest {
    let mut faults = Vec::new();
    let homes = homes(workspace, person);
    let mut texts = Vec::new();
    for kind in [TOOLS, DELEGATES] {
        for (home, name) in Files::of(&homes, kind, &mut faults).0 {
            let text = home.text(&format!("{kind}/{name}"));
            texts.push((home.prefix, kind, name, text));
        }
    }
    // What a program does is its own matter; that it is there is not.
    let programs = Files::of(&homes, ACTIVITIES, &mut faults);
    let programs = programs.0.iter().map(|(home, name)| (home.prefix, name));
    Digest::of_json(&(texts, programs.collect::<Vec<_>>(), faults))
}

/// The two places, the person's first.
fn homes<'a>(workspace: &'a Workspace, person: &'a Workspace) -> [Home<'a>; 2] {
    [
        Home {
            folder: person,
            prefix: "",
            named: format!("{}/", person.root().display()),
        },
        Home {
            folder: workspace,
            prefix: ".countersign/",
            named: ".countersign/".to_owned(),
        },
    ]
}

/// One of the two places.
struct Home<'a> {
    folder: &'a Workspace,
    /// Before every path below the folder.
    prefix: &'static str,
    /// The same as people read it.
    named: String,
}

impl Home<'_> {
    fn text(&self, path: &str) -> Result<String, String> {
        let path = format!("{}{path}", self.prefix);
        match self.folder.read_whole(&path, DEFINITIONS_BYTES_MAX) {
            Ok(Some(bytes)) => {
                String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text.".to_owned())
            }
            Ok(None) => Err("it is not there any more.".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The files of one kind, the person's first.
struct Files<'a>(Vec<(&'a Home<'a>, String)>);

impl<'a> Files<'a> {
    fn of(homes: &'a [Home<'a>], kind: &str, faults: &mut Vec<Fault>) -> Self {
        let mut all = Vec::new();
        for home in homes {
            let folder = format!("{}{kind}", home.prefix);
            match home.folder.names(&folder, FILES_PER_FOLDER_MAX) {
                Ok(names) => all.extend(names.into_iter().map(|name| (home, name))),
                // A file in the place of the folder is somebody else's, and there are no tools in it.
                Err(FileError::NotAFolder { .. }) => {}
                Err(error) => faults.push(Fault::new(
                    format!("The folder {}{kind} cannot be read: {error}", home.named),
                    "Until it can, nothing in it is there.",
                )),
            }
        }
        Self(all)
    }

    /// The file of this name, or the one whose name is this but for its ending. The person's comes first.
    fn find(&self, name: &str) -> Option<(&'a Home<'a>, &str)> {
        let stem = |file: &str| file.rsplit_once('.').map(|(stem, _)| stem == name) == Some(true);
        let exact = self.0.iter().find(|(_, file)| file == name);
        exact
            .or_else(|| self.0.iter().find(|(_, file)| stem(file)))
            .map(|(home, file)| (*home, file.as_str()))
    }
}

fn bind(
    definition: &Definition,
    file: &str,
    activities: &Files<'_>,
    delegates: &Files<'_>,
    faults: &mut Vec<Fault>,
) -> Arc<dyn Tool> {
    let origin = Origin::File {
        path: file.to_owned(),
    };
    if let Some(name) = &definition.delegate {
        let request = delegate(name, delegates, faults);
        return Arc::new(Delegated::new(definition, request, origin));
    }
    match definition.activity.as_deref() {
        Some("") => Arc::new(Latent::new(definition, origin)),
        Some(name) => {
            let found = activities.find(name).map(activity).ok_or_else(|| {
                format!(
                    "There is no program `{name}` in .countersign/{ACTIVITIES} or in the person's {ACTIVITIES} folder. \
                     Only a person can put it there."
                )
            });
            Arc::new(Explicit::new(definition, found, origin))
        }
        None => match activities.find(&definition.name).map(activity) {
            Some(found) => Arc::new(Explicit::new(definition, Ok(found), origin)),
            None => Arc::new(Latent::new(definition, origin)),
        },
    }
}

fn activity((home, name): (&Home<'_>, &str)) -> Activity {
    Activity {
        home: home.folder.clone(),
        file: format!("{}{ACTIVITIES}/{name}", home.prefix),
        word: quoted(&format!("{}{ACTIVITIES}/{name}", home.named)),
    }
}

/// A saved request by its name. The sentence that says why there is none is for the model; a file with an error is also
/// told to the person.
fn delegate(name: &str, delegates: &Files<'_>, faults: &mut Vec<Fault>) -> Result<Request, String> {
    let Some((home, file)) = delegates.find(name) else {
        return Err(format!(
            "There is no request `{name}` in .countersign/{DELEGATES} or in the person's {DELEGATES} folder. Only a \
             person can put it there."
        ));
    };
    let named = format!("{}{DELEGATES}/{file}", home.named);
    let read = match home.text(&format!("{DELEGATES}/{file}")) {
        Ok(text) => Request::read(&text),
        Err(reason) => Err(Wrong { line: 1, reason }),
    };
    read.map_err(|Wrong { line, reason }| {
        let wrong = fault(&named, line, reason.trim_end_matches('.'));
        let told = wrong.message.clone();
        if !faults.contains(&wrong) {
            faults.push(wrong);
        }
        told
    })
}
