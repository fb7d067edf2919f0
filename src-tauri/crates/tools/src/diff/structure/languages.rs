//! How definitions begin in common languages.

/// The definitions of one family of languages.
pub(super) struct CodeLanguage {
    /// Names of the languages.
    names: &'static [&'static str],
    /// Words that begin a definition.
    pub keywords: &'static [&'static str],
    /// Words that begin a definition only where a function follows.
    pub values: &'static [&'static str],
    /// Other lines that begin a definition.
    pub shapes: &'static [Shape],
}

/// A line that begins a definition without a word that says so.
pub(super) enum Shape {
    /// A name with parameters and a body: `int main(void) {`.
    Call,
    /// Anything that ends with an opening brace: `.card > a {`.
    Brace,
    /// A tag that is not indented: `<script>`.
    Tag,
}

const LANGUAGES: &[CodeLanguage] = &[
    CodeLanguage {
        names: &["rust"],
        keywords: &[
            "fn",
            "impl",
            "mod",
            "struct",
            "enum",
            "trait",
            "union",
            "macro_rules!",
            "const",
            "static",
            "type",
        ],
        values: &[],
        shapes: &[],
    },
    CodeLanguage {
        names: &["python"],
        keywords: &["class", "def"],
        values: &[],
        shapes: &[],
    },
    CodeLanguage {
        names: &["typescript", "tsx", "javascript", "jsx"],
        keywords: &[
            "class",
            "function",
            "function*",
            "interface",
            "enum",
            "namespace",
            "module",
            "type",
        ],
        values: &["const", "let", "var"],
        shapes: &[Shape::Call],
    },
    CodeLanguage {
        names: &["svelte", "vue", "html"],
        keywords: &["class", "function", "function*", "interface", "enum"],
        values: &["const", "let", "var"],
        shapes: &[Shape::Call, Shape::Tag],
    },
    CodeLanguage {
        names: &["go"],
        keywords: &["func", "type", "const", "var"],
        values: &[],
        shapes: &[],
    },
    CodeLanguage {
        names: &["java", "csharp", "groovy", "dart", "php"],
        keywords: &[
            "class",
            "interface",
            "@interface",
            "enum",
            "record",
            "struct",
            "namespace",
            "trait",
            "mixin",
            "extension",
            "function",
            "def",
        ],
        values: &[],
        shapes: &[Shape::Call],
    },
    CodeLanguage {
        names: &["c", "cpp"],
        keywords: &["class", "struct", "union", "enum", "namespace"],
        values: &[],
        shapes: &[Shape::Call],
    },
    CodeLanguage {
        names: &["kotlin", "swift", "scala"],
        keywords: &[
            "class",
            "interface",
            "object",
            "protocol",
            "extension",
            "enum",
            "struct",
            "actor",
            "trait",
            "fun",
            "func",
            "def",
            "init",
        ],
        values: &[],
        shapes: &[],
    },
    CodeLanguage {
        names: &["ruby", "elixir", "julia", "lua"],
        keywords: &[
            "class",
            "module",
            "def",
            "defmodule",
            "defp",
            "defmacro",
            "function",
            "struct",
            "macro",
        ],
        values: &[],
        shapes: &[],
    },
    CodeLanguage {
        names: &["bash", "powershell", "perl", "zig"],
        keywords: &["function", "class", "sub", "package", "fn"],
        values: &[],
        shapes: &[Shape::Call],
    },
    CodeLanguage {
        names: &["css", "scss", "terraform", "protobuf", "graphql"],
        keywords: &[],
        values: &[],
        shapes: &[Shape::Brace],
    },
];

/// Returns how definitions begin in a language; none if it is not known.
pub(super) fn find_language(name: &str) -> Option<&'static CodeLanguage> {
    LANGUAGES
        .iter()
        .find(|language| language.names.contains(&name))
}
