//! Data of a sign-in that is kept, and that is not: without a keychain, and from one process to the next.

use std::sync::Arc;

use mcp::{McpServer, ServerDependencies, ToolPins};
use protocol::server::mcp_servers::{ServerState, SignInState};
use serde_json::json;

use crate::authorization_server::Authority;
use crate::sign_in::{far, server};
use crate::support::*;

/// A keychain that cannot be asked keeps nothing: a server that asks for no sign-in works without one, which its log says, and
/// one that does says that it wants a sign-in. Only keeping one needs a keychain, and the fault names the way without.
#[tokio::test]
async fn a_server_needs_no_keychain_to_be_asked() {
    let authority = Authority::open().await;
    let locked = Arc::new(Chain {
        is_locked: true,
        ..Chain::default()
    });
    authority.is(|mood| mood.asks_nobody = true);
    let open = server(&authority.server(), &locked);
    open.ensure_connected().await.unwrap();
    open.set_pins(ToolPins::approve_initial(&open.catalogue().unwrap()));
    assert_eq!(said(&open, "hello", json!({})).await, "hello");
    logged(
        &open,
        "Connecting without a kept sign-in: The keychain is locked.",
    )
    .await;

    authority.is(|mood| mood.asks_nobody = false);
    let closed = server(&authority.server(), &locked);
    closed.ensure_connected().await.unwrap_err();
    assert_eq!(closed.view().state, ServerState::NeedsSignIn);
    let fault = closed.sign_in().await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "Signing in to `one` could not begin: The keychain is locked. What you sign in with is kept in the keychain. Without \
         one, set the server up with a header `Authorization` whose value names an environment variable: `Bearer ${NAME}`."
    );
}

/// Another process signs in later: it knows what the server wanted of the first one, also where only a call was refused, and
/// where the server greets everybody.
#[tokio::test]
async fn what_a_server_wants_is_known_to_the_process_that_signs_in() {
    let (authority, chain) = (Authority::open().await, Arc::new(Chain::default()));
    let data = tempfile::tempdir().unwrap();
    let process = || {
        let ground = ServerDependencies {
            vault: chain.clone(),
            data_dir: Some(data.path().to_owned()),
            ..ground()
        };
        Arc::new(McpServer::new(
            far(&authority.server()),
            ToolPins::default(),
            ground,
        ))
    };
    let scope = |server: &McpServer| {
        let address = url::Url::parse(&waits_at(server)).unwrap();
        let scope = address.query_pairs().find(|(name, _)| name == "scope");
        scope.unwrap().1.into_owned()
    };
    let signs_in = async |server: &Arc<McpServer>| {
        server.sign_in().await.unwrap();
        let scope = scope(server);
        assert_eq!(opened(&led_on(&waits_at(server)).await).await.0, 200);
        assert_eq!(settled(server).await, Some(SignInState::Done));
        scope
    };
    authority.is(|mood| mood.greets_everybody = true);
    let first = process();
    first.ensure_connected().await.unwrap_err();
    assert_eq!(first.view().state, ServerState::NeedsSignIn);
    drop(first);
    assert_eq!(
        process().view().sign_in,
        Some(SignInState::Needed { why: None }),
        "another one tells it"
    );
    assert_eq!(signs_in(&process()).await, "read");
    assert_eq!(process().view().sign_in, None);

    authority.is(|mood| mood.wants_more = true);
    let caller = process();
    caller.ensure_connected().await.unwrap();
    caller.set_pins(ToolPins::approve_initial(&caller.catalogue().unwrap()));
    call(&caller, "hello", json!({})).await.unwrap_err();
    drop(caller);
    authority.is(|mood| mood.wants_more = false);
    let again = process();
    again.ensure_connected().await.unwrap();
    assert_eq!(
        again.view().sign_in,
        Some(SignInState::Needed { why: None }),
        "connecting does not settle it"
    );
    assert_eq!(signs_in(&process()).await, "read write");
    assert_eq!(process().view().sign_in, None);

    // Nobody knows of a challenge, and the server greets a stranger.
    authority.is(|mood| mood.greets_everybody = true);
    chain.kept.lock().unwrap().take();
    assert_eq!(signs_in(&process()).await, "read");
}
