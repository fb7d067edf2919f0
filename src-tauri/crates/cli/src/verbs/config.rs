//! `config`: settings.toml by key or in an editor, checked before it holds, its comments kept.

use std::path::{Path, PathBuf};

use agent::{DeskConfig, settings_file};
use protocol::{Fault, Settings};
use serde_json::{Value as Json, json};
use toml_edit::{DocumentMut, Item, Key, Table, TableLike, Value};

use super::kept::done;
use crate::args::Config;
use crate::ending::{Code, Ended, Ending};
use crate::out::{Ink, Out};
use crate::terminal::programs;

/// Reads or changes the settings.
pub(crate) async fn run(data_dir: Option<PathBuf>, asked: Config, out: &mut Out) -> Ended {
    let data_dir = DeskConfig::data_dir(data_dir).map_err(Ending::unusable)?;
    match asked {
        Config::Path => {
            let path = settings_file::path(&data_dir).display().to_string();
            match out.is_json() {
                true => out.json(&json!({ "path": path }))?,
                false => out.line(&path)?,
            }
            Ok(Code::Done)
        }
        Config::Get { setting } => get(&data_dir, setting.as_deref(), out),
        Config::Set { setting, value } => {
            let value = toml_value(&value);
            change(&data_dir, |document| put(document, &setting, value), out)
        }
        Config::Unset { setting } => change(&data_dir, |document| take(document, &setting), out),
        Config::Edit => edit(&data_dir, out),
    }
}

/// Shows one setting as it holds, or the text of the file.
fn get(data_dir: &Path, setting: Option<&str>, out: &mut Out) -> Ended {
    let text = settings_file::read(data_dir).map_err(Ending::unusable)?;
    let settings = settings_file::check(data_dir, &text).map_err(Ending::unusable)?;
    let all = as_json(&settings)?;
    let Some(setting) = setting else {
        match out.is_json() {
            true => out.json(&all)?,
            false if text.trim().is_empty() => {
                out.line(
                    "Nothing is set; the defaults hold. See one: countersign config get SETTING.",
                )?;
            }
            false => {
                let text = out.ink(Ink::Plain, text.trim_end());
                out.line(&text)?;
            }
        }
        return Ok(Code::Done);
    };
    let mut found = &all;
    let mut above = String::new();
    for key in keys(setting)? {
        let next = found.get(key.get());
        found = next.ok_or_else(|| unknown(found, setting, &above))?;
        above = setting.to_owned();
    }
    match (out.is_json(), found) {
        (true, value) => out.json(value)?,
        (false, Json::String(text)) => {
            let text = out.ink(Ink::Plain, text);
            out.line(&text)?;
        }
        (false, Json::Null) => out.line("")?,
        (false, value) => {
            let text = out.ink(Ink::Plain, &format!("{value:#}"));
            out.line(&text)?;
        }
    }
    Ok(Code::Done)
}

fn as_json(settings: &Settings) -> Result<Json, Ending> {
    serde_json::to_value(settings)
        .map_err(|error| Ending::failed("The settings have no JSON.").because(&error))
}

fn unknown(among: &Json, setting: &str, above: &str) -> Ending {
    let known: Vec<&str> = match among {
        Json::Object(members) => members.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let hint = match (known.is_empty(), above.is_empty()) {
        (true, _) => "It has no value, or none with a name in it.".to_owned(),
        (false, true) => format!("The settings are: {}.", known.join(", ")),
        (false, false) => format!("There it has: {}.", known.join(", ")),
    };
    Ending::usage(Fault::new(
        format!("There is no setting `{setting}`."),
        hint,
    ))
}

/// Changes the file and writes it, if it holds afterwards.
fn change(
    data_dir: &Path,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), Ending>,
    out: &mut Out,
) -> Ended {
    let text = settings_file::read(data_dir).map_err(Ending::unusable)?;
    let mut document: DocumentMut = text.parse().map_err(|_| {
        // What is wrong is named with its line by whoever reads the settings.
        let fault = settings_file::check(data_dir, &text).err();
        Ending::unusable(fault.unwrap_or_else(|| Fault::new("The settings are no TOML.", "")))
    })?;
    change(&mut document)?;
    settings_file::write(data_dir, &document.to_string(), &text).map_err(Ending::usage)?;
    done(out, "The settings are saved.")
}

fn keys(setting: &str) -> Result<Vec<Key>, Ending> {
    Key::parse(setting).map_err(|error| {
        let message = format!("`{setting}` is no name of a setting.");
        Ending::usage(Fault::new(message, "Write it like `limits.turns`.")).because(&error)
    })
}

/// A value as it was written in TOML; a word that is none is a text.
fn toml_value(written: &str) -> Value {
    written
        .trim()
        .parse()
        .unwrap_or_else(|_| Value::from(written))
}

/// Sets a key, in its table; what stands around the old value stays.
fn put(document: &mut DocumentMut, setting: &str, mut value: Value) -> Result<(), Ending> {
    let keys = keys(setting)?;
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
            let message = format!("`{}` is no table, so nothing can be set in it.", key.get());
            Ending::usage(Fault::new(message, "Set it as a whole, or edit the file."))
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
fn take(document: &mut DocumentMut, setting: &str) -> Result<(), Ending> {
    let keys = keys(setting)?;
    let not_set = || {
        let message = format!("The file does not set `{setting}`, so its default holds.");
        Ending::usage(Fault::new(
            message,
            "See what it sets: countersign config get.",
        ))
    };
    let (last, above) = keys.split_last().ok_or_else(not_set)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in above {
        let item = table.get_mut(key.get()).ok_or_else(not_set)?;
        table = item.as_table_like_mut().ok_or_else(not_set)?;
    }
    table.remove(last.get()).map(|_| ()).ok_or_else(not_set)
}

/// Opens the file in an editor. What does not hold is told and can be edited again; the file stays as it is meanwhile.
fn edit(data_dir: &Path, out: &mut Out) -> Ended {
    let before = settings_file::read(data_dir).map_err(Ending::unusable)?;
    let first = match before.is_empty() {
        true => "# The settings of Countersign. See: countersign config get\n",
        false => &before,
    };
    let mut text = first.to_owned();
    loop {
        text = programs::edit(&text, "settings.toml")?;
        if text == before || (before.is_empty() && text == first) {
            return done(out, "Nothing was changed.");
        }
        match settings_file::write(data_dir, &text, &before) {
            Ok(()) => return done(out, "The settings are saved."),
            Err(fault) => {
                out.aside(&fault);
                if !programs::again()? {
                    return Err(Ending::unusable(Fault::new(
                        "The settings are as they were.",
                        "What was edited is not kept.",
                    )));
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
            put(&mut document, setting, toml_value(value)).unwrap();
            assert_eq!(document.to_string(), expected, "{setting}");
            take(&mut document, setting).unwrap();
            assert!(take(&mut document, setting).is_err(), "{setting}");
        }
        let mut document: DocumentMut = text.parse().unwrap();
        assert!(put(&mut document, "theme.colour", toml_value("1")).is_err());
    }
}
