//! `apis.toml`: the services of a person, read with errors that name the line and changed one table at a time.

use std::collections::BTreeMap;

use protocol::Fault;
use protocol::apis::{API_TIMEOUT_MS_MAX, ApiAuth, ApiSettings, ApiSetup};
use protocol::servers::ServerId;
use protocol::shown::in_a_sentence;
use serde::Deserialize;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};
use tools::limits::VALUE_BYTES_MAX;
use tools::refs::refers;

use crate::api::is_address;
use crate::limits::{APIS_MAX, FILE_BYTES_MAX, NAMED_CHARS_MAX, VALUES_MAX};
use crate::parameter::is_token;

/// The name of the file, in the data folder.
pub const FILE: &str = "apis.toml";

const SECTION: &str = "apis";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    #[serde(default)]
    apis: BTreeMap<String, toml::Table>,
}

/// Reads the text of the file.
///
/// # Errors
/// The first thing that is wrong, with its line or its service: then no service of the file is used.
pub fn read(text: &str) -> Result<Vec<ApiSettings>, Fault> {
    let wrong = |what: String| {
        Fault::new(
            format!("{FILE}: {what}."),
            "Correct it. Until then no service of it is used.",
        )
    };
    if text.len() > FILE_BYTES_MAX {
        return Err(wrong(format!("it is longer than {FILE_BYTES_MAX} bytes")));
    }
    let whole: Whole = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.get(..at).unwrap_or("").matches('\n').count() + 1;
        wrong(format!("line {line}: {}", error.message()))
    })?;
    if whole.apis.len() > APIS_MAX {
        return Err(wrong(format!("it names more than {APIS_MAX} services")));
    }
    let all = whole.apis.into_iter();
    all.map(|(name, mut written)| {
        let id = ServerId::try_from(name).map_err(&wrong)?;
        let enabled = match written.remove("enabled") {
            None => false,
            Some(toml::Value::Boolean(enabled)) => enabled,
            Some(_) => {
                return Err(wrong(format!(
                    "`enabled` of `{id}` is neither true nor false"
                )));
            }
        };
        let setup: Result<ApiSetup, _> = toml::Value::Table(written).try_into();
        let setup =
            setup.map_err(|error| wrong(format!("the service `{id}`: {}", error.message())))?;
        let settings = ApiSettings { id, setup, enabled };
        check(&settings)?;
        Ok(settings)
    })
    .collect()
}

/// Whether a service can be set up so.
///
/// # Errors
/// What is wrong with it.
pub fn check(settings: &ApiSettings) -> Result<(), Fault> {
    let setup = &settings.setup;
    let wrong = |what: String, hint: &str| {
        let told = format!("The service `{}` cannot be set up so: {what}.", settings.id);
        Err(Fault::new(told, hint))
    };
    let document = setup.document.as_str();
    let is_file = std::path::Path::new(document).is_absolute();
    if !is_file && !is_address(document) {
        let what = "its document is neither an address nor the whole path of a file".to_owned();
        return wrong(
            what,
            "Write `document` like https://example.com/openapi.json, or like /home/me/openapi.yaml.",
        );
    }
    if !is_file && setup.follow_files {
        let what = "its document is no file, so there are no files beside it".to_owned();
        return wrong(what, "Leave `follow_files` out.");
    }
    let addresses = [
        Some(document).filter(|_| !is_file),
        setup.base_url.as_deref(),
    ];
    for address in addresses.into_iter().flatten() {
        if let Err(what) = runtime::net::server_address(address) {
            return wrong(what, "Write an address such as https://example.com/v1.");
        }
    }
    if setup.timeout_ms > API_TIMEOUT_MS_MAX {
        let what = format!(
            "its time limit is {} ms, and may be 1 to {API_TIMEOUT_MS_MAX}",
            setup.timeout_ms
        );
        return wrong(what, "Set `timeout_ms`, or leave it out.");
    }
    if let Some(name) = setup.headers.keys().find(|name| !is_token(name)) {
        let named = in_a_sentence(name, NAMED_CHARS_MAX);
        return wrong(
            format!("`{named}` is no name of a header"),
            "Correct the name in `headers`.",
        );
    }
    let secrets = setup.auth.values().flat_map(|auth| match auth {
        ApiAuth::Token { token } => vec![token],
        ApiAuth::Basic { username, password } => vec![username, password],
        ApiAuth::Client {
            client_id,
            client_secret,
        } => vec![client_id, client_secret],
    });
    let lists = setup
        .tags
        .iter()
        .chain(&setup.operations)
        .chain(&setup.paths);
    let maps = setup.variables.values().chain(setup.headers.values());
    let values: Vec<&String> = lists.chain(maps).chain(secrets).collect();
    if values.len() > VALUES_MAX {
        let what = format!("it has more than {VALUES_MAX} filters, variables, headers or secrets");
        return wrong(what, "Leave some of them out.");
    }
    if let Some(long) = values.iter().find(|value| value.len() > VALUE_BYTES_MAX) {
        return wrong(
            format!("a value is {} bytes long", long.len()),
            "Shorten it.",
        );
    }
    if values
        .iter()
        .any(|value| value.is_empty() || value.contains(['\0', '\n', '\r']))
    {
        let what = "a value is empty, or holds a line end or a zero character".to_owned();
        return wrong(what, "Correct it.");
    }
    if setup.variables.values().any(|value| refers(value)) {
        let what = "a variable of its address refers to something".to_owned();
        return wrong(
            what,
            "Write the value itself: addresses are shown, so they hold no secrets.",
        );
    }
    Ok(())
}

