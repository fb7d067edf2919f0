//! A session of a transcript, as it is imported.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use agent::{ImportedBody, ImportedCall, ImportedEntry, ImportedResult, ImportedSession};
use protocol::event::ClientInfo;
use protocol::{At, Digest};
use serde_json::{Map, Value};

use crate::agent_calls::{AgentCall, ExternalAgent, OwnCall, TranslatedCall, translate_call};
use crate::transcripts::image_files::ImageFiles;
use crate::transcripts::session_state::{EntryBody, SessionState, TranscriptEntry};

/// How the calls of a transcript reached the record.
const BY_TRANSCRIPT: &str = "its transcript";

/// Builder of a session from the entries of its transcript.
pub(super) struct SessionBuilder {
    agent: ExternalAgent,
    session: String,
    version: String,
    folder: Option<PathBuf>,
    entries: Vec<ImportedEntry>,
    /// Messages that were added: some agents write one again when they add to it.
    messages: HashSet<Digest>,
    /// Calls that were added, by their ids and times.
    calls: HashSet<(String, At)>,
    /// Where the calls of each id stand among the entries; of those with the same id, the last one.
    call_places: HashMap<String, Vec<usize>>,
    last_at: At,
}

impl SessionBuilder {
    pub fn new(agent: ExternalAgent, session: String) -> Self {
        Self {
            agent,
            session,
            version: String::new(),
            folder: None,
            entries: Vec::new(),
            messages: HashSet::new(),
            calls: HashSet::new(),
            call_places: HashMap::new(),
            last_at: At::MIN,
        }
    }

    /// Returns the agent's id of the session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns when something was said or done last.
    pub fn last_at(&self) -> At {
        self.last_at
    }

    /// Returns the folder that the agent began in, if it is known.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Adds what a line added to the session.
    pub fn add_entries(&mut self, state: &mut SessionState<'_>) {
        if self.folder.is_none() {
            self.folder.clone_from(&state.folder);
        }
        if self.version.is_empty() {
            self.version.clone_from(&state.version);
        }
        for TranscriptEntry { at, body } in std::mem::take(&mut state.entries) {
            self.last_at = self.last_at.max(at);
            match body {
                EntryBody::Prompt {
                    text,
                    mut images,
                    image_files,
                } => {
                    let folder = state.folder.as_deref().unwrap_or(Path::new("/"));
                    let files = ImageFiles::read(folder, &image_files);
                    images.extend(files.images);
                    let unread_images = files.unread;
                    self.add_message(
                        at,
                        ImportedBody::Prompt {
                            text,
                            images,
                            unread_images,
                        },
                    );
                }
                EntryBody::Answer(text) => self.add_message(at, ImportedBody::Answer(text)),
                EntryBody::Thought(text) => self.add_message(at, ImportedBody::Thought(text)),
                EntryBody::Call { id, tool, input } => {
                    if self.calls.insert((id.clone(), at)) {
                        let folder = state.folder.clone();
                        self.add_call(at, &id, self.translate(&tool, &input, folder.as_deref()));
                    }
                }
                EntryBody::Result {
                    call,
                    content,
                    failed,
                } => {
                    let result = ImportedResult {
                        at,
                        text: content.text,
                        images: content.images,
                        failed,
                    };
                    self.add_result(&call, &result);
                }
            }
        }
    }

    /// Returns the session; `None` if nothing was said or done in it, or its folder is not known.
    pub fn build(self) -> Option<ImportedSession> {
        let folder = self.folder?;
        let agent = ClientInfo {
            name: self.agent.name().to_owned(),
            version: self.version,
            by: BY_TRANSCRIPT.to_owned(),
            session: self.session,
            token: String::new(),
        };
        let entries = self.entries;
        (!entries.is_empty()).then_some(ImportedSession {
            agent,
            folder,
            entries,
        })
    }

    fn add_message(&mut self, at: At, body: ImportedBody) {
        let key = match &body {
            ImportedBody::Prompt { text, .. } => Digest::from_json(&(at, "prompt", text)),
            ImportedBody::Thought(text) => Digest::from_json(&(at, "thought", text)),
            ImportedBody::Answer(text) => Digest::from_json(&(at, "answer", text)),
            ImportedBody::Call(call) => Digest::from_json(&(at, "call", &call.id)),
        };
        if self.messages.insert(key) {
            self.entries.push(ImportedEntry { at, body });
        }
    }

    /// Adds what a call is here: one call, or several that together are the call of the agent.
    fn add_call(&mut self, at: At, id: &str, calls: Vec<OwnCall>) {
        let is_one = calls.len() == 1;
        let first = self.entries.len();
        for (index, call) in calls.into_iter().enumerate() {
            let id = match is_one {
                true => id.to_owned(),
                false => format!("{id}/{}", index + 1),
            };
            let call = ImportedCall {
                id,
                tool: call.tool,
                arguments: call.arguments,
                result: None,
            };
            let body = ImportedBody::Call(call);
            self.entries.push(ImportedEntry { at, body });
        }
        let places = (first..self.entries.len()).collect();
        self.call_places.insert(id.to_owned(), places);
    }

    fn add_result(&mut self, id: &str, result: &ImportedResult) {
        for place in self.call_places.get(id).into_iter().flatten() {
            if let Some(ImportedEntry {
                body: ImportedBody::Call(call),
                ..
            }) = self.entries.get_mut(*place)
            {
                call.result = Some(result.clone());
            }
        }
    }

    /// Translates a call into calls of our tools. What is none of ours keeps the name that the agent has for it.
    fn translate(
        &self,
        tool: &str,
        input: &Map<String, Value>,
        folder: Option<&Path>,
    ) -> Vec<OwnCall> {
        let as_it_is = || {
            vec![OwnCall {
                tool: tool.to_owned(),
                arguments: input.clone(),
            }]
        };
        let (Some(workspace), Some(folder)) = (self.folder(), folder) else {
            return as_it_is();
        };
        let translated = translate_call(&AgentCall {
            agent: self.agent,
            tool,
            input,
            folder,
            workspace,
            servers: &[],
        });
        match translated {
            TranslatedCall::Tools(calls) => calls,
            TranslatedCall::Server(call) => vec![call],
            TranslatedCall::Internal | TranslatedCall::Unknown { .. } => as_it_is(),
        }
    }
}
