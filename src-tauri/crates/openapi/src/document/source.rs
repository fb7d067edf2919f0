//! Parses a text into a document: JSON or YAML, within limits, with the files beside it that it refers to.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use protocol::UserError;
use protocol::text::depth::exceeds_depth;
use protocol::text::display_text::to_single_line;
use runtime::{FetchLimits, FileError, NetworkClient};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::limits::{
    DOCUMENT_BYTES_MAX, DOCUMENT_DEPTH_MAX, DOCUMENT_TIMEOUT_MS, FILES_MAX, QUOTED_CHARS_MAX,
    YAML_ALIASES_MAX, YAML_NODES_MAX, YAML_STACK_BYTES,
};

const DOCUMENT_HINT: &str =
    "Give a document of OpenAPI 3.0 or 3.1, or of Swagger 2.0, as JSON or YAML.";

/// A document as it was written, not interpreted (`S001-55`).
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentSource {
    /// The document.
    pub(crate) root: Value,
    /// URL of the document, if it has one: its servers may be written relative to that.
    pub(crate) address: Option<String>,
    /// Files beside the document, by their paths relative to its folder.
    pub(crate) files: BTreeMap<String, Value>,
}

impl DocumentSource {
    /// Creates a document from a value that is parsed already.
    ///
    /// # Errors
    /// The value is nested too deeply.
    pub fn from_value(root: Value) -> Result<Self, UserError> {
        if exceeds_depth(&root, DOCUMENT_DEPTH_MAX) {
            return Err(unreadable_error(
                "The document",
                &format!("it is nested more than {DOCUMENT_DEPTH_MAX} levels deep"),
            ));
        }
        Ok(Self {
            root,
            address: None,
            files: BTreeMap::new(),
        })
    }

    /// Parses a document from a text, JSON or YAML.
    ///
    /// # Errors
    /// The text is too long, nested too deeply, or neither JSON nor YAML.
    pub fn from_text(text: &str) -> Result<Self, UserError> {
        let named = "The document";
        if text.len() > DOCUMENT_BYTES_MAX {
            return Err(too_long_error(named));
        }
        Self::from_value(parse_text(text).map_err(|why| unreadable_error(named, &why))?)
    }

    /// Reads a document from a file. With `follows`, also reads the files that it refers to, as far as they lie in its
    /// folder.
    ///
    /// # Errors
    /// The file cannot be read, or contains no document.
    pub fn from_file(path: &Path, follows: bool) -> Result<Self, UserError> {
        let named = format!("`{}`", path.display());
        let read = runtime::read_text_within(path, DOCUMENT_BYTES_MAX as u64);
        let text = read
            .map_err(|error| match error {
                FileError::TooLarge { .. } => too_long_error(&named),
                other => other.into(),
            })?
            .ok_or_else(|| {
                UserError::new(format!("There is no file {named}."), "Check the path.")
            })?;
        let root = parse_text(&text).map_err(|why| unreadable_error(&named, &why))?;
        let mut source = Self::from_value(root)?;
        if follows {
            let folder = path.parent().unwrap_or(Path::new("."));
            source.files = load_referenced_files(folder, &source.root)?;
        }
        Ok(source)
    }

    /// Fetches a document from a URL through a client that policy checks.
    ///
    /// # Errors
    /// The URL is not allowed, cannot be fetched, or has no document.
    pub async fn fetch(
        net: &NetworkClient,
        url: &str,
        cancel: &CancellationToken,
    ) -> Result<Self, UserError> {
        let limits = FetchLimits {
            timeout_ms: DOCUMENT_TIMEOUT_MS,
            body_bytes_max: DOCUMENT_BYTES_MAX,
        };
        let fetched = net.get(url, limits, cancel).await.map_err(|error| {
            UserError::new(error.to_string(), "Check the address of the document.")
        })?;
        let named = format!("`{}`", to_single_line(url, QUOTED_CHARS_MAX));
        if !(200..300).contains(&fetched.status) {
            return Err(unreadable_error(
                &named,
                &format!("the answer has status {}", fetched.status),
            ));
        }
        if fetched.is_truncated {
            return Err(too_long_error(&named));
        }
        let text = String::from_utf8(fetched.body)
            .map_err(|_| unreadable_error(&named, "it is not UTF-8"))?;
        let mut source =
            Self::from_value(parse_text(&text).map_err(|why| unreadable_error(&named, &why))?)?;
        source.address = Some(fetched.url);
        Ok(source)
    }
}

fn unreadable_error(named: &str, why: &str) -> UserError {
    UserError::new(format!("{named} cannot be read: {why}."), DOCUMENT_HINT)
}

