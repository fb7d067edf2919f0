//! Files of every product, with what is taken from them.

use super::*;

fn one(product: Product, text: &str) -> ServerFound {
    let mut found = read(product, text, Some(Path::new("/project"))).unwrap();
    assert_eq!(found.len(), 1, "{text}");
    found.remove(0)
}

fn told(product: Product, text: &str) -> String {
    let found = one(product, text);
    let settings = found
        .settings
        .unwrap_or_else(|| panic!("{:?}", found.notes));
    assert!(!settings.enabled);
    let text = tools::kept::with::<ServersFile>("", &settings).unwrap();
    assert_eq!(tools::kept::read::<ServersFile>(&text).unwrap(), [settings]);
    text
}

#[test]
fn every_product_is_read() {
    let common = r#"{ // mine
        "mcpServers": { "Git Hub": { "command": "npx", "args": ["-y", "server", 7],
        "env": { "GITHUB_TOKEN": "${GITHUB_TOKEN}", "LEVEL": "debug", "A": "${A:-b}" }, }, } }"#;
    let taken = "[servers.Git_Hub]\ncommand = \"npx\"\nargs = [\"-y\", \"server\", \"7\"]\nfolder = \"/project\"\nenabled = false\n\n\
                 [servers.Git_Hub.env]\nA = \"${A:-b}\"\nGITHUB_TOKEN = \"${GITHUB_TOKEN}\"\nLEVEL = \"debug\"\n";
    for product in [Product::ClaudeCode, Product::ClaudeDesktop, Product::Cursor] {
        assert_eq!(told(product, common), taken, "{product:?}");
    }
    let vs_code = common
        .replace("mcpServers", "servers")
        .replace("${GITHUB_TOKEN}", "${env:GITHUB_TOKEN}");
    assert_eq!(told(Product::VsCode, &vs_code), taken);
    let opencode = r#"{ "mcp": { "Git Hub": { "type": "local", "command": ["npx", "-y", "server", "7"],
        "enabled": true, "environment": { "GITHUB_TOKEN": "{env:GITHUB_TOKEN}", "LEVEL": "debug", "A": "${A:-b}" } } } }"#;
    assert_eq!(told(Product::Opencode, opencode), taken);
    let codex = "model = \"x\"\n[mcp_servers.\"Git Hub\"]\ncommand = \"npx\"\nargs = [\"-y\", \"server\", \"7\"]\n\
                 env_vars = [\"GITHUB_TOKEN\"]\nenabled = true\nenv = { LEVEL = \"debug\", A = \"${A:-b}\" }\n";
    assert_eq!(told(Product::Codex, codex), taken);
}

#[test]
fn addresses_are_read() {
    let bearer = "[servers.far]\nurl = \"https://example.com/mcp\"\nenabled = false\n\n\
                  [servers.far.headers]\nAuthorization = \"Bearer ${TOKEN}\"\n";
    for (product, text) in [
        (
            Product::ClaudeCode,
            r#"{"mcpServers":{"far":{"type":"http","url":"https://example.com/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}}}"#,
        ),
        (
            Product::Opencode,
            r#"{"mcp":{"far":{"type":"remote","url":"https://example.com/mcp","headers":{"Authorization":"Bearer {env:TOKEN}"}}}}"#,
        ),
        (
            Product::Codex,
            "[mcp_servers.far]\nurl=\"https://example.com/mcp\"\nbearer_token_env_var=\"TOKEN\"",
        ),
    ] {
        assert_eq!(told(product, text), bearer, "{product:?}");
    }
}

/// What is a secret in somebody else's file is not written into ours.
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
        let found = one(Product::Cursor, &text);
        let written = told(Product::Cursor, &text);
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
        (r#"{"mcpServers":{"s":7}}"#, "no object"),
        (r#"{"mcpServers":{"s":{"command":["x"]}}}"#, "is no text"),
        (
            r#"{"mcpServers":{"s":{"command":"x","args":[{}]}}}"#,
            "no list of texts",
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
        let found = one(Product::ClaudeCode, text);
        assert_eq!(found.settings, None, "{text}");
        assert!(found.notes[0].contains(why), "{text}: {:?}", found.notes);
    }
    for text in ["{", "[]x", r#"{"mcpServers":[]}"#] {
        assert!(read(Product::ClaudeCode, text, None).is_err(), "{text}");
    }
    for text in ["", "{}", r#"{"numStartups":4}"#] {
        assert_eq!(
            read(Product::ClaudeCode, text, None),
            Ok(Vec::new()),
            "{text}"
        );
    }
}
