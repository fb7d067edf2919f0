//! Finding the id of a JSON-RPC message that cannot be parsed as a whole: because it is too long, too deeply nested, or
//! not JSON.

use serde_json::Value;

/// Longest id that is recognized, in bytes as written.
const ID_BYTES_MAX: usize = 1_024;

/// Scans a message byte by byte, in constant memory, and keeps the member `id` of its outermost object.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    depth: u64,
    /// Whether the message is an object, once its first byte was read.
    is_object: bool,
    text_state: TextState,
    position: ScanPosition,
    /// Member name, then the id, as written so far.
    buffer: Vec<u8>,
    id: Option<Value>,
}

/// Position of the scan relative to strings in quotes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum TextState {
    #[default]
    Outside,
    Inside,
    /// Directly after a backslash in a string.
    Escaped,
}

/// Position of the scan in the outermost object.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ScanPosition {
    #[default]
    Name,
    /// After the member name `id`.
    Id,
    /// After any other member name.
    Other,
}

impl IdScanner {
    /// Scans further bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.scan_byte(*byte));
    }

    /// Returns the id, if there is one that an answer can name: a number or a string.
    pub fn id(&self) -> Option<&Value> {
        self.id.as_ref()
    }

    fn scan_byte(&mut self, byte: u8) {
        let was = self.text_state;
        self.text_state = match (was, byte) {
            (TextState::Outside, b'"') => TextState::Inside,
            (TextState::Inside, b'"') | (TextState::Outside, _) => TextState::Outside,
            (TextState::Inside, b'\\') => TextState::Escaped,
            (TextState::Inside | TextState::Escaped, _) => TextState::Inside,
        };
        let is_text = was != TextState::Outside || byte == b'"';
        if !is_text && matches!(byte, b'{' | b'[') {
            self.is_object |= self.depth == 0 && byte == b'{';
            self.depth += 1;
            if self.depth == 1 {
                return;
            }
        }
        if !is_text && matches!(byte, b'}' | b']') {
            if self.depth == 1 {
                self.end_member();
            }
            self.depth = self.depth.saturating_sub(1);
            return;
        }
        if self.depth != 1 || !self.is_object {
            return;
        }
        match (is_text, byte) {
            (false, b',') => self.end_member(),
            (false, b':') if self.position == ScanPosition::Name => {
                self.position = match self.buffer.as_slice() {
                    b"\"id\"" => ScanPosition::Id,
                    _ => ScanPosition::Other,
                };
                self.buffer.clear();
            }
            (false, byte) if byte.is_ascii_whitespace() => {}
            _ if self.position != ScanPosition::Other && self.buffer.len() <= ID_BYTES_MAX => {
                self.buffer.push(byte)
            }
            _ => {}
        }
    }

    fn end_member(&mut self) {
        if self.position == ScanPosition::Id && self.buffer.len() <= ID_BYTES_MAX {
            let id = serde_json::from_slice(&self.buffer).ok();
            self.id = id.filter(|id: &Value| id.is_number() || id.is_string());
        }
        self.position = ScanPosition::Name;
        self.buffer.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(message: &str) -> Option<Value> {
        let mut scanner = IdScanner::default();
        scanner.feed(message.as_bytes());
        scanner.id().cloned()
    }

    #[test]
    fn the_id_is_found_where_nothing_else_can_be_read() {
        let deep = "[".repeat(100_000);
        for (message, found) in [
            (r#"{"id":7,"method":"x"}"#.to_owned(), Some(json!(7))),
            (
                r#"{"method":"x","params":{"id":1},"id":"a,\"b"}"#.to_owned(),
                Some(json!("a,\"b")),
            ),
            (r#"{ "id" : 3 , "method" : "#.to_owned(), Some(json!(3))),
            (format!(r#"{{"id":4,"params":{deep}"#), Some(json!(4))),
            (
                format!(r#"{{"params":{deep}{},"id":5}}"#, "]".repeat(100_000)),
                Some(json!(5)),
            ),
            (r#"{"id":null}"#.to_owned(), None),
            (r#"{"id":{"a":1}}"#.to_owned(), None),
            (r#"[{"id":1}]"#.to_owned(), None),
            (r#"{"x":"\"id\":1,"}"#.to_owned(), None),
            (format!(r#"{{"id":"{}"}}"#, "a".repeat(5_000)), None),
            ("not json".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(id(&message), found, "{}", &message[..message.len().min(60)]);
        }
    }
}
