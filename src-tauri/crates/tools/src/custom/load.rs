//! Loads the schema-first tools of a workspace and of the person: definitions, activities and delegates, each from a
//! folder of its own, so that each can be replaced without the others (`S004-23`, `S004-45`).

use std::sync::Arc;

use protocol::interface::ToolOrigin;
use protocol::{Digest, UserError};
use runtime::{FileError, Workspace};
use serde_json::{Map, Value};

use super::activity::{Activity, ActivityTool, quote_shell_word};
use super::definition::CustomToolDefinition;
use super::definition_file::{definition_fault, parse_definitions};
use super::delegate::DelegateTool;
use super::latent::LatentTool;
use super::request::{self, StructuredRequest};
use super::strict_json::JsonError;
use crate::limits::{DEFINITIONS_BYTES_MAX, FILES_PER_FOLDER_MAX};
use crate::registry::Registry;
use crate::tool::Tool;

const TOOLS_FOLDER: &str = "tools";
const ACTIVITIES_FOLDER: &str = "activities";
const DELEGATES_FOLDER: &str = "delegates";

/// Adds the tools of a workspace (`.countersign/tools/*.json`) and of the person (`tools/*.json` in the data folder) to
/// the registry. Errors are reported with file, line and reason; everything else is added.
///
/// A tool is bound to the activity that `_activity` names, or else to the activity of the tool's own name, or to the
/// delegate that `_delegate` names; a tool that is bound to neither is latent (`S004-25`). A person's file takes
/// precedence over the workspace's.
pub fn load_custom_tools(
    registry: &mut Registry,
    workspace: &Workspace,
    person: &Workspace,
) -> Vec<UserError> {
    let mut faults = Vec::new();
    let homes = tool_homes(workspace, person);
    let activities = HomeFiles::list(&homes, ACTIVITIES_FOLDER, &mut faults);
    let delegates = HomeFiles::list(&homes, DELEGATES_FOLDER, &mut faults);
    let tools = HomeFiles::list(&homes, TOOLS_FOLDER, &mut faults);
    for (home, name) in &tools.0 {
        let Some(stem) = name.strip_suffix(".json") else {
            continue;
        };
        let file = format!("{}{TOOLS_FOLDER}/{name}", home.display_name);
        let text = match home.load_source_text(&format!("{TOOLS_FOLDER}/{name}")) {
            Ok(text) => text,
            Err(why) => {
                faults.push(UserError::new(format!("{file}: {why}"), ""));
                continue;
            }
        };
        let read = parse_definitions(&file, stem, &text);
        faults.extend(read.faults);
        for (line, definition) in read.tools {
            let tool = bind_tool(&definition, &file, &activities, &delegates, &mut faults);
            if let Err(refused) = registry.register(tool) {
                faults.push(definition_fault(
                    &file,
                    line,
                    refused.message.trim_end_matches('.'),
                ));
            }
        }
    }
    faults
}

/// Adds the tools that a request defines (`S004-43`).
///
/// # Errors
/// The first tool that cannot be used, or whose name another tool has.
pub fn add_request_tools(
    registry: &mut Registry,
    tools: &Map<String, Value>,
) -> Result<(), UserError> {
    for (name, schema) in tools {
        let definition = request::parse_definition(name, schema)?;
        let origin = ToolOrigin::File {
            path: "the request".to_owned(),
        };
        registry.register(Arc::new(LatentTool::new(&definition, origin)))?;
    }
    Ok(())
}

/// Returns a digest of all files that [`load_custom_tools`] reads, to detect changes. A file that cannot be read counts
/// with the reason.
pub fn digest_sources(workspace: &Workspace, person: &Workspace) -> Digest {
    let mut faults = Vec::new();
    let homes = tool_homes(workspace, person);
    let mut texts = Vec::new();
    for kind in [TOOLS_FOLDER, DELEGATES_FOLDER] {
        for (home, name) in HomeFiles::list(&homes, kind, &mut faults).0 {
            let text = home.load_source_text(&format!("{kind}/{name}"));
            texts.push((home.prefix, kind, name, text));
        }
    }
    // The digest covers which programs there are, not what they do.
    let programs = HomeFiles::list(&homes, ACTIVITIES_FOLDER, &mut faults);
    let programs = programs.0.iter().map(|(home, name)| (home.prefix, name));
    Digest::from_json(&(texts, programs.collect::<Vec<_>>(), faults))
}

/// Returns the two places, the person's first.
fn tool_homes<'a>(workspace: &'a Workspace, person: &'a Workspace) -> [ToolHome<'a>; 2] {
    [
        ToolHome {
            folder: person,
            prefix: "",
            display_name: format!("{}/", person.root().display()),
        },
        ToolHome {
            folder: workspace,
            prefix: ".countersign/",
            display_name: ".countersign/".to_owned(),
        },
    ]
}

