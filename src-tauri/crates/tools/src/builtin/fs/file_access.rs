//! Helpers shared by the file tools: resolving paths, errors about missing files, content as text, and planning the
//! change of one file.

use protocol::call::plan::FileChange;
use protocol::{Access, Capability, Plan, Preview, ToolError};
use runtime::{FileError, GlobQuery, PathKind, Workspace};
use tokio_util::sync::CancellationToken;

use crate::builtin::file_error;
use crate::diff::{CONTEXT_LINES, diff_file};
use crate::limits::{CLOSE_NAMES_MAX, CLOSE_NAMES_SCANNED_MAX, FILE_BYTES_MAX};
use crate::name_suggestions::{find_close_names, format_suggestion};
use crate::text::{DecodedText, decode, format_byte_size};
use crate::tool::PreviewedPlan;

/// Resolves a path to the real path relative to the workspace root: links followed, `..` resolved.
pub(in crate::builtin) fn resolve_inside(
    workspace: &Workspace,
    capability: Capability,
    path: &str,
) -> Result<String, ToolError> {
    let fact = workspace.resolve(&Access::new(capability, path));
    match fact.unresolved {
        Some(why) => Err(ToolError::Failed(format!(
            "`{path}` leads nowhere that can be used: {why}. Check the path with glob."
        ))),
        None if !fact.inside => Err(file_error(FileError::Outside {
            path: path.to_owned(),
            real: fact.real,
        })),
        None => Ok(fact.real),
    }
}

/// Reads the content of a file that is to be changed; `None` if there is no such file.
pub(in crate::builtin) fn read_content(
    workspace: &Workspace,
    path: &str,
) -> Result<Option<Vec<u8>>, ToolError> {
    workspace.read_whole(path, FILE_BYTES_MAX).map_err(|error| match error {
        FileError::TooLarge { bytes, .. } => ToolError::Failed(format!(
            "`{path}` is too large to be changed here: {} (at most {}). Use bash with a stream editor such as sed.",
            format_byte_size(bytes),
            format_byte_size(FILE_BYTES_MAX)
        )),
        other => file_error(other),
    })
}

/// Returns the bytes as text, or a sentence why they are not text. `doing` ends the sentence: "can be edited".
pub(in crate::builtin) fn as_text<'a>(
    path: &str,
    bytes: &'a [u8],
    doing: &str,
) -> Result<&'a str, ToolError> {
    match decode(bytes) {
        DecodedText::Utf8(text) => Ok(text),
        DecodedText::Binary(what) => Err(ToolError::Failed(format!(
            "`{path}` is {what} ({}); only text {doing}. Use bash with a program that understands it, such as `file` or \
             `xxd`.",
            format_byte_size(bytes.len() as u64)
        ))),
        DecodedText::NotUtf8 { offset, looks_like } => {
            let looks = match looks_like {
                "" => String::new(),
                name => format!(" (it looks like {name})"),
            };
            Err(ToolError::Failed(format!(
                "`{path}` is not UTF-8 from byte {offset} on{looks}; only UTF-8 text {doing}. Convert it with bash first: \
                 `iconv -f FROM -t UTF-8`."
            )))
        }
    }
}

/// Builds the error "There is no `a/b.rs`" with similar names: in the file's folder, or of the same name elsewhere.
pub(in crate::builtin) fn missing_file_error(workspace: &Workspace, path: &str) -> ToolError {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (workspace, cancel) = (&workspace.names_only(), CancellationToken::new());
    let list = |pattern: &str, under: &str, max: usize| {
        let query = GlobQuery {
            under: (!under.is_empty()).then_some(under),
            ..GlobQuery::files_matching(pattern, max)
        };
        runtime::find_files(workspace, &query, &cancel)
            .map_or_else(|_| Vec::new(), |files| files.paths)
    };
    let folder_stands = folder.is_empty()
        || matches!(
            workspace.path_kind(folder),
            Ok(Some(PathKind::Folder | PathKind::Link))
        );
    let mut siblings = Vec::new();
    if folder_stands {
        siblings = list("*", folder, CLOSE_NAMES_SCANNED_MAX);
        // Only files are listed; a folder is known by what is in it.
        for below in list("*/*", folder, CLOSE_NAMES_SCANNED_MAX) {
            if let Some((folder, _)) = below
                .rsplit_once('/')
                .filter(|(f, _)| siblings.last().is_none_or(|last| last != f))
            {
                siblings.push(folder.to_owned());
            }
        }
    }
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let names: Vec<String> = siblings.iter().map(|path| base(path)).collect();
    let close = find_close_names(name, names.iter().map(String::as_str));
    let mut similar: Vec<&str> = siblings
        .iter()
        .filter(|path| close.contains(&base(path).as_str()))
        .map(String::as_str)
        .take(CLOSE_NAMES_MAX)
        .collect();
    let literal = !name.is_empty() && !name.contains(['*', '?', '[', ']', '{', '}', '\\', '!']);
    let elsewhere = match similar.is_empty() && literal {
        true => list(&format!("**/{name}"), "", CLOSE_NAMES_MAX),
        false => Vec::new(),
    };
    similar.extend(elsewhere.iter().map(String::as_str));
    let why = match folder_stands {
        true => format!("There is no file or folder at `{path}`."),
        false => format!("There is no file or folder at `{path}`, and no folder `{folder}`."),
    };
    let hint = match format_suggestion(&similar) {
        hint if hint.is_empty() => " List what is there with glob.".to_owned(),
        hint => hint,
    };
    ToolError::Failed(format!("{why}{hint}"))
}

/// Prepares the change of one file as it is shown and carried out. If the content stays the same, there is no plan.
pub(in crate::builtin) fn prepare_change(
    path: String,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
) -> PreviewedPlan {
    let diff = diff_file(&path, before.as_deref(), &after, 0, CONTEXT_LINES);
    let plan = match before.as_deref() == Some(after.as_slice()) {
        true => Plan::None,
        false => Plan::Write(vec![FileChange {
            path,
            before,
            after: Some(after),
            from: None,
        }]),
    };
    PreviewedPlan {
        preview: Preview::Diff { files: vec![diff] },
        plan,
    }
}
