//! Servers that other products are set up with, read from their files: each off, and no secret taken over.
//!
//! Start reading at [`read`]; what becomes of a secret stands in `values.rs`.

mod raw;
mod values;

use std::path::{Path, PathBuf};

use protocol::Fault;
use protocol::servers::{
    SERVER_TIMEOUT_MS, SERVER_TIMEOUT_MS_MAX, ServerFound, ServerId, ServerSettings, ServerWay,
};

use crate::config::ServersFile;
use crate::limits::SERVERS_MAX;
use raw::Raw;
use values::Values;

/// A product whose servers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// `mcpServers` of `.mcp.json` and `.claude.json`.
    ClaudeCode,
    /// `mcpServers` of `claude_desktop_config.json`.
    ClaudeDesktop,
    /// `mcpServers` of `.cursor/mcp.json`.
    Cursor,
    /// `servers` of `.vscode/mcp.json`.
    VsCode,
    /// `mcp` of `opencode.json`.
    Opencode,
    /// `[mcp_servers.x]` of `.codex/config.toml`.
    Codex,
}

impl Product {
    /// Every product, with what it is called on the command line.
    pub const ALL: [(&'static str, Self); 6] = [
        ("claude-code", Self::ClaudeCode),
        ("claude-desktop", Self::ClaudeDesktop),
        ("cursor", Self::Cursor),
        ("vscode", Self::VsCode),
        ("opencode", Self::Opencode),
        ("codex", Self::Codex),
    ];

    /// What a person calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Opencode => "opencode",
            Self::Codex => "Codex",
        }
    }
}

/// Where products keep the servers of a project, below its folder.
const OF_PROJECTS: [(Product, &str); 6] = [
    (Product::ClaudeCode, ".mcp.json"),
    (Product::Cursor, ".cursor/mcp.json"),
    (Product::VsCode, ".vscode/mcp.json"),
    (Product::Opencode, "opencode.json"),
    (Product::Opencode, "opencode.jsonc"),
    (Product::Codex, ".codex/config.toml"),
];

/// Where they keep those of a person, below the home folder.
const OF_PERSONS: [(Product, &str); 12] = [
    (Product::ClaudeCode, ".claude.json"),
    (
        Product::ClaudeDesktop,
        ".config/Claude/claude_desktop_config.json",
    ),
    (
        Product::ClaudeDesktop,
        "Library/Application Support/Claude/claude_desktop_config.json",
    ),
    (
        Product::ClaudeDesktop,
        "AppData/Roaming/Claude/claude_desktop_config.json",
    ),
    (Product::Cursor, ".cursor/mcp.json"),
    (Product::VsCode, ".config/Code/User/mcp.json"),
    (
        Product::VsCode,
        "Library/Application Support/Code/User/mcp.json",
    ),
    (Product::VsCode, "AppData/Roaming/Code/User/mcp.json"),
    (Product::Opencode, ".config/opencode/opencode.json"),
    (Product::Opencode, ".config/opencode/opencode.jsonc"),
    (Product::Codex, ".codex/config.toml"),
    (Product::ClaudeCode, ".claude/.mcp.json"),
];

/// The files that may be there, each with the folder of its project if it is a project's.
pub fn places(
    home: Option<&Path>,
    project: Option<&Path>,
) -> Vec<(Product, PathBuf, Option<PathBuf>)> {
    let of_person = OF_PERSONS
        .iter()
        .filter_map(|(product, path)| Some((*product, home?.join(path), None)));
    let of_project = OF_PROJECTS.iter().filter_map(|(product, path)| {
        let folder = project?;
        Some((*product, folder.join(path), Some(folder.to_owned())))
    });
    of_project.chain(of_person).collect()
}

/// Reads the text of a product's file. `project` is the folder of the project whose file it is. Nothing if it names none.
///
/// # Errors
/// It is not what that product writes.
pub fn read(
    product: Product,
    text: &str,
    project: Option<&Path>,
) -> Result<Vec<ServerFound>, Fault> {
    let raw = raw::read(product, text)?;
    Ok(raw
        .into_iter()
        .take(SERVERS_MAX)
        .map(|(name, raw)| found(name, raw, project))
        .collect())
}

fn found(written: String, raw: Result<Raw, String>, project: Option<&Path>) -> ServerFound {
    let none = |why: String| ServerFound {
        written: written.clone(),
        settings: None,
        notes: vec![why],
        known: false,
    };
    let Some(id) = ServerId::near(&written) else {
        return none("Nothing of its name can be used.".to_owned());
    };
    let raw = match raw {
        Ok(raw) => raw,
        Err(why) => return none(why),
    };
    let mut values = Values::new(&id, project);
    let timeout_ms = raw.timeout_ms.unwrap_or(SERVER_TIMEOUT_MS);
    let way = match (raw.command, raw.url) {
        (Some(command), _) => {
            let args = values.args(raw.args);
            // Programs of a project are named from its folder.
            let folder = raw.folder.map(|folder| values.place(&folder));
            ServerWay::Stdio {
                command: values.place(&command),
                args,
                env: values.named(raw.env),
                folder: folder.or_else(|| project.map(|folder| folder.display().to_string())),
            }
        }
        (None, Some(url)) => ServerWay::Http {
            url: values.url(&url),
            headers: values.named(raw.headers),
            client: None,
        },
        (None, None) => return none("It has neither a command nor an address.".to_owned()),
    };
    let settings = ServerSettings {
        id: id.clone(),
        way,
        timeout_ms: timeout_ms.clamp(1, SERVER_TIMEOUT_MS_MAX),
        enabled: false,
    };
    let mut notes = raw.notes;
    notes.extend(values.into_notes());
    if settings.id.as_str() != written {
        notes.insert(0, format!("It is called `{}` here.", settings.id));
    }
    match tools::kept::check::<ServersFile>(&settings) {
        Ok(()) => ServerFound {
            written,
            settings: Some(settings),
            notes,
            known: false,
        },
        Err(fault) => none(fault.to_string()),
    }
}

#[cfg(test)]
mod tests;
