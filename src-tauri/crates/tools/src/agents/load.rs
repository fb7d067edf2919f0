//! Loads agent manifests from every configured folder: Markdown with front matter, or TOML. The first manifest of a
//! name wins, and invalid manifests are reported.

use policy::{AgentManifest, manifest};
use protocol::UserError;
use protocol::event::AgentManifestFile;
use protocol::view::briefing::{AgentView, BriefingSource};
use runtime::{FileError, Workspace};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Agent, AgentIndex};
use crate::folder_items::{ItemFolder, ItemKind, collect_items, display_path};
use crate::front_matter::{self, NameList};
use crate::limits::{AGENT_BYTES_MAX, AGENTS_MAX};
use crate::skills::to_one_line;

/// Manifest of the agent that every session has: the same as its caller, with a context of its own.
const GENERAL_AGENT_MANIFEST: &str = "name = \"general\"\n\
    description = \"Works like you do, with your tools, in a context of its own. For work whose steps you need not see.\"\n";

/// A folder of manifests.
#[derive(Debug, Clone)]
pub struct AgentFolder {
    /// Workspace through which the folder is read.
    pub workspace: Workspace,
    /// Path of the folder in `workspace`.
    pub path: String,
    /// Owner of the manifests.
    pub source: BriefingSource,
    /// Whether the manifests are another program's, of which name, description, tools and prompt are taken.
    pub foreign: bool,
}

/// A manifest as other programs write it.
#[derive(Deserialize)]
struct ForeignManifest {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    tools: Option<NameList>,
}

impl AgentIndex {
    /// Loads the agents of these folders, in this order; a folder may be missing. Also returns an error for each
    /// manifest that is left out.
    pub fn load(shelves: &[AgentFolder]) -> (Self, Vec<UserError>) {
        let kind = ItemKind {
            one: "an agent",
            many: "agents",
            items_max: AGENTS_MAX,
        };
        let (agents, faults) = collect_items(&kind, shelves);
        let mut index = Self(agents);
        if index.views().all(|view| view.name != "general")
            && let Ok(manifest) = manifest::parse_manifest(GENERAL_AGENT_MANIFEST, "the house")
        {
            index.0.push(build_agent(
                manifest,
                GENERAL_AGENT_MANIFEST.to_owned(),
                "the house".to_owned(),
                BriefingSource::House,
            ));
        }
        (index, faults)
    }
}

impl ItemFolder for AgentFolder {
    type Item = Agent;

    fn folder(&self) -> (&Workspace, &str) {
        (&self.workspace, &self.path)
    }

    fn name_and_file(agent: &Agent) -> (&str, &str) {
        (&agent.view.name, &agent.view.file)
    }

    /// Reads the agent from the file of this name; `None` if the file is not a manifest.
    fn read_item(&self, name: &str) -> Result<Option<Agent>, UserError> {
        let markdown = match name.rsplit_once('.') {
            Some((_, "md")) => true,
            Some((_, "toml")) if !self.foreign => false,
            _ => return Ok(None),
        };
        let shown = display_path(self, name);
        let wrong = |why: &str| {
            UserError::new(
                format!("{shown}: {}.", why.trim_end_matches('.')),
                "Until it is corrected, this agent is left out.",
            )
        };
        let path = format!("{}/{name}", self.path);
        let text = match self.workspace.read_whole(&path, AGENT_BYTES_MAX) {
            Ok(Some(bytes)) => {
                String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text"))?
            }
            Ok(None) | Err(FileError::IsFolder { .. }) => return Ok(None),
            Err(error) => return Err(wrong(&error.to_string())),
        };
        let (manifest, text) = match (markdown, self.foreign) {
            (false, _) => (manifest::parse_manifest(&text, &shown)?, text),
            (true, false) => {
                let (head, prompt): (Map<String, Value>, &str) = parse_header(&text, wrong)?;
                manifest::parse_markdown_manifest(head, prompt, &shown)?
            }
            (true, true) => {
                let (head, prompt): (ForeignManifest, &str) = parse_header(&text, wrong)?;
                manifest::parse_markdown_manifest(convert_foreign(head), prompt, &shown)?
            }
        };
        if to_one_line(&manifest.description).is_empty() {
            return Err(wrong(
                "it has no description, so nobody could know when to give it work",
            ));
        }
        Ok(Some(build_agent(manifest, text, shown, self.source)))
    }
}

fn parse_header<T: serde::de::DeserializeOwned>(
    text: &str,
    wrong: impl Fn(&str) -> UserError,
) -> Result<(T, &str), UserError> {
    front_matter::parse_front_matter(text)
        .map_err(|it| wrong(&format!("line {}: {}", it.line, it.reason)))
}

fn build_agent(
    manifest: AgentManifest,
    text: String,
    file: String,
    source: BriefingSource,
) -> Agent {
    Agent {
        view: AgentView {
            name: manifest.name,
            description: to_one_line(&manifest.description),
            source,
            file: file.clone(),
            tools: manifest.tools,
            model: manifest.model.clone().unwrap_or_default(),
        },
        prompt: manifest.prompt,
        provider: manifest.provider,
        model: manifest.model,
        manifest: AgentManifestFile { file, text },
    }
}

/// Converts the manifest of another program's agent. Its model is dropped, since the name may be unknown here.
fn convert_foreign(foreign: ForeignManifest) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("name".to_owned(), foreign.name.into());
    head.insert("description".to_owned(), foreign.description.into());
    if let Some(tools) = foreign.tools {
        let names = tools.split_by(|c| c == ',');
        let names = names.iter().filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(|name| map_tool_name(name)).collect();
        head.insert("tools".to_owned(), names.into());
    }
    head
}

/// Maps a tool name of another program to the name of the tool here.
fn map_tool_name(name: &str) -> String {
    match name {
        "TodoWrite" | "TodoRead" => "todo".to_owned(),
        "WebFetch" => "web_fetch".to_owned(),
        "WebSearch" => "web_search".to_owned(),
        "MultiEdit" => "edit".to_owned(),
        "LS" => "glob".to_owned(),
        "AskUserQuestion" => "question".to_owned(),
        name => match name.strip_prefix("mcp__") {
            Some(foreign) => foreign.to_owned(),
            None => name.to_lowercase(),
        },
    }
}
