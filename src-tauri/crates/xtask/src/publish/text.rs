//! Texts of generated files: quoted, and written.

use std::path::Path;

use crate::failure::Failure;

/// Quotes a text as YAML, JSON, and Ruby all read it.
pub fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace("#{", "\\u0023{"))
}

/// Quotes a text for a shell.
pub fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Escapes a text that stands between two elements of XML.
pub fn escape_xml(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// Writes a text file, and makes the folders that it is in.
pub fn write_text(file: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|e| Failure::file_error("make", folder, &e))?;
    }
    std::fs::write(file, text).map_err(|e| Failure::file_error("write", file, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_one_text_wherever_it_stands() {
        assert_eq!(quote(r#"a "b" \ #{c}"#), r#""a \"b\" \\ \u0023{c}""#);
        assert_eq!(quote_for_shell("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(escape_xml("a < b & c > d"), "a &lt; b &amp; c &gt; d");
    }
}
