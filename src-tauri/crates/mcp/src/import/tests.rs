//! Tests with files of every product, and of the servers that are read from them.

use super::*;

fn one(product: ServerImportProduct, text: &str) -> ServerImport {
    let mut found = parse_servers(product, text, &ImportScope::Project("/project".into())).unwrap();
    assert_eq!(found.len(), 1, "{text}");
    found.remove(0)
}

fn told(product: ServerImportProduct, text: &str) -> String {
    let found = one(product, text);
    let settings = found
        .settings
        .unwrap_or_else(|| panic!("{:?}", found.notes));
    assert!(!settings.enabled);
    let text = tools::config_table::upsert_item::<ServersFile>("", &settings).unwrap();
    assert_eq!(
        tools::config_table::parse_items::<ServersFile>(&text).unwrap(),
        [settings]
    );
    text
}

#[test]
fn every_product_is_read() {
    let common = r#"{ // mine
        "mcpServers": { "Git Hub": { "command": "npx", "args": ["-y", "server", 7],
        "env": { "GITHUB_TOKEN": "${GITHUB_TOKEN}", "LEVEL": "debug", "A": "${A:-b}" }, }, } }"#;
    let taken = "[servers.Git_Hub]\ncommand = \"npx\"\nargs = [\"-y\", \"server\", \"7\"]\nfolder = \"/project\"\nenabled = false\n\n\
                 [servers.Git_Hub.env]\nA = \"${A:-b}\"\nGITHUB_TOKEN = \"${GITHUB_TOKEN}\"\nLEVEL = \"debug\"\n";
    for product in [
        ServerImportProduct::ClaudeCode,
        ServerImportProduct::ClaudeDesktop,
        ServerImportProduct::Cline,
        ServerImportProduct::Cursor,
        ServerImportProduct::GeminiCli,
        ServerImportProduct::Windsurf,
    ] {
        assert_eq!(told(product, common), taken, "{product:?}");
    }
    let zed = common.replace("mcpServers", "context_servers");
    assert_eq!(told(ServerImportProduct::Zed, &zed), taken);
    let older = r#"{ "context_servers": { "Git Hub": { "settings": {}, "command": { "path": "npx", "args": ["-y", "server", "7"],
        "env": { "GITHUB_TOKEN": "${GITHUB_TOKEN}", "LEVEL": "debug", "A": "${A:-b}" } } } } }"#;
    assert_eq!(told(ServerImportProduct::Zed, older), taken);
    let goose = "GOOSE_MODE: auto\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n    name: developer\n\
                 \x20 todo:\n    type: platform\n    name: todo\n  Git Hub:\n    enabled: true\n    type: stdio\n    name: Git Hub\n\
                 \x20   cmd: npx\n    args: [-y, server, '7']\n    envs:\n      GITHUB_TOKEN: ${GITHUB_TOKEN}\n      LEVEL: debug\n\
                 \x20     A: ${A:-b}\n    env_keys: []\n    bundled: null\n";
    assert_eq!(told(ServerImportProduct::Goose, goose), taken);
    let vs_code = common
        .replace("mcpServers", "servers")
        .replace("${GITHUB_TOKEN}", "${env:GITHUB_TOKEN}");
    assert_eq!(told(ServerImportProduct::VsCode, &vs_code), taken);
    let opencode = r#"{ "mcp": { "Git Hub": { "type": "local", "command": ["npx", "-y", "server", "7"],
        "enabled": true, "environment": { "GITHUB_TOKEN": "{env:GITHUB_TOKEN}", "LEVEL": "debug", "A": "${A:-b}" } } } }"#;
    assert_eq!(told(ServerImportProduct::Opencode, opencode), taken);
    let codex = "model = \"x\"\n[mcp_servers.\"Git Hub\"]\ncommand = \"npx\"\nargs = [\"-y\", \"server\", \"7\"]\n\
                 env_vars = [\"GITHUB_TOKEN\"]\nenabled = true\nenv = { LEVEL = \"debug\", A = \"${A:-b}\" }\n";
    assert_eq!(told(ServerImportProduct::Codex, codex), taken);
}

