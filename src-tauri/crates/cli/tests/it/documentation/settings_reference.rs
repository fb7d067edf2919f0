//! The reference of the settings: every setting with its comment, its values, and its default.

use std::fmt::Write as _;

use protocol::Settings;
use serde_json::{Map, Value};
use syn::{Field, Type};

use super::assert_page_is;
use super::comments::read_comment;
use super::settings_types::{SettingsTypes, Shape, read_serde, shape_of};

const PREAMBLE: &str = "\
<!-- Written by the test `settings_reference`: change the comments of `protocol::Settings` instead. -->

# Settings

The settings are one file in TOML. `countersign config path` says where it is, `countersign config edit` opens it, and
`countersign config set SETTING VALUE` changes one line of it. A file that cannot be read makes every call ask until it is corrected.
";

/// The defaults, with the tables that are not written where all in them is as it was.
fn read_defaults() -> Value {
    let settings = Settings::default();
    let mut defaults = serde_json::to_value(&settings).unwrap();
    defaults["sandbox"] = serde_json::to_value(&settings.sandbox).unwrap();
    defaults["updates"] = serde_json::to_value(&settings.updates).unwrap();
    defaults["server_tools"] = serde_json::to_value(&settings.server_tools).unwrap();
    defaults
}

fn format_page(types: &SettingsTypes) -> String {
    let defaults = read_defaults();
    let mut page = PREAMBLE.to_owned();
    for field in types.fields_of("Settings").unwrap() {
        let serde = read_serde(&field.attrs);
        if serde.is_never_written {
            continue;
        }
        let name = serde
            .name
            .unwrap_or_else(|| field.ident.as_ref().unwrap().to_string());
        let shape = shape_of(&field.ty);
        let about = types.comment_of(&shape.inner);
        let comment = join_comments(&read_comment(&field.attrs), &about);
        write!(page, "\n## `{name}`\n\n{comment}\n").unwrap();
        let default = defaults.get(&name).unwrap_or(&Value::Null);
        match types.fields_of(&shape.inner) {
            Some(fields) => {
                let header = match (shape.is_list, shape.is_table) {
                    (true, _) => format!("[[{name}]]"),
                    (false, true) => format!("[{name}.NAME]"),
                    (false, false) => format!("[{name}]"),
                };
                write!(page, "\nBelow `{header}`:\n\n").unwrap();
                let no_defaults = Value::Object(Map::new());
                let default = match default.is_null() && types.has_defaults(&shape.inner) {
                    true => &no_defaults,
                    false => default,
                };
                add_fields(types, &fields, default, &mut page);
            }
            None => add_value(types, &shape, default, &mut page),
        }
    }
    page
}

/// Returns the comment of a setting and that of its type, unless one of them says no more than the other.
fn join_comments(setting: &str, about: &str) -> String {
    if about.len() <= setting.len() {
        return setting.to_owned();
    }
    match about.starts_with(setting.trim_end_matches('.')) {
        true => about.to_owned(),
        false => format!("{setting}\n\n{about}"),
    }
}

/// Adds a setting that is one value: what it may be, and what it is where it is not set.
fn add_value(types: &SettingsTypes, shape: &Shape, default: &Value, page: &mut String) {
    let values = types.values_of(&shape.inner);
    let default = format_default(default);
    match values.is_empty() || shape.is_table {
        true => write!(page, "\nIt is {}. {default}\n", shape.words).unwrap(),
        false => write!(page, "\n{default}\n\n").unwrap(),
    }
    if shape.is_table && !values.is_empty() {
        page.push_str("\nEach value is one of:\n\n");
    }
    for (value, comment) in values {
        writeln!(page, "- `{value}`: {comment}").unwrap();
    }
}

fn format_default(default: &Value) -> String {
    match default {
        Value::Null => "Not set by default.".to_owned(),
        Value::Array(list) if list.is_empty() => "Empty by default.".to_owned(),
        Value::Object(table) if table.is_empty() => "Empty by default.".to_owned(),
        value => format!("Default: `{value}`."),
    }
}

/// Adds the fields of a table as a list. `defaults` has those of a table that is there from the beginning.
fn add_fields(types: &SettingsTypes, fields: &[&Field], defaults: &Value, page: &mut String) {
    for field in fields {
        let serde = read_serde(&field.attrs);
        let name = field.ident.as_ref().unwrap().to_string();
        let shape = shape_of(&field.ty);
        let is_optional = matches!(&field.ty, Type::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == "Option"));
        let literal = serde
            .default_function
            .and_then(|function| types.literal_of(&function));
        let default = match (defaults.get(&name), literal) {
            (Some(value), _) if !value.is_null() => format!(" {}", format_default(value)),
            (_, Some(literal)) => format!(" Default: `{literal}`."),
            _ if is_optional || serde.has_default || defaults.is_object() => {
                " Optional.".to_owned()
            }
            _ => " Required.".to_owned(),
        };
        let comment = read_comment(&field.attrs);
        let values = types.values_of(&shape.inner);
        let inner = types.fields_of(&shape.inner);
        let words = match (values.is_empty(), &inner) {
            (true, None) => format!(" ({})", shape.words),
            _ => String::new(),
        };
        writeln!(page, "- `{name}`{words}: {comment}{default}").unwrap();
        for (value, comment) in values {
            writeln!(page, "  - `{value}`: {comment}").unwrap();
        }
        for line in inner.iter().flat_map(|inner| format_inner(types, inner)) {
            writeln!(page, "  {line}").unwrap();
        }
    }
}

fn format_inner(types: &SettingsTypes, fields: &[&Field]) -> Vec<String> {
    let mut lines = String::new();
    add_fields(types, fields, &Value::Null, &mut lines);
    lines.lines().map(String::from).collect()
}

#[test]
fn the_reference_of_the_settings_is_what_the_code_reads() {
    let page = format_page(&SettingsTypes::read());
    assert_page_is("docs/reference/settings.md", &page);
}
