//! The types of `protocol` that the settings are read into, taken from their source.

use std::collections::BTreeMap;

use syn::{Attribute, Expr, Field, Fields, Item, Lit, Type};

use super::comments::{read_comment, to_snake_case};
use super::read_page;

const PROTOCOL: &str = "src-tauri/crates/protocol/src";

/// Where the types of the settings are.
const SOURCES: [&str; 11] = [
    "settings/mod.rs",
    "settings/desktop.rs",
    "settings/editor.rs",
    "settings/limit.rs",
    "settings/programs.rs",
    "settings/sandbox.rs",
    "settings/updates.rs",
    "server/language_servers.rs",
    "server/server_tools.rs",
    "model.rs",
    "call/mode.rs",
];

/// The types of the settings by their names.
pub(super) struct SettingsTypes(BTreeMap<String, Item>);

impl SettingsTypes {
    pub(super) fn read() -> Self {
        let mut types = BTreeMap::new();
        for source in SOURCES {
            let file = syn::parse_file(&read_page(&format!("{PROTOCOL}/{source}"))).unwrap();
            for item in file.items {
                match &item {
                    Item::Struct(it) => types.insert(it.ident.to_string(), item),
                    Item::Enum(it) => types.insert(it.ident.to_string(), item),
                    Item::Fn(it) => types.insert(it.sig.ident.to_string(), item),
                    _ => None,
                };
            }
        }
        Self(types)
    }

    /// Fields of a type that is a table.
    pub(super) fn fields_of(&self, name: &str) -> Option<Vec<&Field>> {
        match self.0.get(name)? {
            Item::Struct(item) => match &item.fields {
                Fields::Named(fields) => Some(fields.named.iter().collect()),
                Fields::Unnamed(_) | Fields::Unit => None,
            },
            _ => None,
        }
    }

    /// Whether every field of a type that is a table has a default.
    pub(super) fn has_defaults(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Item::Struct(item)) if read_serde(&item.attrs).has_default)
    }

    /// The comment of a type that is a table.
    pub(super) fn comment_of(&self, name: &str) -> String {
        match self.0.get(name) {
            Some(Item::Struct(item)) => read_comment(&item.attrs),
            _ => String::new(),
        }
    }

    /// Values of a type that is a choice, each with its comment.
    pub(super) fn values_of(&self, name: &str) -> Vec<(String, String)> {
        let Some(Item::Enum(item)) = self.0.get(name) else {
            return Vec::new();
        };
        let variants = item.variants.iter().map(|variant| {
            let name = to_snake_case(&variant.ident.to_string());
            let written = match variant
                .fields
                .iter()
                .next()
                .and_then(|field| field.ident.as_ref())
            {
                Some(field) => format!("{{ {name} = {{ {field} = … }} }}"),
                None => name,
            };
            (written, read_comment(&variant.attrs))
        });
        variants.collect()
    }

    /// What a function for a default returns, if that is a literal.
    pub(super) fn literal_of(&self, function: &str) -> Option<String> {
        let Item::Fn(item) = self.0.get(function)? else {
            return None;
        };
        match item.block.stmts.as_slice() {
            [syn::Stmt::Expr(Expr::Lit(literal), None)] => match &literal.lit {
                Lit::Int(number) => Some(number.base10_digits().to_owned()),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What a type is in the file.
pub(super) struct Shape {
    /// In words.
    pub(super) words: &'static str,
    /// Name of the type of ours within it.
    pub(super) inner: String,
    pub(super) is_list: bool,
    pub(super) is_table: bool,
}

pub(super) fn shape_of(ty: &Type) -> Shape {
    let Type::Path(path) = ty else {
        panic!("a setting is of a named type");
    };
    let last = path.path.segments.last().unwrap();
    let name = last.ident.to_string();
    let arguments = match &last.arguments {
        syn::PathArguments::AngleBracketed(list) => list.args.iter().collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let inner = arguments.last().map(|argument| match argument {
        syn::GenericArgument::Type(ty) => shape_of(ty),
        _ => panic!("a setting's type has types for its arguments"),
    });
    let words = match name.as_str() {
        "bool" => "`true` or `false`",
        "u32" | "u64" | "NonZeroU32" => "a whole number",
        "f64" => "a number",
        _ => "a text",
    };
    match (last.ident.to_string().as_str(), inner) {
        ("Option", Some(inner)) => inner,
        ("Vec", Some(inner)) => Shape {
            words: "a list",
            is_list: true,
            ..inner
        },
        ("BTreeMap" | "Map", Some(inner)) => Shape {
            words: "a table",
            is_table: true,
            ..inner
        },
        _ => Shape {
            words,
            inner: name,
            is_list: false,
            is_table: false,
        },
    }
}

/// How a field is read.
#[derive(Default)]
pub(super) struct SerdeWords {
    pub(super) name: Option<String>,
    pub(super) has_default: bool,
    pub(super) default_function: Option<String>,
    pub(super) is_never_written: bool,
}

pub(super) fn read_serde(attributes: &[Attribute]) -> SerdeWords {
    let mut words = SerdeWords::default();
    for attribute in attributes.iter().filter(|it| it.path().is_ident("serde")) {
        attribute
            .parse_nested_meta(|meta| {
                let word = meta
                    .path
                    .get_ident()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let value = match meta.input.peek(syn::Token![=]) {
                    true => Some(meta.value()?.parse::<syn::LitStr>()?.value()),
                    false => None,
                };
                match word.as_str() {
                    "rename" => words.name = value,
                    "skip_serializing" => words.is_never_written = true,
                    "default" => (words.has_default, words.default_function) = (true, value),
                    _ => {}
                }
                Ok(())
            })
            .unwrap();
    }
    words
}