/// One of the two places that tools are loaded from.
struct ToolHome<'a> {
    folder: &'a Workspace,
    /// Prefix of every path below the folder.
    prefix: &'static str,
    /// The prefix as it is shown to people.
    display_name: String,
}

impl ToolHome<'_> {
    fn load_source_text(&self, path: &str) -> Result<String, String> {
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

/// Files of one kind from both places, the person's first.
struct HomeFiles<'a>(Vec<(&'a ToolHome<'a>, String)>);

impl<'a> HomeFiles<'a> {
    fn list(homes: &'a [ToolHome<'a>], kind: &str, faults: &mut Vec<UserError>) -> Self {
        let mut all = Vec::new();
        for home in homes {
            let folder = format!("{}{kind}", home.prefix);
            match home.folder.list_names(&folder, FILES_PER_FOLDER_MAX) {
                Ok(names) => all.extend(names.into_iter().map(|name| (home, name))),
                // A file in the place of the folder is somebody else's, and there are no tools in it.
                Err(FileError::NotAFolder { .. }) => {}
                Err(error) => faults.push(UserError::new(
                    format!(
                        "The folder {}{kind} cannot be read: {error}",
                        home.display_name
                    ),
                    "Until it can, nothing in it is there.",
                )),
            }
        }
        Self(all)
    }

    /// Finds the file of this name, or the one whose name without its extension is this. The person's file comes first.
    fn find_file(&self, name: &str) -> Option<(&'a ToolHome<'a>, &str)> {
        let stem = |file: &str| file.rsplit_once('.').map(|(stem, _)| stem == name) == Some(true);
        let exact = self.0.iter().find(|(_, file)| file == name);
        exact
            .or_else(|| self.0.iter().find(|(_, file)| stem(file)))
            .map(|(home, file)| (*home, file.as_str()))
    }

    /// Finds the activity of this name, where the files are activities.
    fn find_activity(&self, name: &str) -> Option<Activity> {
        let (home, file) = self.find_file(name)?;
        Some(build_activity(home, file))
    }
}

fn bind_tool(
    definition: &CustomToolDefinition,
    file: &str,
    activities: &HomeFiles<'_>,
    delegates: &HomeFiles<'_>,
    faults: &mut Vec<UserError>,
) -> Arc<dyn Tool> {
    let origin = ToolOrigin::File {
        path: file.to_owned(),
    };
    if let Some(name) = &definition.delegate {
        let request = load_delegate(name, delegates, faults);
        return Arc::new(DelegateTool::new(definition, request, origin));
    }
    match definition.activity.as_deref() {
        Some("") => Arc::new(LatentTool::new(definition, origin)),
        Some(name) => {
            let activity = activities.find_activity(name).ok_or_else(|| {
                format!(
                    "There is no program `{name}` in .countersign/{ACTIVITIES_FOLDER} or in the person's {ACTIVITIES_FOLDER} folder. \
                     Only a person can put it there."
                )
            });
            Arc::new(ActivityTool::new(definition, activity, origin))
        }
        None => match activities.find_activity(&definition.name) {
            Some(activity) => Arc::new(ActivityTool::new(definition, Ok(activity), origin)),
            None => Arc::new(LatentTool::new(definition, origin)),
        },
    }
}

fn build_activity(home: &ToolHome<'_>, name: &str) -> Activity {
    Activity {
        home: home.folder.clone(),
        file: format!("{}{ACTIVITIES_FOLDER}/{name}", home.prefix),
        shell_word: quote_shell_word(&format!("{}{ACTIVITIES_FOLDER}/{name}", home.display_name)),
    }
}

/// Loads a saved request by name. The sentence that says why there is none is for the model; an error in a file is also
/// reported to the person.
fn load_delegate(
    name: &str,
    delegates: &HomeFiles<'_>,
    faults: &mut Vec<UserError>,
) -> Result<StructuredRequest, String> {
    let Some((home, file)) = delegates.find_file(name) else {
        return Err(format!(
            "There is no request `{name}` in .countersign/{DELEGATES_FOLDER} or in the person's {DELEGATES_FOLDER} folder. Only a \
             person can put it there."
        ));
    };
    let path = format!("{}{DELEGATES_FOLDER}/{file}", home.display_name);
    let request = match home.load_source_text(&format!("{DELEGATES_FOLDER}/{file}")) {
        Ok(text) => StructuredRequest::parse_text(&text),
        Err(reason) => Err(JsonError { line: 1, reason }),
    };
    request.map_err(|JsonError { line, reason }| {
        let fault = definition_fault(&path, line, reason.trim_end_matches('.'));
        let message = fault.message.clone();
        if !faults.contains(&fault) {
            faults.push(fault);
        }
        message
    })
}
