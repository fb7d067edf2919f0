//! Detects the language of a file by its name, for syntax highlighting.

/// Returns the name of the language in lower case; empty if it is not known.
pub fn detect_language(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    match name.as_str() {
        "dockerfile" | "containerfile" => return "dockerfile",
        "makefile" | "gnumakefile" => return "makefile",
        "cmakelists.txt" => return "cmake",
        "cargo.lock" | "poetry.lock" => return "toml",
        ".bashrc" | ".profile" | ".zshrc" => return "bash",
        ".editorconfig" | ".gitconfig" => return "ini",
        _ => {}
    }
    let Some((_, extension)) = name.rsplit_once('.') else {
        return "";
    };
    match extension {
        "rs" => "rust",
        "ts" | "mts" | "cts" => "typescript",
        "tsx" => "tsx",
        "js" | "mjs" | "cjs" => "javascript",
        "jsx" => "jsx",
        "svelte" => "svelte",
        "vue" => "vue",
        "py" | "pyi" => "python",
        "go" => "go",
        "java" => "java",
        "kt" | "kts" => "kotlin",
        "swift" => "swift",
        "c" | "h" => "c",
        "cc" | "cpp" | "cxx" | "hpp" | "hh" => "cpp",
        "cs" => "csharp",
        "rb" => "ruby",
        "php" => "php",
        "lua" => "lua",
        "ex" | "exs" => "elixir",
        "zig" => "zig",
        "scala" | "sbt" => "scala",
        "dart" => "dart",
        "hs" => "haskell",
        "ml" | "mli" => "ocaml",
        "fs" | "fsx" => "fsharp",
        "erl" | "hrl" => "erlang",
        "clj" | "cljs" => "clojure",
        "jl" => "julia",
        "r" => "r",
        "pl" | "pm" => "perl",
        "groovy" | "gradle" => "groovy",
        "nix" => "nix",
        "tf" => "terraform",
        "proto" => "protobuf",
        "graphql" | "gql" => "graphql",
        "ipynb" => "notebook",
        "html" | "htm" => "html",
        "css" => "css",
        "scss" => "scss",
        "json" | "jsonc" => "json",
        "jsonl" | "ndjson" => "json",
        "toml" => "toml",
        "yaml" | "yml" => "yaml",
        "ini" | "cfg" | "conf" => "ini",
        "xml" | "svg" => "xml",
        "md" | "markdown" => "markdown",
        "sql" => "sql",
        "sh" | "bash" | "zsh" => "bash",
        "ps1" => "powershell",
        "diff" | "patch" => "diff",
        "txt" => "text",
        _ => "",
    }
}
