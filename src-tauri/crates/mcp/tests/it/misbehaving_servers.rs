//! Servers that do what no server should.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcp::{McpServer, ServerDependencies, ToolPins};
use protocol::ToolError;
use protocol::server::mcp_servers::{PinState, ServerSettings, ServerState, ServerTransport};
use protocol::text::display_text::join_spans;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use tools::Registry;
use tools::sources::Catalogue;

use crate::support::*;

/// Answers that come twice, late, after garbage or between notifications reach the call that they are for.
#[tokio::test]
async fn an_answer_never_reaches_another_call() {
    let server = fixture(&[]).await;
    for traits in [&[][..], &["modern"]] {
        for tool in ["flood", "twice", "garbage"] {
            let server = fixture(traits).await;
            assert!(
                call(&server, tool, json!({})).await.is_ok(),
                "{traits:?} {tool}"
            );
            assert_eq!(echo(&server, tool).await, tool, "{traits:?}");
        }
    }
    for (tool, text) in [
        ("twice", "first"),
        ("garbage", "after garbage"),
        ("flood", "flooded"),
    ] {
        assert_eq!(said(&server, tool, json!({})).await, text);
        assert_eq!(echo(&server, tool).await, tool, "after {tool}");
    }
    let cancel = CancellationToken::new();
    let (late, hang) = tokio::join!(call_until(&server, "late", json!({}), &cancel), async {
        logged(&server, "holds late").await;
        cancel.cancel();
    });
    assert_eq!((late, hang), (Err(ToolError::Cancelled), ()));
    assert_eq!(echo(&server, "not too late").await, "not too late");
    logged(&server, "told of a cancellation").await;
    assert_eq!(echo(&server, "still not").await, "still not");
}

#[tokio::test]
async fn a_call_that_hangs_ends_at_its_limit_and_others_go_on() {
    let server = fixture(&[]).await;
    let short = ServerSettings {
        timeout_ms: 2_000,
        ..settings(&[])
    };
    // Its limit is that of its start too: where the machine is slow it is started again until it was quick enough.
    let again = ServerDependencies {
        retry_after: vec![Duration::from_millis(10)],
        ..ground()
    };
    let slow = Arc::new(McpServer::new(short, (*server.pins()).clone(), again));
    if slow.ensure_connected().await.is_err() {
        until(|| slow.view().state == ServerState::Ready).await;
    }
    let (hung, well) = tokio::join!(call(&slow, "hang", json!({})), echo(&slow, "beside it"));
    assert!(
        matches!(&hung, Err(ToolError::TimedOut(told)) if told.contains("did not answer within 2 s")),
        "{hung:?}"
    );
    assert_eq!(well, "beside it");
    logged(&slow, "told of a cancellation").await;
    assert_eq!(echo(&slow, "after it").await, "after it");
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_an_error_at_once_and_comes_back() {
    let quick = ServerDependencies {
        retry_after: vec![Duration::from_millis(20)],
        ..ground()
    };
    let server = approved(settings(&[]), quick).await;
    let (dying, beside) = tokio::join!(
        call(&server, "hang", json!({})),
        call(&server, "crash", json!({}))
    );
    for died in [dying, beside] {
        let Err(ToolError::Failed(told)) = died else {
            panic!("{died:?}")
        };
        assert!(
            told.starts_with("mcp server one is unavailable: it ended with exit code 5."),
            "{told}"
        );
        assert!(
            told.contains("What the call did until then is not known"),
            "{told}"
        );
    }
    until(|| server.view().state == ServerState::Ready).await;
    assert_eq!(echo(&server, "again").await, "again");
}

/// It is never tried again within a call: that goes on by itself, or when the person wants it.
#[tokio::test]
async fn a_server_that_is_lost_is_not_waited_for() {
    let server = fixture(&[]).await;
    assert!(call(&server, "crash", json!({})).await.is_err());
    until(|| is_unavailable(&server)).await;
    let told = call(&server, "echo", json!({ "message": "x" }))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        told.starts_with("mcp server one is unavailable: it ended with exit code 5"),
        "{told}"
    );
    let ServerState::Unavailable { why, retry_in_s } = server.view().state else {
        panic!("{:?}", server.view().state)
    };
    assert!(why.starts_with("it ended with exit code 5"), "{why}");
    assert_eq!(retry_in_s, 600);
    server.retry().await.unwrap();
    assert_eq!(echo(&server, "back").await, "back");
}

