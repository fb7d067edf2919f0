//! A tool call of an agent as its messages tell of it, and the calls of ours that it is judged as.

use std::path::Path;

use agent::{AgentToolReach, DelegatedCall, DelegatedTool};
use agent_client_protocol::v1::schema::{
    ContentBlock, Diff, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use serde_json::{Map, Value, json};

use crate::agent_calls::{AgentCall, ExternalAgent, to_delegated_calls};
use crate::limits::RESULT_CHARS_MAX;

/// Text for the record of a call of whose result the agent said nothing.
const NO_RESULT_TEXT: &str = "(The agent did not say what came of it.)";

/// What is known of a tool call so far.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolUse {
    pub fields: ToolCallUpdateFields,
}

impl ToolUse {
    /// Takes over what a message says of the call; what it does not mention stays.
    pub fn apply_update(&mut self, update: &ToolCallUpdate) {
        let ToolCallUpdateFields {
            kind,
            status,
            title,
            name,
            content,
            locations: _,
            raw_input,
            raw_output,
            ..
        } = update.fields.clone();
        let claude_name = || {
            let meta = update.meta.as_ref()?.get("claudeCode")?;
            meta.get("toolName")?.as_str().map(str::to_owned)
        };
        let known = &mut self.fields;
        known.kind = kind.or(known.kind);
        known.status = status.or(known.status);
        known.title = title.or(known.title.take());
        known.name = name.or_else(claude_name).or(known.name.take());
        known.content = content.or(known.content.take());
        known.raw_input = raw_input.or(known.raw_input.take());
        known.raw_output = raw_output.or(known.raw_output.take());
    }

    /// Takes over the message that begins a call. An agent that does not name its tools begins with the name as the title.
    pub fn apply_call(&mut self, call: &ToolCall) {
        let first_name = self.fields.title.is_none().then(|| call.title.clone());
        let fields = ToolCallUpdateFields::new()
            .kind(call.kind)
            .status(call.status)
            .title(call.title.clone())
            .name(call.name.clone().or(first_name))
            .content((!call.content.is_empty()).then(|| call.content.clone()))
            .raw_input(call.raw_input.clone())
            .raw_output(call.raw_output.clone());
        let update = ToolCallUpdate::new(call.tool_call_id.clone(), fields).meta(call.meta.clone());
        self.apply_update(&update);
    }

    /// Returns whether the call succeeded, once it is over.
    pub fn success(&self) -> Option<bool> {
        match self.fields.status? {
            ToolCallStatus::Completed => Some(true),
            ToolCallStatus::Failed => Some(false),
            _ => None,
        }
    }

    /// Whether such a call only looks at something, as the agent says, or is the agent's own matter.
    pub fn is_quiet(&self, place: &AgentPlace<'_>) -> bool {
        let quiet = [ToolKind::Read, ToolKind::Search, ToolKind::Think];
        let is_own_matter = |call: &DelegatedCall| match &call.tool {
            DelegatedTool::Foreign { reach, .. } => *reach == AgentToolReach::Agent,
            DelegatedTool::Own(_) => false,
        };
        let known = place.agent.and_then(|agent| self.translate(agent, place));
        self.fields.kind.is_some_and(|kind| quiet.contains(&kind))
            || known.is_some_and(|calls| calls.iter().all(is_own_matter))
    }

    /// Returns the title, as the agent gives it.
    pub fn title(&self) -> &str {
        let title = self.fields.title.as_deref();
        title.or(self.fields.name.as_deref()).unwrap_or("a tool")
    }

    /// Returns the name of the tool, if it may be one of a server: agents say that of none of their own that run or change
    /// something.
    pub fn server_tool(&self) -> Option<&str> {
        let kind = self.fields.kind.unwrap_or_default();
        let name = self.fields.name.as_deref();
        name.filter(|_| kind == ToolKind::Other)
    }

