//! Language servers that are offered by name: their commands, their file types, and the code in a folder that they may
//! run.

use std::collections::BTreeMap;

use protocol::server::language_servers::LanguageServer;
use serde_json::{Value, json};

/// A language server as its makers configure it.
#[derive(Debug, Clone, Copy)]
pub struct ServerPreset {
    /// Id of the server in the settings.
    pub id: &'static str,
    /// Display name of the server.
    pub title: &'static str,
    /// Name of the language or languages.
    pub language: &'static str,
    command: &'static str,
    args: &'static [&'static str],
    /// File extensions, each with the id of its language.
    file_types: &'static [(&'static str, &'static str)],
    /// Note on the code in a workspace folder that the server may run.
    pub execution_note: &'static str,
}

const PYTHON_FILES: &[(&str, &str)] = &[("py", "python"), ("pyi", "python")];
const PYTHON_EXECUTION_NOTE: &str = "Runs the Python that it finds, also one in the folder.";

/// All presets, in the order in which they are shown.
pub const SERVER_PRESETS: [ServerPreset; 14] = [
    ServerPreset {
        id: "rust-analyzer",
        title: "rust-analyzer",
        language: "Rust",
        command: "rust-analyzer",
        args: &[],
        file_types: &[("rs", "rust")],
        execution_note: "Runs cargo, and with it the build scripts and macros of the folder.",
    },
    ServerPreset {
        id: "typescript",
        title: "typescript-language-server",
        language: "TypeScript, JavaScript",
        command: "typescript-language-server",
        args: &["--stdio"],
        file_types: &[
            ("ts", "typescript"),
            ("mts", "typescript"),
            ("cts", "typescript"),
            ("tsx", "typescriptreact"),
            ("js", "javascript"),
            ("mjs", "javascript"),
            ("cjs", "javascript"),
            ("jsx", "javascriptreact"),
        ],
        execution_note: "Runs the TypeScript of the folder with its plugins.",
    },
    ServerPreset {
        id: "pyright",
        title: "Pyright",
        language: "Python",
        command: "pyright-langserver",
        args: &["--stdio"],
        file_types: PYTHON_FILES,
        execution_note: PYTHON_EXECUTION_NOTE,
    },
    ServerPreset {
        id: "basedpyright",
        title: "basedpyright",
        language: "Python",
        command: "basedpyright-langserver",
        args: &["--stdio"],
        file_types: PYTHON_FILES,
        execution_note: PYTHON_EXECUTION_NOTE,
    },
    ServerPreset {
        id: "pylsp",
        title: "python-lsp-server",
        language: "Python",
        command: "pylsp",
        args: &[],
        file_types: PYTHON_FILES,
        execution_note: PYTHON_EXECUTION_NOTE,
    },
    ServerPreset {
        id: "jedi",
        title: "jedi-language-server",
        language: "Python",
        command: "jedi-language-server",
        args: &[],
        file_types: PYTHON_FILES,
        execution_note: PYTHON_EXECUTION_NOTE,
    },
    ServerPreset {
        id: "gopls",
        title: "gopls",
        language: "Go",
        command: "gopls",
        args: &[],
        file_types: &[("go", "go")],
        execution_note: "Runs go, which may fetch modules and other toolchains.",
    },
    ServerPreset {
        id: "clangd",
        title: "clangd",
        language: "C, C++",
        command: "clangd",
        args: &[],
        file_types: &[
            ("c", "c"),
            ("h", "c"),
            ("cc", "cpp"),
            ("cpp", "cpp"),
            ("cxx", "cpp"),
            ("hh", "cpp"),
            ("hpp", "cpp"),
        ],
        execution_note: "Goes by the compile commands and the .clangd of the folder.",
    },
    ServerPreset {
        id: "zls",
        title: "ZLS",
        language: "Zig",
        command: "zls",
        args: &[],
        file_types: &[("zig", "zig")],
        execution_note: "Runs the build.zig of the folder.",
    },
    ServerPreset {
        id: "lua",
        title: "lua-language-server",
        language: "Lua",
        command: "lua-language-server",
        args: &[],
        file_types: &[("lua", "lua")],
        execution_note: "Runs plugins that the folder names, once it trusts them.",
    },
    ServerPreset {
        id: "ruby-lsp",
        title: "Ruby LSP",
        language: "Ruby",
        command: "ruby-lsp",
        args: &[],
        file_types: &[("rb", "ruby")],
        execution_note: "Runs bundler with the Gemfile of the folder.",
    },
    ServerPreset {
        id: "haskell",
        title: "Haskell Language Server",
        language: "Haskell",
        command: "haskell-language-server-wrapper",
        args: &["--lsp"],
        file_types: &[("hs", "haskell")],
        execution_note: "Runs cabal or stack, and Template Haskell of the folder.",
    },
    ServerPreset {
        id: "ocaml",
        title: "ocaml-lsp",
        language: "OCaml",
        command: "ocamllsp",
        args: &[],
        file_types: &[("ml", "ocaml"), ("mli", "ocaml.interface")],
        execution_note: "Runs dune and the preprocessors of the folder.",
    },
    ServerPreset {
        id: "bash",
        title: "bash-language-server",
        language: "Bash",
        command: "bash-language-server",
        args: &["start"],
        file_types: &[("sh", "shellscript"), ("bash", "shellscript")],
        execution_note: "Runs shellcheck where that is installed.",
    },
];

impl ServerPreset {
    /// Converts the preset to settings, switched off.
    pub fn to_settings(&self) -> LanguageServer {
        let files = self.file_types.iter();
        let files = files.map(|(ending, id)| ((*ending).to_owned(), (*id).to_owned()));
        LanguageServer {
            id: self.id.to_owned(),
            enabled: false,
            command: self.command.to_owned(),
            args: self.args.iter().map(|arg| (*arg).to_owned()).collect(),
            files: files.collect::<BTreeMap<_, _>>(),
        }
    }
}

/// Finds the preset of this id.
pub fn find_preset(id: &str) -> Option<&'static ServerPreset> {
    SERVER_PRESETS.iter().find(|known| known.id == id)
}

/// Returns the initialization options of the server of this id, which make its answers complete; `None` for most
/// servers.
pub(crate) fn initialization_options(id: &str) -> Option<Value> {
    match id {
        // Until it has loaded a folder it would ask a second server of its own, which knows each file by itself only. And it
        // would rename what is imported by another name for it here, `area as surface`, and leave it as it is elsewhere.
        "typescript" => Some(json!({
            "tsserver": { "useSyntaxServer": "never" },
            "preferences": { "providePrefixAndSuffixTextForRename": false },
        })),
        _ => None,
    }
}
