//! The products whose servers can be imported, and the files in which each keeps them.

use std::path::{Path, PathBuf};

use self::ServerImportProduct as Product;

/// A product whose servers can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerImportProduct {
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

impl ServerImportProduct {
    /// Every product with its name on the command line.
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

    /// Returns the display name of the product.
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

/// Scope for which a file, or a part of it, sets servers up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportScope {
    /// All work of a person.
    Person,
    /// All work in this folder.
    Project(PathBuf),
    /// The work of a person in this folder alone: the part of `.claude.json` that Claude Code writes by default.
    Local(PathBuf),
}

/// A file that may exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportLocation {
    /// Product that owns the file.
    pub product: ServerImportProduct,
    /// The file.
    pub file: PathBuf,
    /// Scope of the file.
    pub scope: ImportScope,
}

/// Paths at which products keep the servers of a project, below its folder.
const PROJECT_FILES: [(Product, &str); 8] = [
    (Product::ClaudeCode, ".mcp.json"),
    (Product::Cursor, ".cursor/mcp.json"),
    (Product::VsCode, ".vscode/mcp.json"),
    (Product::Opencode, "opencode.json"),
    (Product::Opencode, "opencode.jsonc"),
    (Product::Codex, ".codex/config.toml"),
    (Product::GeminiCli, ".gemini/settings.json"),
    (Product::Zed, ".zed/settings.json"),
];

/// Paths at which products keep the servers of a person, below the home folder.
const USER_FILES: [(Product, &str); 22] = [
    (Product::ClaudeCode, CLAUDE_CODE_FILE),
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

const CLAUDE_CODE_FILE: &str = ".claude.json";

/// Returns the files that may exist.
pub fn import_locations(home: Option<&Path>, project: Option<&Path>) -> Vec<ImportLocation> {
    let of_project = PROJECT_FILES.iter().filter_map(|(product, path)| {
        let folder = project?;
        Some(ImportLocation {
            product: *product,
            file: folder.join(path),
            scope: ImportScope::Project(folder.to_owned()),
        })
    });
    let local = home.zip(project).map(|(home, project)| ImportLocation {
        product: ServerImportProduct::ClaudeCode,
        file: home.join(CLAUDE_CODE_FILE),
        scope: ImportScope::Local(project.to_owned()),
    });
    let of_person = USER_FILES.iter().filter_map(|(product, path)| {
        Some(ImportLocation {
            product: *product,
            file: home?.join(path),
            scope: ImportScope::Person,
        })
    });
    of_project.chain(local).chain(of_person).collect()
}

/// Returns the locations of a single given file of a product: the project that the file belongs to by its path and, for
/// `.claude.json`, also `folder`. `file` is absolute.
pub fn locations_for_file(
    product: ServerImportProduct,
    file: &Path,
    folder: Option<&Path>,
) -> Vec<ImportLocation> {
    let place = |scope| ImportLocation {
        product,
        file: file.to_owned(),
        scope,
    };
    let files = PROJECT_FILES.iter().filter(|(owner, _)| *owner == product);
    let mut of_project = files.filter_map(|(_, path)| strip_path_suffix(file, path));
    let is_of_person = USER_FILES
        .iter()
        .any(|(owner, path)| *owner == product && file.ends_with(path));
    let scope = match (of_project.next(), file.parent()) {
        (Some(folder), _) => ImportScope::Project(folder.to_owned()),
        (None, Some(folder)) if !is_of_person => ImportScope::Project(folder.to_owned()),
        (None, _) => ImportScope::Person,
    };
    let local = folder
        .filter(|_| product == ServerImportProduct::ClaudeCode && file.ends_with(CLAUDE_CODE_FILE));
    let local = local.map(|folder| place(ImportScope::Local(folder.to_owned())));
    local.into_iter().chain([place(scope)]).collect()
}

/// Returns the folder below which a file has this path.
fn strip_path_suffix<'a>(file: &'a Path, end: &str) -> Option<&'a Path> {
    let levels = Path::new(end).components().count();
    file.ancestors().nth(levels).filter(|_| file.ends_with(end))
}