/// One that hangs when it is started anew makes no call wait for it: it is told why the last connection ended.
#[cfg(unix)]
#[tokio::test]
async fn a_call_does_not_wait_for_one_that_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let was_here = folder.path().join("was here");
    let hangs_later = ServerSettings {
        transport: ServerTransport::Stdio {
            command: "sh".to_owned(),
            args: vec![
                "-c".to_owned(),
                "if [ -e \"$0\" ]; then sleep 1000; else touch \"$0\"; exec \"$1\"; fi".to_owned(),
                was_here.display().to_string(),
                env!("CARGO_BIN_EXE_mcp_fixture").to_owned(),
            ],
            env: Default::default(),
            folder: None,
            sandbox: None,
        },
        ..settings(&[])
    };
    let at_once = ServerDependencies {
        retry_after: vec![Duration::ZERO],
        ..ground()
    };
    let server = approved(hangs_later, at_once).await;
    assert!(call(&server, "crash", json!({})).await.is_err());
    until(|| server.view().state == ServerState::Starting).await;
    let told = call(&server, "echo", json!({ "message": "x" })).await;
    let told = told.unwrap_err().to_string();
    assert!(told.contains("it ended with exit code 5"), "{told}");
}

#[tokio::test]
async fn servers_that_never_begin_say_why() {
    for (traits, timeout_ms, why) in [
        (&["hang"][..], 300, "it did not begin within 300 ms"),
        (&["crash"], 20_000, "it ended with exit code 3"),
    ] {
        let settings = ServerSettings {
            timeout_ms,
            ..settings(traits)
        };
        let server = McpServer::new(settings, ToolPins::default(), ground());
        let fault = server.ensure_connected().await.unwrap_err();
        assert!(
            fault.message.starts_with("mcp server one is unavailable: ")
                && fault.message.contains(why),
            "{fault}"
        );
        assert!(!fault.hint.is_empty());
    }
    let missing = ServerSettings {
        transport: ServerTransport::Stdio {
            command: "countersign-no-such-program".to_owned(),
            args: Vec::new(),
            env: Default::default(),
            folder: None,
            sandbox: None,
        },
        ..settings(&[])
    };
    let fault = McpServer::new(missing, ToolPins::default(), ground())
        .ensure_connected()
        .await
        .unwrap_err();
    assert!(fault.message.contains("could not be started"), "{fault}");
}

/// An address may hold a key: whatever goes wrong, it is in no sentence, no log and no view.
#[tokio::test]
async fn an_address_that_is_a_secret_is_not_told() {
    let secret = ServerSettings {
        transport: ServerTransport::Http {
            url: "keychain:address".to_owned(),
            headers: Default::default(),
            client: None,
        },
        ..settings(&[])
    };
    let server = McpServer::new(secret, ToolPins::default(), ground());
    let fault = server.ensure_connected().await.unwrap_err();
    assert!(
        fault
            .message
            .starts_with("mcp server one is unavailable: it could not be connected: "),
        "{fault}"
    );
    let told = format!("{fault:?} {:?} {:?}", server.view(), server.log_lines());
    assert!(
        !told.contains("hush") && !told.contains("127.0.0.1"),
        "{told}"
    );
}

/// Babble before the beginning, a flood of notifications, and a line of 50 MB.
#[tokio::test]
async fn what_is_no_message_is_passed_over_and_what_is_too_much_ends_it() {
    for traits in [["babble"], ["flood"]] {
        let server = fixture(&traits).await;
        assert_eq!(echo(&server, "heard").await, "heard", "{traits:?}");
    }
    let server = fixture(&[]).await;
    let told = call(&server, "big", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("it wrote a line of more than 16777216 bytes"),
        "{told}"
    );
    until(|| is_unavailable(&server)).await;
}

