//! A workspace on disk, and the walk of a call from its name to its output.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use policy::{
    Approved, Consent, EvaluationRequest, QuestionAnswers, RuleSet, classify_tool, evaluate,
};
use protocol::view::preview::UndoAvailability;
use protocol::{CallId, Digest, Plan, Preview, SessionId, ToolError, ToolOutput};
use runtime::{SessionFolder, Workspace};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tools::{ExecutionContext, PreviewedPlan, Registry, TodoList, ToolContext};

pub struct Bench {
    folder: TempDir,
    pub registry: Registry,
    pub hands: ToolContext,
    pub cancel: CancellationToken,
    pub heard: Arc<Mutex<String>>,
}

impl Bench {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let (root, data) = (folder.path().join("ws"), folder.path().join("data"));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir_all(&data).unwrap();
        let session = SessionId::from("ses_1");
        let session_folder = SessionFolder::open(&data, &session).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let workspace = workspace.with_readable(session_folder.path()).unwrap();
        Self {
            folder,
            registry: Registry::builtin(),
            hands: ToolContext {
                workspace,
                snapshot: None,
                dry_run_environment: runtime::DryRunEnvironment::open(
                    None,
                    &data.join("sandboxes"),
                    Vec::new(),
                )
                .unwrap(),
                net: runtime::NetworkClient::offline(),
                session,
                folder: Arc::new(session_folder),
                todo_list: Arc::new(TodoList::default()),
            },
            cancel: CancellationToken::new(),
            heard: Arc::default(),
        }
    }

    /// A workspace with these files.
    pub fn with(files: &[(&str, &[u8])]) -> Self {
        let bench = Self::new();
        for (path, bytes) in files {
            bench.put(path, bytes);
        }
        bench
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    pub fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn get(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.at(path)).ok()
    }

    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.get(path).unwrap()).unwrap()
    }

    /// Everything in the workspace with its content, for "nothing was touched".
    pub fn everything(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.at("")];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries {
                let path = entry.unwrap().path();
                match path.is_dir() && !path.is_symlink() {
                    true => folders.push(path),
                    false => found.push((path.clone(), std::fs::read(&path).unwrap_or_default())),
                }
            }
        }
        found.sort();
        found
    }

    /// Preview and plan of a call.
    pub async fn prepare(&self, tool: &str, arguments: &Value) -> Result<PreviewedPlan, ToolError> {
        let found = self.registry.find(tool)?;
        let checked = found.validate_arguments(object(arguments))?;
        found.tool.prepare(&checked.arguments, &self.hands).await
    }

    /// The whole walk, everything allowed.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Result<ToolOutput, ToolError> {
        self.answered(tool, arguments, None).await
    }

    /// The whole walk with a person's answers.
    pub async fn answered(
        &self,
        tool: &str,
        arguments: &Value,
        answers: Option<QuestionAnswers>,
    ) -> Result<ToolOutput, ToolError> {
        let found = self.registry.find(tool)?;
        let checked = found.validate_arguments(object(arguments))?;
        let prepared = found.tool.prepare(&checked.arguments, &self.hands).await?;
        let id = found.tool.interface().id().to_owned();
        let approved = approve(&id, checked.arguments, prepared.plan, answers);
        let heard = Arc::clone(&self.heard);
        let cx = ExecutionContext {
            on_output: Some(Arc::new(move |text: &str| {
                heard.lock().unwrap().push_str(text)
            })),
            ..ExecutionContext::new(CallId::from("c_1"), id, self.cancel.clone())
        };
        found.tool.execute(&approved, &self.hands, &cx).await
    }

    /// Text for the model when the call fails.
    pub async fn error(&self, tool: &str, arguments: &Value) -> String {
        let before = self.everything();
        let error = self.call(tool, arguments).await.unwrap_err();
        assert_eq!(
            self.everything(),
            before,
            "{tool} failed and touched something"
        );
        error.to_string()
    }

    /// Text for the model when the call works.
    pub async fn said(&self, tool: &str, arguments: &Value) -> String {
        told(&self.call(tool, arguments).await.unwrap()).to_owned()
    }
}

pub fn object(arguments: &Value) -> &Map<String, Value> {
    arguments.as_object().unwrap()
}

pub fn approve(
    tool: &str,
    arguments: Map<String, Value>,
    plan: Plan,
    answers: Option<QuestionAnswers>,
) -> Approved {
    let shown = Digest::from_bytes(b"shown");
    let judgement = evaluate(&EvaluationRequest {
        call: &CallId::from("c_1"),
        tool,
        tool_class: &classify_tool(tool, policy::ToolDeclaration::default()),
        facts: &policy::CallFacts::default(),
        undo: &UndoAvailability::Secured,
        needs_person: false,
        alarms: &[],
        dry_run: None,
        dry_run_first: false,
        judges_effects: false,
        skips_asks: false,
        now: 0,
        rules_only: false,
        rules: &RuleSet::default(),
        ask_for_everything: true,
        headless: None,
        shown_digest: &|| shown.clone(),
    });
    judgement
        .approve(
            arguments,
            plan,
            Some(Consent {
                shown_digest: shown,
                answers,
            }),
        )
        .unwrap()
}

/// The lines of the only file of a difference: `+`, `-` or a blank, then the text.
pub fn drawn(preview: &Preview) -> Vec<String> {
    let Preview::Diff { files } = preview else {
        panic!("{preview:?} is not a difference");
    };
    let lines = files[0].hunks.iter().flat_map(|hunk| &hunk.lines);
    lines
        .map(|line| {
            let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
            match (line.old, line.new) {
                (None, _) => format!("+{text}"),
                (_, None) => format!("-{text}"),
                _ => format!(" {text}"),
            }
        })
        .collect()
}

/// Text of an output for the model: its text, or that there is none.
pub fn told(output: &ToolOutput) -> &str {
    output.empty.as_deref().unwrap_or(&output.text)
}