#[test]
fn addresses_are_read() {
    let bearer = "[servers.far]\nurl = \"https://example.com/mcp\"\nenabled = false\n\n\
                  [servers.far.headers]\nAuthorization = \"Bearer ${TOKEN}\"\n";
    for (product, text) in [
        (
            ServerImportProduct::ClaudeCode,
            r#"{"mcpServers":{"far":{"type":"http","url":"https://example.com/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}}}"#,
        ),
        (
            ServerImportProduct::Opencode,
            r#"{"mcp":{"far":{"type":"remote","url":"https://example.com/mcp","headers":{"Authorization":"Bearer {env:TOKEN}"}}}}"#,
        ),
        (
            ServerImportProduct::Codex,
            "[mcp_servers.far]\nurl=\"https://example.com/mcp\"\nbearer_token_env_var=\"TOKEN\"",
        ),
        (
            ServerImportProduct::GeminiCli,
            r#"{"mcpServers":{"far":{"httpUrl":"https://example.com/mcp","headers":{"Authorization":"Bearer $TOKEN"}}}}"#,
        ),
        (
            ServerImportProduct::GeminiCli,
            r#"{"mcpServers":{"far":{"url":"https://example.com/mcp","type":"http","headers":{"Authorization":"Bearer ${TOKEN}"}}}}"#,
        ),
        (
            ServerImportProduct::Windsurf,
            r#"{"mcpServers":{"far":{"serverUrl":"https://example.com/mcp","headers":{"Authorization":"Bearer ${env:TOKEN}"}}}}"#,
        ),
        (
            ServerImportProduct::Cline,
            r#"{"mcpServers":{"far":{"type":"streamableHttp","url":"https://example.com/mcp","headers":{"Authorization":"Bearer ${env:TOKEN}"}}}}"#,
        ),
        (
            ServerImportProduct::Zed,
            r#"{"context_servers":{"far":{"url":"https://example.com/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}}}"#,
        ),
        (
            ServerImportProduct::Goose,
            "extensions:\n  far:\n    type: streamable_http\n    name: far\n    uri: https://example.com/mcp\n    headers:\n      Authorization: Bearer ${TOKEN}\n",
        ),
    ] {
        assert_eq!(told(product, text), bearer, "{product:?}");
    }
}

/// Claude Code files servers that `claude mcp add` adds under the folder in which it was started.
#[test]
fn what_is_set_up_for_one_folder_is_found_there_and_below() {
    let text = r#"{
        "mcpServers": { "everywhere": { "command": "a" } },
        "projects": {
            "/home/me/code": { "allowedTools": [], "mcpServers": { "mem": { "type": "stdio", "command": "npx", "args": ["mem"], "env": {} } } },
            "/home/me": { "mcpServers": { "mem": { "command": "other" }, "above": { "command": "b" } } },
            "/home/me/other": { "mcpServers": { "elsewhere": { "command": "c" } } }
        }
    }"#;
    let names = |scope: ImportScope| -> Vec<String> {
        let found = parse_servers(ServerImportProduct::ClaudeCode, text, &scope)
            .unwrap()
            .into_iter();
        found
            .map(|one| {
                format!(
                    "{} {}",
                    one.written,
                    one.settings.unwrap().transport.summary()
                )
            })
            .collect()
    };
    assert_eq!(
        names(ImportScope::Local("/home/me/code".into())),
        ["mem npx mem", "above b"]
    );
    assert_eq!(
        names(ImportScope::Local("/home/me/code/src".into())),
        ["mem npx mem", "above b"]
    );
    assert_eq!(
        names(ImportScope::Local("/home/me/other".into())),
        ["elsewhere c", "mem other", "above b"]
    );
    assert_eq!(
        names(ImportScope::Local("/tmp".into())),
        Vec::<String>::new()
    );
    assert_eq!(names(ImportScope::Person), ["everywhere a"]);
    let of_folder = parse_servers(
        ServerImportProduct::ClaudeCode,
        text,
        &ImportScope::Local("/home/me/code".into()),
    );
    match &of_folder.unwrap()[0].settings.as_ref().unwrap().transport {
        ServerTransport::Stdio { folder, .. } => {
            assert_eq!(folder.as_deref(), Some("/home/me/code"))
        }
        other @ ServerTransport::Http { .. } => panic!("{other:?}"),
    }
}