#[tokio::test]
async fn odd_tools_get_names_or_are_left_out_with_a_word() {
    let server = fixture(&["odd", "many=3000"]).await;
    let (registry, faults) = Registry::builtin().with_tools(server.tools());
    for (id, native) in [
        ("one__a_b", "a.b"),
        ("one__a_b_2", "a b"),
        ("one________etc", "../../etc"),
    ] {
        let found = registry
            .find(id)
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!(found.interface.identity.native_ids["mcp.tool"], native);
    }
    let long = registry
        .views()
        .into_iter()
        .find(|view| view.record.id().starts_with("one__xxx"));
    assert_eq!(long.unwrap().record.id().len(), 64);
    let told: Vec<String> = faults.iter().map(|fault| fault.message.clone()).collect();
    assert_eq!(
        told.len(),
        2,
        "no schema, and one that is elsewhere: {told:?}"
    );
    let view = server.view();
    assert_eq!(view.tools.len(), mcp::limits::TOOLS_MAX);
    for left_out in [
        "`echo` is left out: the server lists it twice",
        "`none` is left out",
        "`huge` is left out",
        "`` is left out",
        "more than 1000 tools",
    ] {
        assert!(
            view.left_out.iter().any(|told| told.contains(left_out)),
            "{left_out}: {:?}",
            view.left_out
        );
    }
    assert_eq!(echo(&server, "still").await, "still");
}

#[tokio::test]
async fn a_list_without_end_is_cut() {
    let server = fixture(&["endless"]).await;
    let view = server.view();
    assert_eq!(view.tools.len(), mcp::limits::PAGES_MAX);
    assert!(
        view.left_out[0].contains("does not end"),
        "{:?}",
        view.left_out
    );
}

/// A change in the middle of a call: the call ends well, the next one is refused until the person looked.
#[tokio::test]
async fn a_tool_that_changes_is_not_called_until_it_is_approved_anew() {
    for traits in [&[][..], &["modern"]] {
        let server = fixture(traits).await;
        let before = server.version();
        assert_eq!(said(&server, "change", json!({})).await, "changed");
        until(|| server.version() > before).await;
        let told = call(&server, "echo", json!({ "message": "x" }))
            .await
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("is not what it was when it was approved"),
            "{told}"
        );
        assert_eq!(
            said(&server, "env", json!({ "name": "NONE" })).await,
            "nothing",
            "the others are as they were"
        );
        let view = server.view();
        let changed: Vec<_> = view
            .tools
            .iter()
            .filter(|tool| tool.pin != PinState::Pinned)
            .collect();
        assert_eq!(changed.len(), 1);
        let difference = join_spans(&changed[0].changes);
        assert!(
            difference.contains("+  \"description\": \"Says it to everybody.\""),
            "{difference}"
        );
        assert!(
            server
                .tools()
                .iter()
                .all(|tool| tool.interface().id() != "one__echo"),
            "it is not offered"
        );
        let catalogue = server.catalogue().unwrap();
        assert_eq!(view.pending_digest, Some(catalogue.digest()));
        server.set_pins(server.pins().approve_all(&catalogue));
        assert_eq!(server.view().pending_digest, None);
        assert_eq!(echo(&server, "approved").await, "approved");
    }
}

#[tokio::test]
async fn what_hides_something_waits_for_a_look() {
    let server = fixture(&["hidden"]).await;
    assert!(
        server
            .tools()
            .iter()
            .all(|tool| tool.interface().id() != "one__sly")
    );
    let view = server.view();
    let sly = view.tools.last().unwrap();
    assert_eq!(
        (sly.pin, join_spans(&sly.description).as_str()),
        (PinState::New, "ReadsU+202E everything")
    );
}

/// An address where nobody unknown is let in says so: with a word on how to sign in, and without one.
#[tokio::test]
async fn an_address_that_lets_nobody_in_is_told() {
    for challenge in ["", "WWW-Authenticate: Bearer realm=\"here\"\r\n"] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answering = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut asked = [0; 8192];
                let _ = stream.read(&mut asked).await;
                let answer = format!(
                    "HTTP/1.1 401 Unauthorized\r\n{challenge}Content-Length: 0\r\nConnection: close\r\n\r\n"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        let transport = ServerTransport::Http {
            url,
            headers: BTreeMap::new(),
            client: None,
        };
        let server = McpServer::new(
            ServerSettings {
                transport,
                ..settings(&[])
            },
            ToolPins::default(),
            ground(),
        );
        let why = server.ensure_connected().await.unwrap_err().message;
        assert_eq!(
            why, "mcp server one is unavailable: authentication failed.",
            "{challenge}"
        );
        answering.abort();
    }
}