/// The text with this service added or put in the place of the one of its name; everything else stays as it is written.
///
/// # Errors
/// The text is no `apis.toml`, or is full.
pub fn with(text: &str, settings: &ApiSettings) -> Result<String, Fault> {
    check(settings)?;
    let mut document = document(text)?;
    let apis = section(&mut document)?;
    let id = settings.id.as_str();
    if !apis.contains_key(id) && apis.len() >= APIS_MAX {
        return Err(Fault::new(
            format!("There are {APIS_MAX} services already."),
            "Remove one first.",
        ));
    }
    apis.insert(id, Item::Table(table(settings)));
    Ok(document.to_string())
}

/// The text without a service.
///
/// # Errors
/// The text is no `apis.toml`.
pub fn without(text: &str, id: &ServerId) -> Result<String, Fault> {
    let mut document = document(text)?;
    section(&mut document)?.remove(id.as_str());
    Ok(document.to_string())
}

/// The text with a service switched on or off.
///
/// # Errors
/// The text is no `apis.toml`, or names no such service.
pub fn switched(text: &str, id: &ServerId, enabled: bool) -> Result<String, Fault> {
    let mut document = document(text)?;
    let api = section(&mut document)?.get_mut(id.as_str());
    let Some(api) = api.and_then(Item::as_table_like_mut) else {
        return Err(unknown(id));
    };
    api.insert("enabled", toml_edit::value(enabled));
    Ok(document.to_string())
}

/// That there is no such service.
pub fn unknown(id: &ServerId) -> Fault {
    Fault::new(
        format!("There is no service `{id}`."),
        "Look at the list: countersign apis list.",
    )
}

fn document(text: &str) -> Result<DocumentMut, Fault> {
    // What cannot be read is not written over.
    read(text)?;
    text.parse().map_err(|error: toml_edit::TomlError| {
        Fault::new(format!("{FILE} cannot be read."), "Correct it.").caused_by(&error)
    })
}

fn section(document: &mut DocumentMut) -> Result<&mut dyn toml_edit::TableLike, Fault> {
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let entry = document.entry(SECTION).or_insert(Item::Table(implicit));
    entry
        .as_table_like_mut()
        .ok_or_else(|| Fault::new(format!("{FILE}: `{SECTION}` is no table."), "Correct it."))
}

fn table(settings: &ApiSettings) -> Table {
    let setup = &settings.setup;
    let mut table = Table::new();
    table.insert("document", toml_edit::value(setup.document.as_str()));
    if setup.follow_files {
        table.insert("follow_files", toml_edit::value(true));
    }
    if let Some(base_url) = &setup.base_url {
        table.insert("base_url", toml_edit::value(base_url.as_str()));
    }
    let lists = [
        ("tags", &setup.tags),
        ("operations", &setup.operations),
        ("paths", &setup.paths),
    ];
    for (name, list) in lists {
        if !list.is_empty() {
            let list: Array = list.iter().map(String::as_str).collect();
            table.insert(name, Item::Value(Value::Array(list)));
        }
    }
    if setup.timeout_ms != 0 {
        table.insert("timeout_ms", toml_edit::value(i64::from(setup.timeout_ms)));
    }
    table.insert("enabled", toml_edit::value(settings.enabled));
    for (name, map) in [("variables", &setup.variables), ("headers", &setup.headers)] {
        if !map.is_empty() {
            let mut inner = Table::new();
            for (name, value) in map {
                inner.insert(name, toml_edit::value(value.as_str()));
            }
            table.insert(name, Item::Table(inner));
        }
    }
    if !setup.auth.is_empty() {
        let mut inner = Table::new();
        for (name, auth) in &setup.auth {
            inner.insert(name, Item::Value(Value::InlineTable(written(auth))));
        }
        table.insert("auth", Item::Table(inner));
    }
    table
}

