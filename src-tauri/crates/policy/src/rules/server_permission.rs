//! `mcp:server:tool`: the other spelling of `server__tool`, for people who know servers by it.

use std::borrow::Cow;

use protocol::server::mcp_servers::ServerId;

const PREFIX: &str = "mcp:";

/// Resolves a permission to the name that it stands for: itself, or the tool that `mcp:server:tool` names.
/// `mcp:server:*` and `mcp:server` stand for all tools of the server.
///
/// # Errors
/// The permission begins with the prefix but names no server or tool; a sentence without its end.
pub(crate) fn resolve_permission(permission: &str) -> Result<Cow<'_, str>, String> {
    let Some(rest) = permission.strip_prefix(PREFIX) else {
        return Ok(Cow::Borrowed(permission));
    };
    let (server, tool) = rest.split_once(':').unwrap_or((rest, "*"));
    let server = ServerId::try_from(server.to_owned())?;
    let bare = tool.strip_suffix('*').unwrap_or(tool);
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match !tool.is_empty() && bare.chars().all(fits) {
        true => Ok(Cow::Owned(format!("{server}__{tool}"))),
        false => Err(format!(
            "`{permission}` names no tool; write it as it is listed, `mcp:server:tool`, or `mcp:server:*` for all of them"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_another_spelling_and_nothing_else() {
        for (written, named_as) in [
            ("bash", Some("bash")),
            ("mode:local", Some("mode:local")),
            ("mcp", Some("mcp")),
            ("mcp__x", Some("mcp__x")),
            ("mcp:files:read_file", Some("files__read_file")),
            ("mcp:files:read_*", Some("files__read_*")),
            ("mcp:files:*", Some("files__*")),
            ("mcp:files", Some("files__*")),
            ("mcp:", None),
            ("mcp:*", None),
            ("mcp:*:read", None),
            ("mcp:fi__les:read", None),
            ("mcp:files:", None),
            ("mcp:files:a.b", None),
            ("mcp:files:a b", None),
            ("mcp:files:a:b", None),
            ("mcp:files:**", None),
        ] {
            let found = resolve_permission(written);
            assert_eq!(found.as_deref().ok(), named_as, "{written}");
        }
    }
}