fn too_long_error(named: &str) -> UserError {
    UserError::new(
        format!(
            "{named} cannot be read: it is longer than {} MiB.",
            DOCUMENT_BYTES_MAX / (1024 * 1024)
        ),
        "Give the form of it in which references are not written out, or a file with the paths that you need.",
    )
}

/// Parses a text into a value.
///
/// # Errors
/// The reason why it cannot be parsed, as a clause.
fn parse_text(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        // Text that begins like JSON may still be YAML in flow style.
        let json = serde_json::from_str(text);
        return json
            .or_else(|error| parse_yaml(text).map_err(|_| format!("it is not JSON ({error})")));
    }
    parse_yaml(text)
}

/// Parses YAML on a thread of its own: each level takes so much stack that a thread of the usual size could overflow.
fn parse_yaml(text: &str) -> Result<Value, String> {
    std::thread::scope(|scope| {
        let roomy = std::thread::Builder::new().stack_size(YAML_STACK_BYTES);
        let thread = roomy.spawn_scoped(scope, || parse_yaml_on_thread(text));
        let thread = thread.map_err(|error| format!("there is no room to read it ({error})"))?;
        thread.join().map_err(|_| "it broke off".to_owned())?
    })
}

fn parse_yaml_on_thread(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DOCUMENT_DEPTH_MAX,
            max_nodes: YAML_NODES_MAX,
            max_events: 2 * YAML_NODES_MAX,
            max_aliases: YAML_ALIASES_MAX,
            max_anchors: YAML_ALIASES_MAX,
            max_documents: 1,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = error.to_string();
        let first = message.lines().next().unwrap_or_default();
        let first = first.strip_prefix("error: ").unwrap_or(first);
        let at = error
            .location()
            .map_or(String::new(), |at| format!("line {}: ", at.line()));
        format!(
            "it is not YAML ({at}{})",
            to_single_line(first.trim_end_matches('.'), 200)
        )
    })
}

/// Reads every file in the folder that is referred to, directly or through other files.
fn load_referenced_files(
    folder: &Path,
    root: &Value,
) -> Result<BTreeMap<String, Value>, UserError> {
    let mut files = BTreeMap::new();
    let mut pending = Vec::new();
    collect_referenced_files(root, "", &mut pending);
    let mut bytes = 0;
    while let Some(name) = pending.pop() {
        if files.contains_key(&name) {
            continue;
        }
        let named = format!(
            "`{}`, which the document refers to,",
            to_single_line(&name, QUOTED_CHARS_MAX)
        );
        if files.len() >= FILES_MAX {
            return Err(UserError::new(
                format!("The document refers to more than {FILES_MAX} files."),
                "Bundle it into one file.",
            ));
        }
        let Some(text) = read_file_in_folder(folder, &name)? else {
            // Whatever refers to it is left out by itself.
            continue;
        };
        bytes += text.len();
        if bytes > DOCUMENT_BYTES_MAX {
            return Err(too_long_error("The document with its files"));
        }
        let value = parse_text(&text).map_err(|why| unreadable_error(&named, &why))?;
        let value = DocumentSource::from_value(value)?.root;
        collect_referenced_files(&value, &name, &mut pending);
        files.insert(name, value);
    }
    Ok(files)
}

/// Reads a file of the folder; none if it does not exist, or if its path leads out of the folder.
fn read_file_in_folder(folder: &Path, name: &str) -> Result<Option<String>, UserError> {
    let path: PathBuf = folder.join(name);
    let mut at = folder.to_owned();
    for part in Path::new(name).components() {
        let Component::Normal(part) = part else {
            return Ok(None);
        };
        at.push(part);
        // A link may lead anywhere.
        if runtime::is_link(&at) {
            return Ok(None);
        }
    }
    Ok(runtime::read_text_within(&path, DOCUMENT_BYTES_MAX as u64)?)
}

/// Collects the files that the references of a value name, relative to the folder of the document.
fn collect_referenced_files(value: &Value, from: &str, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get("$ref")
                && let Some(name) = resolve_file_reference(reference, from)
            {
                names.push(name);
            }
            members
                .values()
                .for_each(|value| collect_referenced_files(value, from, names));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|value| collect_referenced_files(value, from, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the file that a reference names, relative to the folder of the document, if it names one: never a URL, never
/// a file outside of the folder. `from` is the file that contains the reference, empty for the document.
pub(crate) fn resolve_file_reference(reference: &str, from: &str) -> Option<String> {
    let (file, _) = reference.split_once('#').unwrap_or((reference, ""));
    if file.is_empty() || file.contains(':') || file.starts_with(['/', '\\']) {
        return None;
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}