/// Values that Goose keeps in its own keychain are not in the file.
#[test]
fn what_goose_keeps_in_its_keychain_is_a_reference_to_ours() {
    let text = "extensions:\n  s:\n    type: stdio\n    name: s\n    cmd: x\n    args: []\n    envs: { B: '1' }\n    env_keys: [A_TOKEN, B]\n    timeout: 300\n";
    let found = one(ServerImportProduct::Goose, text);
    let written = told(ServerImportProduct::Goose, text);
    assert!(
        written.contains("A_TOKEN = \"keychain:s.A_TOKEN\"\nB = \"1\""),
        "{written}"
    );
    assert!(written.contains("timeout_ms = 300000"), "{written}");
    assert_eq!(
        found.notes,
        [
            "The value of `A_TOKEN` is kept in a keychain of that product. Put it into the keychain here too, as `s.A_TOKEN`."
        ]
    );
}

/// A file that is given alone belongs to a project where its path says so.
#[test]
fn a_file_says_by_its_path_whose_it_is() {
    let here = Path::new("/work");
    for (product, file, scopes) in [
        (
            ServerImportProduct::Codex,
            "/p/.codex/config.toml",
            vec![ImportScope::Project("/p".into())],
        ),
        (
            ServerImportProduct::Goose,
            "/home/me/.config/goose/config.yaml",
            vec![ImportScope::Person],
        ),
        (
            ServerImportProduct::Cursor,
            "/tmp/x.json",
            vec![ImportScope::Project("/tmp".into())],
        ),
        (
            ServerImportProduct::ClaudeCode,
            "/home/me/.claude.json",
            vec![ImportScope::Local("/work".into()), ImportScope::Person],
        ),
    ] {
        let places = locations_for_file(product, Path::new(file), Some(here));
        let found: Vec<ImportScope> = places.into_iter().map(|place| place.scope).collect();
        assert_eq!(found, scopes, "{file}");
    }
}

