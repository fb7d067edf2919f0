//! What is known while the entries of a transcript are read.

use std::path::{Path, PathBuf};

use protocol::text::timestamp::parse_timestamp;
use protocol::{At, Content};
use serde_json::{Map, Value};

use crate::transcripts::content::TranscriptContent;

/// Something that was said or done in a session.
#[derive(Debug, PartialEq)]
pub(super) struct TranscriptEntry {
    /// When it was written.
    pub at: At,
    /// What it is.
    pub body: EntryBody,
}

/// What was said or done.
#[derive(Debug, PartialEq)]
pub(super) enum EntryBody {
    /// The person's message.
    Prompt {
        /// The text.
        text: String,
        /// Images beside it.
        images: Vec<Content>,
        /// Files of further images, as the agent names them.
        image_files: Vec<PathBuf>,
    },
    /// The agent's message.
    Answer(String),
    /// What the agent thought.
    Thought(String),
    /// A call.
    Call {
        /// The agent's id of the call.
        id: String,
        /// The tool's name, as the agent says it.
        tool: String,
        /// Arguments, as the agent says them.
        input: Map<String, Value>,
    },
    /// The result of a call.
    Result {
        /// The agent's id of the call.
        call: String,
        /// What the agent's model read.
        content: TranscriptContent,
        /// Whether the call failed.
        failed: bool,
    },
}

/// A session while its transcript is read.
pub(super) struct SessionState<'a> {
    /// Workspace that is looked for, if it is one.
    pub workspace: Option<&'a Path>,
    /// The agent's id of the session.
    pub session: String,
    /// Folder that the agent works in, as far as it is known.
    pub folder: Option<PathBuf>,
    /// Version of the agent; empty as long as it is not known.
    pub version: String,
    /// When the last entry was written.
    pub at: At,
    /// The entries that were read and not taken yet.
    pub entries: Vec<TranscriptEntry>,
}

impl SessionState<'_> {
    /// Remembers when an entry was written.
    pub(super) fn note_time(&mut self, entry: &Value) {
        let text = entry.get("timestamp").and_then(Value::as_str);
        let at = text.and_then(parse_timestamp);
        self.at = at.unwrap_or(self.at);
    }

    /// Remembers the session, where the entry names it.
    pub(super) fn note_session(&mut self, entry: &Value, name: &str) {
        if let Some(session) = entry.get(name).and_then(Value::as_str) {
            session.clone_into(&mut self.session);
        }
    }

    /// Remembers the folder, where the entry names it.
    pub(super) fn note_folder(&mut self, entry: &Value) {
        if let Some(folder) = entry.get("cwd").and_then(Value::as_str) {
            self.folder = Some(folder.into());
        }
    }

    /// Remembers the version of the agent, where the entry names it.
    pub(super) fn note_version(&mut self, entry: &Value, name: &str) {
        if let Some(version) = entry.get(name).and_then(Value::as_str) {
            version.clone_into(&mut self.version);
        }
    }

    /// Adds a message of the person, unless there is nothing in it.
    pub(super) fn add_prompt(&mut self, text: String, images: Vec<Content>) {
        self.add_prompt_with_files(text, images, Vec::new());
    }

    /// Adds a message of the person with images of which some are named by their files, unless there is nothing in it.
    pub(super) fn add_prompt_with_files(
        &mut self,
        text: String,
        images: Vec<Content>,
        image_files: Vec<PathBuf>,
    ) {
        if !text.trim().is_empty() || !images.is_empty() || !image_files.is_empty() {
            self.add(EntryBody::Prompt {
                text,
                images,
                image_files,
            });
        }
    }

    /// Adds a message of the agent, unless there is nothing in it.
    pub(super) fn add_answer(&mut self, text: String) {
        self.add_text(text, EntryBody::Answer);
    }

    /// Adds what the agent thought, unless there is nothing in it.
    pub(super) fn add_thought(&mut self, text: String) {
        self.add_text(text, EntryBody::Thought);
    }

    /// Adds a call. One without an id cannot be told from others, and is left out.
    pub(super) fn add_call(&mut self, id: Option<&Value>, tool: &str, input: Map<String, Value>) {
        if let Some(id) = id.and_then(Value::as_str) {
            self.add(EntryBody::Call {
                id: id.to_owned(),
                tool: tool.to_owned(),
                input,
            });
        }
    }

    /// Adds the result of a call.
    pub(super) fn add_result(
        &mut self,
        call: Option<&Value>,
        content: TranscriptContent,
        failed: bool,
    ) {
        if let Some(call) = call.and_then(Value::as_str) {
            let call = call.to_owned();
            self.add(EntryBody::Result {
                call,
                content,
                failed,
            });
        }
    }

    fn add_text(&mut self, text: String, body: impl Fn(String) -> EntryBody) {
        if !text.trim().is_empty() {
            self.add(body(text));
        }
    }

    fn add(&mut self, body: EntryBody) {
        let at = self.at;
        self.entries.push(TranscriptEntry { at, body });
    }
}
