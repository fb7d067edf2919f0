//! Tests of writing the file, and of the errors for an invalid file.

use tools::config_table::{self, remove_item, set_enabled};

use super::*;

fn read(text: &str) -> Result<Vec<ServerSettings>, protocol::UserError> {
    config_table::parse_items::<ServersFile>(text)
}

fn stdio(id: &str) -> ServerSettings {
    ServerSettings {
        id: ServerId::try_from(id.to_owned()).unwrap(),
        transport: ServerTransport::Stdio {
            command: "npx".to_owned(),
            args: vec!["-y".to_owned(), "a \"b\"".to_owned()],
            env: BTreeMap::from([("TOKEN".to_owned(), "${TOKEN}".to_owned())]),
            folder: None,
            sandbox: None,
        },
        timeout_ms: 5_000,
        audience: None,
        enabled: false,
    }
}

#[test]
fn what_is_written_is_read_again_and_comments_stay() {
    let http = ServerSettings {
        transport: ServerTransport::Http {
            url: "https://example.com/mcp".to_owned(),
            headers: BTreeMap::from([("Authorization".to_owned(), "keychain:example".to_owned())]),
            client: Some(OauthClient {
                id: "countersign-1".to_owned(),
                secret: Some("keychain:client".to_owned()),
            }),
        },
        timeout_ms: SERVER_TIMEOUT_MS,
        audience: Some(Audience::Others),
        ..stdio("far")
    };
    let text =
        config_table::upsert_item::<ServersFile>("# mine\n[servers]\n", &stdio("near")).unwrap();
    let text = config_table::upsert_item::<ServersFile>(&text, &http).unwrap();
    let text = set_enabled::<ServersFile>(&text, &http.id, true).unwrap();
    let on = ServerSettings {
        enabled: true,
        ..http.clone()
    };
    assert_eq!(read(&text).unwrap(), [on, stdio("near")]);
    let text = remove_item::<ServersFile>(&text, &http.id).unwrap();
    assert_eq!(read(&text).unwrap(), [stdio("near")]);
    assert!(text.starts_with("# mine\n"), "{text}");
    assert!(set_enabled::<ServersFile>(&text, &http.id, true).is_err());
}

#[test]
fn what_is_wrong_is_named() {
    for (text, what) in [
        ("[servers.a]", "neither a command nor an address"),
        (
            "[servers.a]\ncommand='x'\nurl='https://x.y'",
            "both a command and an address",
        ),
        (
            "[servers.a]\nurl='https://x.y'\nargs=['b']",
            "has an address",
        ),
        (
            "[servers.a]\ncommand='x'\nheaders={a='b'}",
            "neither headers nor a client",
        ),
        ("[servers.a]\ncommand='x'\naudience='all'", "all"),
        ("[servers.a]\ncommand=' '", "command is empty"),
        ("[servers.a]\nurl='file:///x'", "cannot be set up so"),
        ("[servers.a]\nurl='https://u:p@x.y'", "cannot be set up so"),
        ("[servers.a]\ncommand='x'\ntimeout_ms=0", "time limit"),
        (
            "[servers.a]\ncommand='x'\nenv={'A=B'='c'}",
            "not a variable name",
        ),
        ("[servers.a]\ncommand='x'\nfolder='here'", "absolute"),
        (
            "[servers.a__b]\ncommand='x'",
            "cannot be the name of a server",
        ),
        ("\n\n[servers.a]\ncomand='x'", "line 4"),
        ("[server.a]\ncommand='x'", "line 1"),
        ("[servers]\na=1", "line 2: the server `a` is not a table"),
        ("servers=1", "line 1: `servers` is not a table"),
        ("[servers.a]\ncommand=", "line 2"),
        (
            "[servers.b]\ncommand='x'\n[servers.a]\nargs=[]\ncommand='y'\ntimeout_ms=0",
            "servers.toml, line 6: the server `a`",
        ),
        ("[servers.a]\ncommand='x'\n\nenabled='yes'", "line 4"),
        ("servers={a={url='https://x.y',client={id=' '}}}", "line 1"),
    ] {
        let fault = read(text).unwrap_err();
        assert!(fault.message.contains(what), "{text}: {fault}");
        assert!(fault.hint.ends_with("Until then no server of it is used."));
        assert!(!fault.to_string().contains("countersign "), "{fault}");
    }
}

#[cfg(unix)]
#[test]
fn a_sandbox_is_written_and_read_again_and_what_is_wrong_with_one_is_named() {
    let mut sandboxed = stdio("sandboxed");
    if let ServerTransport::Stdio {
        folder, sandbox, ..
    } = &mut sandboxed.transport
    {
        *folder = Some("/srv/one/below".to_owned());
        *sandbox = Some(ServerSandbox {
            workspace: "/srv/one".to_owned(),
            hosts: vec!["docs.rs".to_owned(), "127.0.0.1:8080".to_owned()],
        });
    }
    let text = config_table::upsert_item::<ServersFile>("", &sandboxed).unwrap();
    assert_eq!(read(&text).unwrap(), [sandboxed.clone()]);
    assert!(text.contains("\nsandbox = "), "{text}");
    let earlier = text.replace("\nsandbox = ", "\nroom = ");
    assert_eq!(read(&earlier).unwrap(), [sandboxed]);
    for (text, what) in [
        ("[servers.a]\ncommand='x'\nsandbox='here'", "absolute"),
        ("[servers.a]\ncommand='x'\nsandbox='/'", "the whole disk"),
        (
            "[servers.a]\ncommand='x'\nfolder='/srv/other'\nsandbox='/srv/one'",
            "outside the folder of its sandbox",
        ),
        (
            "[servers.a]\ncommand='x'\nhosts=['docs.rs']",
            "hosts and no sandbox",
        ),
        (
            "[servers.a]\ncommand='x'\nsandbox='/srv'\nhosts=['*.rs']",
            "a pattern of many",
        ),
        (
            "[servers.a]\ncommand='x'\nsandbox='/srv'\nhosts=['file:///x']",
            "is not a host",
        ),
        ("[servers.a]\ncommand='x'\nsandbox=true", "line 3"),
        (
            "[servers.a]\nurl='https://x.y'\nsandbox='/srv'",
            "no sandbox",
        ),
    ] {
        let fault = read(text).unwrap_err();
        assert!(fault.message.contains(what), "{text}: {fault}");
    }
}