    /// Returns the text of the result.
    pub fn result_text(&self) -> String {
        let output = self.fields.raw_output.as_ref();
        let text = match output {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Object(members)) => {
                let text = members.get("output").and_then(Value::as_str);
                text.map(str::to_owned)
            }
            Some(_) | None => None,
        };
        let text = text.unwrap_or_else(|| {
            let content = self.fields.content.iter().flatten();
            let texts: Vec<&str> = content.filter_map(content_text).collect();
            texts.join("\n")
        });
        match text.is_empty() {
            true => NO_RESULT_TEXT.to_owned(),
            false => tools::text::truncate_chars(&text, RESULT_CHARS_MAX),
        }
    }

    /// Returns the calls that the call is judged as before it runs; at least one.
    pub fn to_delegated_calls(&self, place: &AgentPlace<'_>) -> Vec<DelegatedCall> {
        if place.elsewhere.is_some() {
            return vec![self.unknown_call(place, AgentToolReach::Unknown)];
        }
        let known = place.agent.and_then(|agent| self.translate(agent, place));
        let by_content = || self.calls_by_content(place);
        known
            .or_else(by_content)
            .unwrap_or_else(|| vec![self.unknown_call(place, AgentToolReach::Unknown)])
    }

    /// Returns the call that stands on record for one that ran without being asked about.
    pub fn to_unasked_call(&self, place: &AgentPlace<'_>) -> DelegatedCall {
        self.unknown_call(place, AgentToolReach::Agent)
    }

    /// Translates a call of a known agent by its tables; none if the tool is in none, or its arguments are not told.
    fn translate(
        &self,
        agent: ExternalAgent,
        place: &AgentPlace<'_>,
    ) -> Option<Vec<DelegatedCall>> {
        let input = self.fields.raw_input.as_ref()?.as_object()?;
        let call = AgentCall {
            agent,
            tool: self.fields.name.as_deref()?,
            input,
            folder: place.folder,
            workspace: place.folder,
            servers: &[],
        };
        let calls = to_delegated_calls(&call, false);
        let is_known = |call: &DelegatedCall| match &call.tool {
            DelegatedTool::Own(_) => true,
            DelegatedTool::Foreign { reach, .. } => *reach == AgentToolReach::Agent,
        };
        calls.iter().all(is_known).then_some(calls)
    }

    /// Returns the edits that the message's differences are, or the command that its title or its arguments are.
    fn calls_by_content(&self, place: &AgentPlace<'_>) -> Option<Vec<DelegatedCall>> {
        let content = self.fields.content.iter().flatten();
        let diffs = content.filter_map(|one| match one {
            ToolCallContent::Diff(diff) => Some(to_edit(diff, place)),
            _ => None,
        });
        let edits: Vec<DelegatedCall> = diffs.collect();
        if !edits.is_empty() {
            return Some(edits);
        }
        match self.fields.kind? {
            ToolKind::Execute => self.to_command(place).map(|call| vec![call]),
            _ => None,
        }
    }

    fn to_command(&self, place: &AgentPlace<'_>) -> Option<DelegatedCall> {
        let input = self.fields.raw_input.as_ref().and_then(Value::as_object);
        let member = |name: &str| input.and_then(|input| input.get(name)?.as_str());
        let command = match (input, place.agent) {
            (Some(_), _) => member("command")?,
            // Gemini CLI tells no arguments: the command is the title.
            (None, Some(ExternalAgent::GeminiCli)) => self.fields.title.as_deref()?,
            (None, _) => return None,
        };
        let mut arguments = json!({ "command": command });
        if let Some(folder) = member("cwd").or(member("workdir")) {
            arguments["workdir"] = folder.into();
        }
        // opencode's tool for commands takes exactly these.
        let call = AgentCall {
            agent: ExternalAgent::Opencode,
            tool: "bash",
            input: arguments.as_object()?,
            folder: place.folder,
            workspace: place.folder,
            servers: &[],
        };
        to_delegated_calls(&call, false).pop()
    }

    fn unknown_call(&self, place: &AgentPlace<'_>, reach: AgentToolReach) -> DelegatedCall {
        let arguments = match place.elsewhere {
            Some(elsewhere) => self.arguments_elsewhere(elsewhere),
            None => self.arguments_here(),
        };
        let kind = self.fields.kind.unwrap_or_default();
        let kind = serde_json::to_value(kind).ok();
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or("other");
        DelegatedCall {
            tool: DelegatedTool::Foreign {
                namespace: place.namespace.to_owned(),
                name: self.fields.name.as_deref().unwrap_or(kind).to_owned(),
                reach,
            },
            arguments,
            can_fetch: false,
        }
    }
}

impl ToolUse {
    fn arguments_here(&self) -> Map<String, Value> {
        let mut arguments = match &self.fields.raw_input {
            Some(Value::Object(members)) => members.clone(),
            Some(other) => Map::from_iter([("input".to_owned(), other.clone())]),
            None => Map::new(),
        };
        if arguments.is_empty() {
            arguments.insert("title".to_owned(), self.title().into());
        }
        arguments
    }

    /// Returns what the card of a call shows that is made elsewhere: where, and all that the agent says of it. Nothing of
    /// it is looked up on this machine.
    fn arguments_elsewhere(&self, elsewhere: &str) -> Map<String, Value> {
        let shown = self.fields.content.iter().flatten();
        let shown: Vec<Value> = shown.filter_map(content_value).collect();
        let members = [
            ("where", Some(elsewhere.into())),
            ("title", Some(self.title().into())),
            ("input", self.fields.raw_input.clone()),
            ("shown", (!shown.is_empty()).then(|| shown.into())),
        ];
        let members = members.into_iter();
        members
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }
}

/// The agent that makes a call, and where it works.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentPlace<'a> {
    /// The agent, if its tools are known.
    pub agent: Option<ExternalAgent>,
    /// Name under which tools of its own are on record.
    pub namespace: &'a str,
    /// Command line that leads to where the agent works; none if it works on this machine.
    pub elsewhere: Option<&'a str>,
    /// The workspace, in which the agent works, absolute.
    pub folder: &'a Path,
}

/// Returns the call of ours that makes the change of a difference: a new file, or a text put in the place of another one.
fn to_edit(diff: &Diff, place: &AgentPlace<'_>) -> DelegatedCall {
    let path = diff.path.strip_prefix(place.folder).unwrap_or(&diff.path);
    let path = path.to_string_lossy();
    let old = diff.old_text.as_deref().unwrap_or_default();
    let (tool, arguments) = match old {
        "" => ("write", json!({ "path": path, "content": diff.new_text })),
        old => (
            "edit",
            json!({ "path": path, "old_string": old, "new_string": diff.new_text }),
        ),
    };
    let arguments = match arguments {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    DelegatedCall {
        tool: DelegatedTool::Own(tool.to_owned()),
        arguments,
        can_fetch: false,
    }
}

/// Returns the text of a content, if it is one.
pub(super) fn content_text(content: &ToolCallContent) -> Option<&str> {
    match content {
        ToolCallContent::Content(content) => match &content.content {
            ContentBlock::Text(text) => Some(&text.text),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a text, or a difference with its path; none for what has neither.
fn content_value(content: &ToolCallContent) -> Option<Value> {
    match content {
        ToolCallContent::Diff(diff) => Some(json!({
            "path": diff.path,
            "before": diff.old_text,
            "after": diff.new_text,
        })),
        other => content_text(other).map(Value::from),
    }
}
