//! Language servers that are offered by name: what starts them, which files they know, and what of a folder they run.

use std::collections::BTreeMap;

use protocol::languages::LanguageServer;
use serde_json::{Value, json};

/// A language server as its makers have it.
#[derive(Debug, Clone, Copy)]
pub struct KnownServer {
    /// Its id in the settings.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The language or languages.
    pub language: &'static str,
    command: &'static str,
    args: &'static [&'static str],
    /// Endings of files, each with the id of its language.
    files: &'static [(&'static str, &'static str)],
    /// What it may run of a folder that it works in.
    pub runs: &'static str,
}

const PYTHON: &[(&str, &str)] = &[("py", "python"), ("pyi", "python")];
const RUNS_PYTHON: &str = "Runs the Python that it finds, also one in the folder.";

/// All of them, in the order that they are shown.
pub const KNOWN: [KnownServer; 14] = [
    KnownServer {
        id: "rust-analyzer",
        title: "rust-analyzer",
        language: "Rust",
        command: "rust-analyzer",
        args: &[],
        files: &[("rs", "rust")],
        runs: "Runs cargo, and with it the build scripts and macros of the folder.",
    },
    KnownServer {
        id: "typescript",
        title: "typescript-language-server",
        language: "TypeScript, JavaScript",
        command: "typescript-language-server",
        args: &["--stdio"],
        files: &[
            ("ts", "typescript"),
            ("mts", "typescript"),
            ("cts", "typescript"),
            ("tsx", "typescriptreact"),
            ("js", "javascript"),
            ("mjs", "javascript"),
            ("cjs", "javascript"),
            ("jsx", "javascriptreact"),
        ],
        runs: "Runs the TypeScript of the folder with its plugins.",
    },
    KnownServer {
        id: "pyright",
        title: "Pyright",
        language: "Python",
        command: "pyright-langserver",
        args: &["--stdio"],
        files: PYTHON,
        runs: RUNS_PYTHON,
    },
    KnownServer {
        id: "basedpyright",
        title: "basedpyright",
        language: "Python",
        command: "basedpyright-langserver",
        args: &["--stdio"],
        files: PYTHON,
        runs: RUNS_PYTHON,
    },
    KnownServer {
        id: "pylsp",
        title: "python-lsp-server",
        language: "Python",
        command: "pylsp",
        args: &[],
        files: PYTHON,
        runs: RUNS_PYTHON,
    },
    KnownServer {
        id: "jedi",
        title: "jedi-language-server",
        language: "Python",
        command: "jedi-language-server",
        args: &[],
        files: PYTHON,
        runs: RUNS_PYTHON,
    },
    KnownServer {
        id: "gopls",
        title: "gopls",
        language: "Go",
        command: "gopls",
        args: &[],
        files: &[("go", "go")],
        runs: "Runs go, which may fetch modules and other toolchains.",
    },
    KnownServer {
        id: "clangd",
        title: "clangd",
        language: "C, C++",
        command: "clangd",
        args: &[],
        files: &[
            ("c", "c"),
            ("h", "c"),
            ("cc", "cpp"),
            ("cpp", "cpp"),
            ("cxx", "cpp"),
            ("hh", "cpp"),
            ("hpp", "cpp"),
        ],
        runs: "Goes by the compile commands and the .clangd of the folder.",
    },
    KnownServer {
        id: "zls",
        title: "ZLS",
        language: "Zig",
        command: "zls",
        args: &[],
        files: &[("zig", "zig")],
        runs: "Runs the build.zig of the folder.",
    },
    KnownServer {
        id: "lua",
        title: "lua-language-server",
        language: "Lua",
        command: "lua-language-server",
        args: &[],
        files: &[("lua", "lua")],
        runs: "Runs plugins that the folder names, once it trusts them.",
    },
    KnownServer {
        id: "ruby-lsp",
        title: "Ruby LSP",
        language: "Ruby",
        command: "ruby-lsp",
        args: &[],
        files: &[("rb", "ruby")],
        runs: "Runs bundler with the Gemfile of the folder.",
    },
    KnownServer {
        id: "haskell",
        title: "Haskell Language Server",
        language: "Haskell",
        command: "haskell-language-server-wrapper",
        args: &["--lsp"],
        files: &[("hs", "haskell")],
        runs: "Runs cabal or stack, and Template Haskell of the folder.",
    },
    KnownServer {
        id: "ocaml",
        title: "ocaml-lsp",
        language: "OCaml",
        command: "ocamllsp",
        args: &[],
        files: &[("ml", "ocaml"), ("mli", "ocaml.interface")],
        runs: "Runs dune and the preprocessors of the folder.",
    },
    KnownServer {
        id: "bash",
        title: "bash-language-server",
        language: "Bash",
        command: "bash-language-server",
        args: &["start"],
        files: &[("sh", "shellscript"), ("bash", "shellscript")],
        runs: "Runs shellcheck where that is installed.",
    },
];

impl KnownServer {
    /// As the settings have it, off.
    pub fn settings(&self) -> LanguageServer {
        let files = self.files.iter();
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

/// The one of this id.
pub fn known(id: &str) -> Option<&'static KnownServer> {
    KNOWN.iter().find(|known| known.id == id)
}

/// What the server of this id is told of its own ways when it begins, so that its answers are whole; nothing for most.
pub(crate) fn options(id: &str) -> Option<Value> {
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
