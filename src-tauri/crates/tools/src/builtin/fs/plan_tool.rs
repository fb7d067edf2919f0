//! The tool over a plan of file changes: the plan is made and shown, then carried out exactly as it was approved.

use async_trait::async_trait;
use policy::Approved;
use protocol::call::plan::{FileChange, Removal};
use protocol::view::preview::FileDiff;
use protocol::{Access, Plan, ToolError, ToolInterface, ToolOutput};
use runtime::Workspace;
use serde_json::{Map, Value};

use crate::builtin::fs::mask_guard::reject_mask_writes;
use crate::builtin::{file_error, run_blocking, text_argument};
use crate::diff::{content_before, diff_file};
use crate::text::{escape_invisible, format_byte_size, format_count};
use crate::tool::{ExecutionContext, PreviewedPlan, Tool, ToolContext};

/// Plans the file changes of one tool. The methods are those of [`Tool`], as far as the tools differ.
#[async_trait]
pub trait FilePlanner: Send + Sync {
    /// Builds the interface of the tool.
    fn interface(&self) -> ToolInterface;

    /// Returns the target of the call in one line: the path that it names.
    fn target(&self, arguments: &Map<String, Value>) -> String {
        escape_invisible(text_argument(arguments, "path"))
    }

    /// Returns the accesses that the call would make.
    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access>;

    /// Checks properties of the values that a schema cannot express.
    fn validate(&self, _arguments: &Map<String, Value>) -> Result<(), ToolError> {
        Ok(())
    }

    /// Plans the changes that the call makes, and writes nothing.
    async fn plan_changes(
        &self,
        workspace: Workspace,
        arguments: Map<String, Value>,
    ) -> Result<PreviewedPlan, ToolError>;

    /// Returns how to set up the tool; `None` if it is ready.
    fn missing_setup(&self) -> Option<String> {
        None
    }
}

/// A tool whose calls change files as its planner says.
pub struct FilePlanTool<P> {
    interface: ToolInterface,
    planner: P,
}

impl<P: FilePlanner> FilePlanTool<P> {
    /// Creates the tool over its planner.
    pub(in crate::builtin) fn from_planner(planner: P) -> Self {
        Self {
            interface: planner.interface(),
            planner,
        }
    }
}

#[async_trait]
impl<P: FilePlanner> Tool for FilePlanTool<P> {
    fn interface(&self) -> &ToolInterface {
        &self.interface
    }

    fn target(&self, arguments: &Map<String, Value>) -> String {
        self.planner.target(arguments)
    }

    fn accesses(&self, arguments: &Map<String, Value>) -> Vec<Access> {
        self.planner.accesses(arguments)
    }

    fn validate(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        self.planner.validate(arguments)
    }

    async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext,
    ) -> Result<PreviewedPlan, ToolError> {
        let workspace = context.workspace.clone();
        let prepared = self
            .planner
            .plan_changes(workspace, arguments.clone())
            .await?;
        run_blocking(move || reject_mask_writes(prepared)).await
    }

    async fn execute(
        &self,
        approved: &Approved,
        context: &ToolContext,
        _execution: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        let workspace = context.workspace.clone();
        let plan = approved.plan().clone();
        let path = text_argument(approved.arguments(), "path").to_owned();
        run_blocking(move || apply_approved(&workspace, &plan, &path)).await
    }

    fn missing_setup(&self) -> Option<String> {
        self.planner.missing_setup()
    }
}

/// Carries out an approved plan exactly as it was shown, and reports the result. `path` is the file that a plan without
/// changes leaves as it is.
fn apply_approved(workspace: &Workspace, plan: &Plan, path: &str) -> Result<ToolOutput, ToolError> {
    let output = match plan {
        Plan::None => {
            return Ok(ToolOutput::new(
                format!("`{path}` already has exactly this content; nothing was written."),
                "unchanged",
            ));
        }
        Plan::Write(changes) => report_changes(changes),
        Plan::Remove(removal) => report_removal(removal),
        Plan::Effects(_) => {
            return Err(ToolError::Failed(
                "The plan is not one of writing or removing; nothing was done.".to_owned(),
            ));
        }
    };
    runtime::apply_plan(workspace, plan).map_err(file_error)?;
    Ok(output)
}

/// Reports written files, a moved one once.
fn report_changes(changes: &[FileChange]) -> ToolOutput {
    let mut sentences = Vec::new();
    let (mut added, mut removed) = (0_u64, 0_u64);
    for change in changes {
        let moves_away = changes
            .iter()
            .any(|it| it.from.as_ref() == Some(&change.path));
        if moves_away {
            continue;
        }
        let before = content_before(change, changes).map(Vec::as_slice);
        let after = change.after.as_deref();
        let diff = diff_file(&change.path, before, after.unwrap_or_default(), 0, 0);
        added += u64::from(diff.added);
        removed += u64::from(diff.removed);
        sentences.push(describe_change(change, &diff));
    }
    ToolOutput::new(sentences.join("\n"), format!("+{added} −{removed}"))
}

/// Describes the change made to one file.
fn describe_change(change: &FileChange, diff: &FileDiff) -> String {
    let (path, added, removed) = (&change.path, diff.added, diff.removed);
    let Some(after) = &change.after else {
        let size = format_byte_size(change.before.as_ref().map_or(0, Vec::len) as u64);
        return format!("Deleted `{path}` ({size}).");
    };
    let size = format_byte_size(after.len() as u64);
    match (&change.from, &change.before, diff.hunks.first()) {
        (Some(from), _, Some(_)) => {
            format!("Moved `{from}` to `{path}`: +{added} -{removed} lines; it has {size} now.")
        }
        (Some(from), _, None) => format!("Moved `{from}` to `{path}`, its content unchanged."),
        (None, None, _) => {
            let lines = format_count(u64::from(added), "line", "lines");
            format!("Created `{path}` ({lines}, {size}).")
        }
        (None, Some(_), Some(hunk)) => format!(
            "Changed `{path}`: +{added} -{removed} lines, the first at line {}; it has {size} now.",
            hunk.new_start
        ),
        (None, Some(_), None) => format!("Changed `{path}`; it has {size} now."),
    }
}

/// Reports a removed file, folder or link.
fn report_removal(removal: &Removal) -> ToolOutput {
    let files = format_count(removal.files, "file", "files");
    let bytes = format_byte_size(removal.bytes);
    ToolOutput::new(
        format!("Deleted `{}` ({files}, {bytes}).", removal.path),
        format!("{files}, {bytes}"),
    )
}
