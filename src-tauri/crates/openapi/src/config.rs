//! `apis.toml`: the services of a person, read with errors that name the line and changed one table at a time.

use protocol::server::apis::{API_TIMEOUT_MS_MAX, ApiAuth, ApiSettings, ApiSetup};
use protocol::server::mcp_servers::ServerId;
use protocol::text::display_text::to_single_line;
use toml_edit::{InlineTable, Item, Table, Value};
use tools::config_references::has_reference;
use tools::config_table::{ConfigTable, ConfigTableError, insert_list, insert_map};
use tools::sources::settings::{check_timeout, check_values, reject};

use crate::document::parameter::is_header_token;
use crate::limits::{APIS_MAX, FILE_BYTES_MAX, QUOTED_CHARS_MAX};
use crate::service::is_document_url;

/// The `apis.toml` file of a person.
pub enum ApisFile {}

impl ConfigTable for ApisFile {
    type TableItem = ApiSettings;
    type RawItem = ApiSetup;
    const FILE: &'static str = "apis.toml";
    const SECTION: &'static str = "apis";
    const ITEM_NAME: &'static str = "service";
    const BYTES_MAX: usize = FILE_BYTES_MAX;
    const COUNT_MAX: usize = APIS_MAX;

    fn from_raw(
        id: ServerId,
        setup: ApiSetup,
        enabled: bool,
    ) -> Result<ApiSettings, ConfigTableError> {
        Ok(ApiSettings { id, setup, enabled })
    }

    fn id_and_enabled(settings: &ApiSettings) -> (&ServerId, bool) {
        (&settings.id, settings.enabled)
    }

    fn validate(settings: &ApiSettings) -> Result<(), ConfigTableError> {
        validate_setup(&settings.setup)
    }

    fn to_table(settings: &ApiSettings) -> Table {
        setup_to_table(&settings.setup)
    }
}

fn validate_setup(setup: &ApiSetup) -> Result<(), ConfigTableError> {
    let document = setup.document.as_str();
    let is_file = std::path::Path::new(document).is_absolute();
    if !is_file && !is_document_url(document) {
        return reject(
            "document",
            "its document is neither an address nor the whole path of a file",
            "Write `document` like https://example.com/openapi.json, or like /home/me/openapi.yaml.",
        );
    }
    if !is_file && setup.follow_files {
        return reject(
            "follow_files",
            "its document is no file, so there are no files beside it",
            "Leave `follow_files` out.",
        );
    }
    let addresses = [
        ("document", Some(document).filter(|_| !is_file)),
        ("base_url", setup.base_url.as_deref()),
    ];
    for (key, address) in addresses {
        if let Some(Err(what)) = address.map(runtime::net::parse_server_url) {
            return reject(
                key,
                what,
                "Write an address such as https://example.com/v1.",
            );
        }
    }
    check_timeout(setup.timeout_ms, &(0..=API_TIMEOUT_MS_MAX))?;
    if let Some(name) = setup.headers.keys().find(|name| !is_header_token(name)) {
        let named = to_single_line(name, QUOTED_CHARS_MAX);
        let what = format!("`{named}` is not a header name");
        return reject("headers", what, "Correct the name in `headers`.");
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
    let values = lists.chain(maps).chain(secrets).map(String::as_str);
    let values: Vec<&str> = values.collect();
    check_values(
        &values,
        values.len(),
        "filters, variables, headers or secrets",
    )?;
    if values
        .iter()
        .any(|value| value.is_empty() || value.contains(['\0', '\n', '\r']))
    {
        return reject(
            "",
            "a value is empty, or holds a line end or a zero character",
            "Write something in it, in one line.",
        );
    }
    if setup.variables.values().any(|value| has_reference(value)) {
        return reject(
            "variables",
            "a variable of its address refers to something",
            "Write the value itself: addresses are shown, so they hold no secrets.",
        );
    }
    Ok(())
}

fn setup_to_table(setup: &ApiSetup) -> Table {
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
        insert_list(&mut table, name, list);
    }
    if setup.timeout_ms != 0 {
        table.insert("timeout_ms", toml_edit::value(i64::from(setup.timeout_ms)));
    }
    if let Some(audience) = setup.audience {
        table.insert("audience", toml_edit::value(audience.as_str()));
    }
    for (name, map) in [("variables", &setup.variables), ("headers", &setup.headers)] {
        insert_map(&mut table, name, map);
    }
    if !setup.auth.is_empty() {
        let mut inner = Table::new();
        for (name, auth) in &setup.auth {
            inner.insert(name, Item::Value(Value::InlineTable(auth_to_table(auth))));
        }
        table.insert("auth", Item::Table(inner));
    }
    table
}

fn auth_to_table(auth: &ApiAuth) -> InlineTable {
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
    use std::collections::BTreeMap;

    use protocol::server::audience::Audience;
    use tools::config_table::{self, remove_item, set_enabled};

    use super::*;

    fn read(text: &str) -> Result<Vec<ApiSettings>, protocol::UserError> {
        config_table::parse_items::<ApisFile>(text)
    }

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
                audience: Some(Audience::Others),
                ..ApiSetup::default()
            },
            enabled: false,
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_comments_stay() {
        let text = config_table::upsert_item::<ApisFile>("# mine\n[apis]\n", &one()).unwrap();
        let file = ApiSettings {
            id: ServerId::try_from("file".to_owned()).unwrap(),
            setup: ApiSetup {
                document: std::env::temp_dir().join("a.yaml").display().to_string(),
                follow_files: true,
                ..ApiSetup::default()
            },
            enabled: false,
        };
        let text = config_table::upsert_item::<ApisFile>(&text, &file).unwrap();
        let text = set_enabled::<ApisFile>(&text, &one().id, true).unwrap();
        let on = ApiSettings {
            enabled: true,
            ..one()
        };
        assert_eq!(read(&text).unwrap(), [file.clone(), on]);
        let text = remove_item::<ApisFile>(&text, &one().id).unwrap();
        assert_eq!(read(&text).unwrap(), [file]);
        assert!(text.starts_with("# mine\n"), "{text}");
        assert!(set_enabled::<ApisFile>(&text, &one().id, true).is_err());
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
                "not a header name",
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
            ("[apis.a]\ndocument='https://x.y/z'\naudience='all'", "all"),
            ("[apis.a__b]\ndocument='https://x.y/z'", "a__b"),
            ("\n[api.a]\ndocument='x'", "line 2"),
        ] {
            let fault = read(text).unwrap_err();
            assert!(fault.message.contains(what), "{text}: {fault}");
            assert!(!fault.hint.is_empty());
        }
    }
}
