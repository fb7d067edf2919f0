//! The products whose servers are read, and where each keeps them.

use std::path::{Path, PathBuf};

/// A product whose servers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    /// `mcpServers` of `.mcp.json` and `.claude.json`.
    ClaudeCode,
    /// `mcpServers` of `claude_desktop_config.json`.
    ClaudeDesktop,
    /// `mcpServers` of `cline_mcp_settings.json`.
    Cline,
    /// `[mcp_servers.x]` of `.codex/config.toml`.
    Codex,
    /// `mcpServers` of `.cursor/mcp.json`.
    Cursor,
    /// `mcpServers` of `.gemini/settings.json`.
    GeminiCli,
    /// `extensions` of `goose/config.yaml`.
    Goose,
    /// `mcp` of `opencode.json`.
    Opencode,
    /// `servers` of `.vscode/mcp.json`.
    VsCode,
    /// `mcpServers` of `windsurf/mcp_config.json`.
    Windsurf,
    /// `context_servers` of `settings.json`.
    Zed,
}

impl Product {
    /// Every product, with what it is called on the command line.
    pub const ALL: [(&'static str, Self); 11] = [
        ("claude-code", Self::ClaudeCode),
        ("claude-desktop", Self::ClaudeDesktop),
        ("cline", Self::Cline),
        ("codex", Self::Codex),
        ("cursor", Self::Cursor),
        ("gemini-cli", Self::GeminiCli),
        ("goose", Self::Goose),
        ("opencode", Self::Opencode),
        ("vscode", Self::VsCode),
        ("windsurf", Self::Windsurf),
        ("zed", Self::Zed),
    ];

    /// What a person calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cline => "Cline",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::GeminiCli => "Gemini CLI",
            Self::Goose => "Goose",
            Self::Opencode => "opencode",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
        }
    }
}

/// For whom a file, or a part of it, sets servers up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// For a person, wherever they work.
    Person,
    /// For whoever works in this folder.
    Project(PathBuf),
    /// For a person, and in this folder alone: the part of `.claude.json` that Claude Code writes by default.
    Local(PathBuf),
}

/// A file that may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whose file it is.
    pub product: Product,
    /// The file.
    pub file: PathBuf,
    /// For whom.
    pub scope: Scope,
}

/// Where products keep the servers of a project, below its folder.
const OF_PROJECTS: [(Product, &str); 8] = [
    (Product::ClaudeCode, ".mcp.json"),
    (Product::Cursor, ".cursor/mcp.json"),
    (Product::VsCode, ".vscode/mcp.json"),
    (Product::Opencode, "opencode.json"),
    (Product::Opencode, "opencode.jsonc"),
    (Product::Codex, ".codex/config.toml"),
    (Product::GeminiCli, ".gemini/settings.json"),
    (Product::Zed, ".zed/settings.json"),
];

/// Where they keep those of a person, below the home folder.
const OF_PERSONS: [(Product, &str); 22] = [
    (Product::ClaudeCode, CLAUDE_CODE),
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
    (Product::GeminiCli, ".gemini/settings.json"),
    (Product::Windsurf, ".codeium/windsurf/mcp_config.json"),
    (Product::Zed, ".config/zed/settings.json"),
    (Product::Zed, "AppData/Roaming/Zed/settings.json"),
    (Product::Goose, ".config/goose/config.yaml"),
    (
        Product::Goose,
        "AppData/Roaming/Block/goose/config/config.yaml",
    ),
    (
        Product::Cline,
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ),
    (
        Product::Cline,
        "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ),
    (
        Product::Cline,
        "AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ),
    (
        Product::Cline,
        ".cline/data/settings/cline_mcp_settings.json",
    ),
];

const CLAUDE_CODE: &str = ".claude.json";

/// The files that may be there.
pub fn places(home: Option<&Path>, project: Option<&Path>) -> Vec<Place> {
    let of_project = OF_PROJECTS.iter().filter_map(|(product, path)| {
        let folder = project?;
        Some(Place {
            product: *product,
            file: folder.join(path),
            scope: Scope::Project(folder.to_owned()),
        })
    });
    let local = home.zip(project).map(|(home, project)| Place {
        product: Product::ClaudeCode,
        file: home.join(CLAUDE_CODE),
        scope: Scope::Local(project.to_owned()),
    });
    let of_person = OF_PERSONS.iter().filter_map(|(product, path)| {
        Some(Place {
            product: *product,
            file: home?.join(path),
            scope: Scope::Person,
        })
    });
    of_project.chain(local).chain(of_person).collect()
}

/// The places that a file of a product is, given alone: that of the project whose file it is by its path, and in `.claude.json`
/// that of `folder` too. `file` is absolute.
pub fn places_of(product: Product, file: &Path, folder: Option<&Path>) -> Vec<Place> {
    let place = |scope| Place {
        product,
        file: file.to_owned(),
        scope,
    };
    let known = OF_PROJECTS.iter().filter(|(known, _)| *known == product);
    let mut of_project = known.filter_map(|(_, path)| without_end(file, path));
    let is_of_person = OF_PERSONS
        .iter()
        .any(|(known, path)| *known == product && file.ends_with(path));
    let scope = match (of_project.next(), file.parent()) {
        (Some(folder), _) => Scope::Project(folder.to_owned()),
        (None, Some(folder)) if !is_of_person => Scope::Project(folder.to_owned()),
        (None, _) => Scope::Person,
    };
    let local = folder.filter(|_| product == Product::ClaudeCode && file.ends_with(CLAUDE_CODE));
    let local = local.map(|folder| place(Scope::Local(folder.to_owned())));
    local.into_iter().chain([place(scope)]).collect()
}

/// The folder below which a file has this path.
fn without_end<'a>(file: &'a Path, end: &str) -> Option<&'a Path> {
    let levels = Path::new(end).components().count();
    file.ancestors().nth(levels).filter(|_| file.ends_with(end))
}