fn written(auth: &ApiAuth) -> InlineTable {
    let members = match auth {
        ApiAuth::Token { token } => vec![("type", "token"), ("token", token)],
        ApiAuth::Basic { username, password } => vec![
            ("type", "basic"),
            ("username", username),
            ("password", password),
        ],
        ApiAuth::Client {
            client_id,
            client_secret,
        } => vec![
            ("type", "client"),
            ("client_id", client_id),
            ("client_secret", client_secret),
        ],
    };
    members
        .into_iter()
        .map(|(name, value)| (name, Value::from(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> ApiSettings {
        let map = |name: &str, value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let token = ApiAuth::Token {
            token: "keychain:example".to_owned(),
        };
        let client = ApiAuth::Client {
            client_id: "${ID}".to_owned(),
            client_secret: "keychain:secret".to_owned(),
        };
        ApiSettings {
            id: ServerId::try_from("one".to_owned()).unwrap(),
            setup: ApiSetup {
                document: "https://example.com/openapi.json".to_owned(),
                base_url: Some("https://eu.example.com/v1".to_owned()),
                variables: map("region", "eu"),
                headers: map("X-Team", "${TEAM}"),
                auth: BTreeMap::from([("key".to_owned(), token), ("oauth 2".to_owned(), client)]),
                tags: vec!["issues".to_owned()],
                paths: vec!["/repos/*".to_owned()],
                timeout_ms: 5_000,
                ..ApiSetup::default()
            },
            enabled: false,
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_comments_stay() {
        let text = with("# mine\n[apis]\n", &one()).unwrap();
        let file = ApiSettings {
            id: ServerId::try_from("file".to_owned()).unwrap(),
            setup: ApiSetup {
                document: std::env::temp_dir().join("a.yaml").display().to_string(),
                follow_files: true,
                ..ApiSetup::default()
            },
            enabled: false,
        };
        let text = with(&text, &file).unwrap();
        let text = switched(&text, &one().id, true).unwrap();
        let on = ApiSettings {
            enabled: true,
            ..one()
        };
        assert_eq!(read(&text).unwrap(), [file.clone(), on]);
        let text = without(&text, &one().id).unwrap();
        assert_eq!(read(&text).unwrap(), [file]);
        assert!(text.starts_with("# mine\n"), "{text}");
        assert!(switched(&text, &one().id, true).is_err());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, what) in [
            ("[apis.a]", "neither an address nor"),
            ("[apis.a]\ndocument='x.json'", "neither an address nor"),
            (
                "[apis.a]\ndocument='https://u:p@x.y/z'",
                "cannot be set up so",
            ),
            (
                "[apis.a]\ndocument='https://x.y/z'\nfollow_files=true",
                "no files beside it",
            ),
            (
                "[apis.a]\ndocument='https://x.y/z'\nbase_url='ftp://x'",
                "cannot be set up so",
            ),
            (
                "[apis.a]\ndocument='https://x.y/z'\nheaders={'a b'='c'}",
                "no name of a header",
            ),
            (
                "[apis.a]\ndocument='https://x.y/z'\ntimeout_ms=6000001",
                "time limit",
            ),
            ("[apis.a]\ndocument='https://x.y/z'\ntags=['']", "is empty"),
            (
                "[apis.a]\ndocument='https://x.y/z'\nvariables={a='${B}'}",
                "refers to something",
            ),
            (
                "[apis.a]\ndocument='https://x.y/z'\nauth={k={type='token'}}",
                "token",
            ),
            ("[apis.a]\ndocument='https://x.y/z'\ntag=['x']", "tag"),
            (
                "[apis.a]\ndocument='https://x.y/z'\nenabled='yes'",
                "neither true nor false",
            ),
            ("[apis.a__b]\ndocument='https://x.y/z'", "a__b"),
            ("\n[api.a]\ndocument='x'", "line 2"),
        ] {
            let fault = read(text).unwrap_err();
            assert!(fault.message.contains(what), "{text}: {fault}");
            assert!(!fault.hint.is_empty());
        }
    }
}
