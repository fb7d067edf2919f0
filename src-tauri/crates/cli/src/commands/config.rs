//! `config`: reads and changes settings.toml by key or in an editor. Changes are validated before they are written, and
//! comments are kept.

use std::path::{Path, PathBuf};

use agent::EngineConfig;
use agent::engine::settings::file;
use protocol::{Settings, UserError};
use serde_json::{Value as Json, json};
use toml_edit::{DocumentMut, Item, Key, Table, TableLike, Value};

use super::source_commands::report_done;
use crate::args::ConfigCommand;
use crate::exit::{CliError, CliResult};
use crate::output::{OutputWriter, TextStyle};
use crate::terminal::external_programs;

/// Reads or changes the settings.
pub(crate) fn run_config(
    data_dir: Option<PathBuf>,
    command: ConfigCommand,
    out: &mut OutputWriter,
) -> CliResult {
    let data_dir = EngineConfig::resolve_data_dir(data_dir).map_err(CliError::config_error)?;
    match command {
        ConfigCommand::Path => {
            let path = file::settings_path(&data_dir).display().to_string();
            out.write_answer(&json!({ "path": path }), |out| out.write_line(&path))
        }
        ConfigCommand::Get { setting } => show_setting(&data_dir, setting.as_deref(), out),
        ConfigCommand::Set { setting, value } => {
            let value = parse_toml_value(&value);
            change_file(
                &data_dir,
                |document| set_value(document, &setting, value),
                out,
            )
        }
        ConfigCommand::Unset { setting } => {
            change_file(&data_dir, |document| remove_value(document, &setting), out)
        }
        ConfigCommand::Edit => edit_file(&data_dir, out),
    }
}

/// Shows the effective value of one setting, or the text of the file.
fn show_setting(data_dir: &Path, setting: Option<&str>, out: &mut OutputWriter) -> CliResult {
    let text = file::read_text(data_dir).map_err(CliError::config_error)?;
    let settings = file::check_text(data_dir, &text).map_err(CliError::config_error)?;
    let all = settings_to_json(&settings)?;
    let Some(setting) = setting else {
        return out.write_answer(&all, |out| match text.trim().is_empty() {
            true => out.write_line(
                "Nothing is set; the defaults hold. See one: countersign config get SETTING.",
            ),
            false => out.write_styled(TextStyle::Plain, text.trim_end()),
        });
    };
    let mut value = &all;
    let mut above = String::new();
    for key in parse_key_path(setting)? {
        let next = value.get(key.get());
        value = next.ok_or_else(|| unknown_setting(value, setting, &above))?;
        above = setting.to_owned();
    }
    out.write_answer(value, |out| match value {
        Json::String(text) => out.write_styled(TextStyle::Plain, text),
        Json::Null => out.write_line(""),
        value => out.write_styled(TextStyle::Plain, &format!("{value:#}")),
    })
}

fn settings_to_json(settings: &Settings) -> Result<Json, CliError> {
    serde_json::to_value(settings)
        .map_err(|error| CliError::failure("The settings have no JSON.").with_cause(&error))
}

fn unknown_setting(among: &Json, setting: &str, above: &str) -> CliError {
    let known: Vec<&str> = match among {
        Json::Object(members) => members.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let hint = match (known.is_empty(), above.is_empty()) {
        (true, _) => "It has no value, or none with a name in it.".to_owned(),
        (false, true) => format!("The settings are: {}.", known.join(", ")),
        (false, false) => format!("There it has: {}.", known.join(", ")),
    };
    CliError::usage(format!("There is no setting `{setting}`."), hint)
}

/// Changes the file, and writes it if the result is valid.
fn change_file(
    data_dir: &Path,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), CliError>,
    out: &mut OutputWriter,
) -> CliResult {
    let text = file::read_text(data_dir).map_err(CliError::config_error)?;
    let mut document: DocumentMut = text.parse().map_err(|_| {
        // The reader of the settings names the error with its line.
        let fault = file::check_text(data_dir, &text).err();
        CliError::config_error(
            fault.unwrap_or_else(|| UserError::new("The settings are not TOML.", "")),
        )
    })?;
    change(&mut document)?;
    file::write_text(data_dir, &document.to_string(), &text).map_err(CliError::usage_error)?;
    report_done(out, "The settings are saved.")
}

/// Parses the path of a setting; a name of an earlier version stands for the present one.
fn parse_key_path(setting: &str) -> Result<Vec<Key>, CliError> {
    let mut keys = Key::parse(setting).map_err(|error| {
        let message = format!("`{setting}` is not a setting.");
        CliError::usage(message, "Write it like `limits.turns`.").with_cause(&error)
    })?;
    if let Some(first) = keys.first_mut() {
        let mut names = Settings::EARLIER_NAMES.iter();
        if let Some((_, present)) = names.find(|(earlier, _)| first.get() == *earlier) {
            *first = Key::new(*present);
        }
    }
    Ok(keys)
}

/// Parses the path of a setting, with the name that the file has for it.
fn parse_key_path_in(document: &DocumentMut, setting: &str) -> Result<Vec<Key>, CliError> {
    let mut keys = parse_key_path(setting)?;
    if let Some(first) = keys.first_mut() {
        let mut names = Settings::EARLIER_NAMES.iter();
        let written = names
            .find(|(earlier, present)| first.get() == *present && document.contains_key(earlier));
        if let Some((earlier, _)) = written {
            *first = Key::new(*earlier);
        }
    }
    Ok(keys)
}

