//! INI and its relatives: sections with keys and values.

use super::tree::{Node, TreeBuilder};

/// Reads a text of sections in brackets and lines `key = value`.
pub(super) fn read_ini(text: &str) -> Option<Node<'_>> {
    let mut builder = TreeBuilder::new();
    for (line, text) in text.lines().enumerate() {
        let text = text.trim();
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        let section = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Some(section) = section {
            if builder.depth() > 0 {
                builder.close(0)?;
            }
            builder.open_name(section, line)?;
        } else {
            let (key, value) = text.split_once(['=', ':']).unwrap_or((text, ""));
            builder.open_name(key.trim_end(), line)?;
            builder.set_value(value.trim_start(), line)?;
            builder.close(line)?;
        }
    }
    if builder.depth() > 0 {
        builder.close(0)?;
    }
    builder.finish()
}
