//! A session written into a file that the person chose.

use std::path::Path;

use protocol::{SessionId, UserError};
use record::ExportFormat;

use crate::engine::Engine;
use crate::session::engine_state::missing_session_error;

/// Mode of the file: for the person alone, as the record is.
const EXPORT_MODE: u32 = 0o600;
/// Maximum length of the name that is proposed for a file, in characters, without its ending.
const NAME_CHARS_MAX: usize = 60;

/// A kind of file that a session is exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportKind {
    format: ExportFormat,
    /// Name of the kind for a person: `Markdown`.
    pub title: &'static str,
    /// Ending of the file's name: `md`.
    pub extension: &'static str,
}

impl ExportKind {
    /// Reads `md`, `jsonl`, or `html`.
    ///
    /// # Errors
    /// There is no such kind.
    pub fn parse(name: &str) -> Result<Self, UserError> {
        let (format, title, extension) = match name {
            "md" => (ExportFormat::Markdown, "Markdown", "md"),
            "jsonl" => (ExportFormat::JsonLines, "JSON Lines", "jsonl"),
            "html" => (ExportFormat::Html, "HTML", "html"),
            _ => {
                return Err(UserError::new(
                    format!("A session is not exported as “{name}”."),
                    "Choose Markdown, JSON Lines, or HTML.",
                ));
            }
        };
        Ok(Self {
            format,
            title,
            extension,
        })
    }
}

impl Engine {
    /// Returns the name that is proposed for the file of an exported session.
    ///
    /// # Errors
    /// There is no such session.
    pub fn export_file_name(
        &self,
        session: &SessionId,
        kind: ExportKind,
    ) -> Result<String, UserError> {
        let view = self.state.record.session(session)?;
        let view = view.ok_or_else(|| missing_session_error(session))?;
        Ok(format!("{}.{}", file_stem(&view.title), kind.extension))
    }

    /// Writes a session with its secrets masked into a file, which is replaced as a whole: after a failure it is as it was.
    ///
    /// # Errors
    /// There is no such session, or the file cannot be written.
    pub async fn export_session(
        &self,
        session: SessionId,
        kind: ExportKind,
        file: &Path,
    ) -> Result<(), UserError> {
        let (record, file) = (self.state.record.clone(), file.to_owned());
        let written = tokio::task::spawn_blocking(move || {
            let text = record.export_session(&session, kind.format)?;
            // A session that is on record has its beginning at least.
            if text.is_empty() || record.is_deleted(&session)? {
                return Err(missing_session_error(&session));
            }
            runtime::write_atomic(&file, text.as_bytes(), EXPORT_MODE).map_err(|error| {
                UserError::new(
                    format!("The session could not be written to {}.", file.display()),
                    "Choose another folder, or look whether the disk is full.",
                )
                .with_source(&error)
            })
        });
        written
            .await
            .map_err(|_| UserError::new("The export broke off.", "Try again."))?
    }
}

/// Returns a title as the name of a file that every system takes: letters, digits, spaces and a few marks.
fn file_stem(title: &str) -> String {
    let is_kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | ',');
    let kept: String = title
        .chars()
        .map(|c| if is_kept(c) { c } else { ' ' })
        .collect();
    let words: Vec<&str> = kept.split_whitespace().collect();
    let stem: String = words.join(" ").chars().take(NAME_CHARS_MAX).collect();
    let stem = stem.trim_matches([' ', '-', ',']);
    match stem.is_empty() {
        true => "session".to_owned(),
        false => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_becomes_a_name_that_every_system_takes() {
        for (title, stem) in [
            ("Fix the flaky test", "Fix the flaky test"),
            ("../../etc/passwd", "etc passwd"),
            ("C:\\a|b?<c>*\"d\"", "C a b c d"),
            ("line\none\u{202e}two", "line one two"),
            ("Über die Brücke, los!", "Über die Brücke, los"),
            ("...", "session"),
            ("", "session"),
            (&"long ".repeat(40), &"long ".repeat(12)[..59]),
        ] {
            assert_eq!(file_stem(title), stem, "{title:?}");
        }
    }

    #[test]
    fn only_files_to_read_and_keep_are_offered() {
        for name in ["md", "jsonl", "html"] {
            assert_eq!(ExportKind::parse(name).unwrap().extension, name);
        }
        for name in ["chat", "", "exe"] {
            assert!(ExportKind::parse(name).is_err(), "{name}");
        }
    }
}