/// Parses a value in TOML; a word that is not valid TOML becomes a string.
fn parse_toml_value(text: &str) -> Value {
    text.trim().parse().unwrap_or_else(|_| Value::from(text))
}

/// Sets a key in its table; the text around the old value stays.
fn set_value(document: &mut DocumentMut, setting: &str, mut value: Value) -> Result<(), CliError> {
    let keys = parse_key_path_in(document, setting)?;
    let Some((last, above)) = keys.split_last() else {
        return Ok(());
    };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in above {
        let mut fresh = Table::new();
        fresh.set_implicit(true);
        let item = table
            .entry_format(key)
            .or_insert_with(|| Item::Table(fresh));
        table = item.as_table_like_mut().ok_or_else(|| {
            let message = format!(
                "`{}` is not a table, so nothing can be set in it.",
                key.get()
            );
            CliError::usage(message, "Set it as a whole, or edit the file.")
        })?;
    }
    match table.get_mut(last.get()) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(item @ (Item::Table(_) | Item::ArrayOfTables(_) | Item::None)) => {
            *item = Item::Value(value);
        }
        None => {
            table.insert(last.get(), Item::Value(value));
        }
    }
    Ok(())
}

/// Removes a key.
fn remove_value(document: &mut DocumentMut, setting: &str) -> Result<(), CliError> {
    let keys = parse_key_path_in(document, setting)?;
    let not_set = || {
        let message = format!("The file does not set `{setting}`, so its default holds.");
        CliError::usage(message, "See what it sets: countersign config get.")
    };
    let (last, above) = keys.split_last().ok_or_else(not_set)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in above {
        let item = table.get_mut(key.get()).ok_or_else(not_set)?;
        table = item.as_table_like_mut().ok_or_else(not_set)?;
    }
    table.remove(last.get()).map(|_| ()).ok_or_else(not_set)
}

/// Opens the file in an editor. An invalid result is reported and can be edited again; meanwhile the file stays
/// unchanged.
fn edit_file(data_dir: &Path, out: &mut OutputWriter) -> CliResult {
    let before = file::read_text(data_dir).map_err(CliError::config_error)?;
    let first = match before.is_empty() {
        true => "# The settings of Countersign. See: countersign config get\n",
        false => &before,
    };
    let mut text = first.to_owned();
    loop {
        text = external_programs::edit_text(&text, "settings.toml")?;
        if text == before || (before.is_empty() && text == first) {
            return report_done(out, "Nothing was changed.");
        }
        match file::write_text(data_dir, &text, &before) {
            Ok(()) => return report_done(out, "The settings are saved."),
            Err(fault) => {
                out.write_warning(&fault);
                if !external_programs::ask("Edit again?")? {
                    return Err(CliError::config(
                        "The settings are as they were.",
                        "What was edited is not kept.",
                    ));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_changes_and_all_else_stays() {
        let text = "# mine\ntheme = \"dark\" # at night\n\n[limits] # of a run\nturns = 5\n";
        for (setting, value, expected) in [
            (
                "theme",
                "light",
                text.replace("\"dark\" # at", "\"light\" # at"),
            ),
            ("limits.turns", "7", text.replace("= 5", "= 7")),
            ("limits.calls", "9", format!("{text}calls = 9\n")),
            (
                "model.provider",
                "ollama",
                format!("{text}\n[model]\nprovider = \"ollama\"\n"),
            ),
            (
                "notify",
                "false",
                text.replace("night\n", "night\nnotify = false\n"),
            ),
        ] {
            let mut document: DocumentMut = text.parse().unwrap();
            set_value(&mut document, setting, parse_toml_value(value)).unwrap();
            assert_eq!(document.to_string(), expected, "{setting}");
            remove_value(&mut document, setting).unwrap();
            assert!(remove_value(&mut document, setting).is_err(), "{setting}");
        }
        let mut document: DocumentMut = text.parse().unwrap();
        assert!(set_value(&mut document, "theme.colour", parse_toml_value("1")).is_err());
    }

    #[test]
    fn a_setting_of_an_earlier_version_changes_where_it_stands() {
        for (before, after) in [
            (
                "[rooms] # of mine\nclosed = [\"/a\"]\n",
                "[rooms] # of mine\nclosed = [\"/a\"]\nmemory_mib = 512\n",
            ),
            (
                "[sandbox]\nclosed = [\"/a\"]\n",
                "[sandbox]\nclosed = [\"/a\"]\nmemory_mib = 512\n",
            ),
            ("", "[sandbox]\nmemory_mib = 512\n"),
        ] {
            for setting in ["sandbox.memory_mib", "rooms.memory_mib"] {
                let mut document: DocumentMut = before.parse().unwrap();
                set_value(&mut document, setting, parse_toml_value("512")).unwrap();
                assert_eq!(document.to_string(), after, "{setting}");
                let read: Settings = toml_edit::de::from_str(after).unwrap();
                assert_eq!(read.sandbox.memory_mib.unwrap().get(), 512);
                remove_value(&mut document, setting).unwrap();
                let left: Settings = toml_edit::de::from_document(document).unwrap();
                assert_eq!(left.sandbox.memory_mib, None, "{setting}");
            }
        }
    }
}
