//! From a tool's name, and what it declared, to its mode (`S000-21`): one table for engine, command line and interface.

use protocol::ToolMode;

/// A mode and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// The mode; none if neither declaration nor name says which (M21): such a call asks.
    pub mode: Option<ToolMode>,
    /// Where it comes from, as a person reads it: "declared by the tool", "from the pattern `delete_`".
    pub from: String,
}

/// Name beginnings and the mode that they imply (`S000-27` to `S000-30`). No name begins like two of them.
pub const PATTERNS: [(&str, ToolMode); 15] = [
    ("get_", ToolMode::Read),
    ("list_", ToolMode::Read),
    ("read_", ToolMode::Read),
    ("search_", ToolMode::Read),
    ("create_", ToolMode::SafeWrite),
    ("update_", ToolMode::SafeWrite),
    ("add_", ToolMode::SafeWrite),
    ("set_", ToolMode::SafeWrite),
    ("delete_", ToolMode::Destructive),
    ("remove_", ToolMode::Destructive),
    ("archive_", ToolMode::Destructive),
    ("drop_", ToolMode::Destructive),
    ("local_", ToolMode::Local),
    ("shell_", ToolMode::Local),
    ("exec_", ToolMode::Local),
];

/// The mode of a tool. What was declared at registration wins over the name (`S000-33`).
pub fn classify(name: &str, declared: Option<ToolMode>) -> Classified {
    if let Some(mode) = declared {
        return Classified {
            mode: Some(mode),
            from: "declared by the tool".to_owned(),
        };
    }
    // The specification writes the last of them as `^exec`, without an underscore.
    let by_name = PATTERNS.iter().find(|(start, _)| {
        name.starts_with(start) || (*start == "exec_" && name.starts_with("exec"))
    });
    match by_name {
        Some((start, mode)) => Classified {
            mode: Some(*mode),
            from: format!("from the pattern `{start}`"),
        },
        None => Classified {
            mode: None,
            from: "not declared, and its name fits no pattern".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_declarations() {
        use ToolMode::{Destructive, External, Local, Read, SafeWrite};
        for (id, name, declared, mode) in [
            ("S000-27", "get_user", None, Some(Read)),
            ("S000-27", "list_files", None, Some(Read)),
            ("S000-27", "read_file", None, Some(Read)),
            ("S000-27", "search_web", None, Some(Read)),
            ("S000-28", "update_event", None, Some(SafeWrite)),
            ("S000-28", "add_user", None, Some(SafeWrite)),
            ("S000-28", "set_flag", None, Some(SafeWrite)),
            ("S000-47", "create_event", None, Some(SafeWrite)),
            ("S000-29", "delete_path", None, Some(Destructive)),
            ("S000-29", "remove_user", None, Some(Destructive)),
            ("S000-29", "archive_mail", None, Some(Destructive)),
            ("S000-29", "drop_table", None, Some(Destructive)),
            ("S000-30", "local_open", None, Some(Local)),
            ("S000-30", "shell_run", None, Some(Local)),
            ("S000-30", "exec_code", None, Some(Local)),
            ("S000-31", "forget_user", None, None),
            ("S000-31", "widget_list", None, None),
            ("S000-32", "fetch_page", None, None),
            ("S000-32", "", None, None),
            ("S000-33", "get_user", Some(External), Some(External)),
        ] {
            assert_eq!(classify(name, declared).mode, mode, "{id}: {name}");
        }
    }
}