/// A secret in another product's file is not written into ours.
#[test]
fn no_secret_is_taken_over() {
    let hush = "hush4hush4hush4";
    for (server, reference) in [
        (
            format!(r#"{{"command":"x","env":{{"GITHUB_TOKEN":"{hush}"}}}}"#),
            "keychain:s.GITHUB_TOKEN",
        ),
        (
            format!(r#"{{"command":"x","env":{{"OPENAI_API_KEY":"{hush}"}}}}"#),
            "keychain:s.OPENAI_API_KEY",
        ),
        (
            format!(r#"{{"command":"x","env":{{"A_PASSWORD":"${{A:-{hush}}}"}}}}"#),
            "keychain:s.A_PASSWORD",
        ),
        (
            format!(r#"{{"command":"x","args":["--api-key","{hush}"]}}"#),
            "keychain:s.arg2",
        ),
        (
            format!(r#"{{"command":"x","args":["--token={hush}"]}}"#),
            "keychain:s.arg1",
        ),
        (
            r#"{"command":"x","env":{"PLAIN":"ghp_hush4hush4hush4hush4hush4hush4hush4abcd"}}"#
                .to_owned(),
            "keychain:s.PLAIN",
        ),
        (
            format!(r#"{{"url":"https://x.y","headers":{{"Authorization":"Bearer {hush}"}}}}"#),
            "keychain:s.Authorization",
        ),
        (
            format!(r#"{{"url":"https://x.y","headers":{{"X-Api-Key":"{hush}"}}}}"#),
            "keychain:s.X-Api-Key",
        ),
        (
            format!(r#"{{"url":"https://x.y/mcp?api_key={hush}"}}"#),
            "keychain:s.url",
        ),
        (
            format!(r#"{{"url":"https://me:{hush}@x.y/mcp"}}"#),
            "keychain:s.url",
        ),
        (
            r#"{"url":"https://x.y","headers":{"Authorization":"Bearer ${input:key}"}}"#.to_owned(),
            "keychain:s.key",
        ),
    ] {
        let text = format!(r#"{{"mcpServers":{{"s":{server}}}}}"#);
        let found = one(ServerImportProduct::Cursor, &text);
        let written = told(ServerImportProduct::Cursor, &text);
        assert!(!written.contains("hush"), "{server}: {written}");
        assert!(written.contains(reference), "{server}: {written}");
        assert!(
            found
                .notes
                .iter()
                .any(|note| note.contains("into the keychain, as `s.")),
            "{server}: {:?}",
            found.notes
        );
        assert!(!found.notes.join(" ").contains("hush"));
    }
}

#[test]
fn what_cannot_be_taken_says_why() {
    for (text, why) in [
        (
            r#"{"mcpServers":{"s":{"type":"sse","url":"https://x.y"}}}"#,
            "older HTTP with SSE",
        ),
        (
            r#"{"mcpServers":{"s":{}}}"#,
            "neither a command nor an address",
        ),
        (r#"{"mcpServers":{"s":7}}"#, "not an object"),
        (r#"{"mcpServers":{"s":{"command":["x"]}}}"#, "is not text"),
        (
            r#"{"mcpServers":{"s":{"command":"x","args":[{}]}}}"#,
            "not a list of texts",
        ),
        (
            r#"{"mcpServers":{"\u202e":{"command":"x"}}}"#,
            "Nothing of its name",
        ),
        (
            r#"{"mcpServers":{"s":{"url":"ftp://x.y"}}}"#,
            "neither http nor https",
        ),
    ] {
        let found = one(ServerImportProduct::ClaudeCode, text);
        assert_eq!(found.settings, None, "{text}");
        assert!(found.notes[0].contains(why), "{text}: {:?}", found.notes);
    }
    for (product, text, why) in [
        (
            ServerImportProduct::Cline,
            r#"{"mcpServers":{"s":{"url":"https://x.y"}}}"#,
            "older HTTP with SSE",
        ),
        (
            ServerImportProduct::Zed,
            r#"{"context_servers":{"s":{"settings":{"key":"x"}}}}"#,
            "An extension of Zed starts it",
        ),
        (
            ServerImportProduct::Goose,
            "extensions: {s: {type: sse, name: s, uri: 'https://x.y'}}",
            "older HTTP with SSE",
        ),
        (
            ServerImportProduct::Goose,
            "extensions: {s: {type: inline_python, name: s, code: x}}",
            "stands in the file of Goose",
        ),
    ] {
        let found = one(product, text);
        assert_eq!(found.settings, None, "{text}");
        assert!(found.notes[0].contains(why), "{text}: {:?}", found.notes);
    }
    assert!(
        parse_servers(
            ServerImportProduct::Goose,
            "extensions: [",
            &ImportScope::Person
        )
        .is_err()
    );
    for text in ["{", "[]x", r#"{"mcpServers":[]}"#] {
        assert!(
            parse_servers(ServerImportProduct::ClaudeCode, text, &ImportScope::Person).is_err(),
            "{text}"
        );
    }
    for text in ["", "{}", r#"{"numStartups":4}"#] {
        assert_eq!(
            parse_servers(ServerImportProduct::ClaudeCode, text, &ImportScope::Person),
            Ok(Vec::new()),
            "{text}"
        );
    }
}
