//! Servers of agents as the window shows them, and their change in two steps.

use protocol::connection::{AgentServerView, AgentServersView, ConnectionPlan, ServerRoute};
use serde_json::json;

use super::*;

const ID: &str = "claude-code";
const CLAUDE: &str = ".claude.json";

fn claude_servers() -> String {
    let config = json!({
        "mcpServers": {
            "files": { "command": "npx", "args": ["server-files"], "env": { "TOKEN": "plain value" } },
            "old": { "type": "sse", "url": "https://old.example/sse" },
        },
        "projects": { "/home/me/work": { "mcpServers": { "local": { "command": "local" } } } },
    });
    serde_json::to_string_pretty(&config).unwrap()
}

/// Returns the servers, or panics with the reason why they cannot be read.
fn servers_of(home: &Home) -> Vec<AgentServerView> {
    match inspect_agent(agent(ID), &home.place()).servers {
        Some(AgentServersView::Readable { servers, .. }) => servers,
        other => panic!("{other:?}"),
    }
}

fn routes(home: &Home) -> Vec<ServerRoute> {
    let servers = servers_of(home).into_iter();
    servers.map(|server| server.route).collect()
}

fn can_restore(home: &Home) -> bool {
    let servers = inspect_agent(agent(ID), &home.place()).servers;
    matches!(
        servers,
        Some(AgentServersView::Readable {
            can_restore: true,
            ..
        })
    )
}

fn show(home: &Home, action: ConnectionAction) -> ConnectionPlan {
    let planned = plan_change(ID, action, &home.place()).unwrap();
    planned.expect("there is something to change")
}

fn make(home: &Home, action: ConnectionAction, plan: &ConnectionPlan) {
    make_shown_change(ID, action, &plan.digest, &home.place()).unwrap();
}

#[test]
fn each_server_is_listed_with_its_way_and_its_folder() {
    let home = Home::new();
    home.write_file(&home.path(CLAUDE), &claude_servers());
    let servers = servers_of(&home);
    let names: Vec<_> = servers
        .iter()
        .map(|server| (server.name.as_str(), server.folder.as_deref()))
        .collect();
    assert_eq!(
        names,
        [
            ("files", None),
            ("old", None),
            ("local", Some("/home/me/work"))
        ]
    );
    assert_eq!(servers[0].route, ServerRoute::Direct);
    assert!(
        matches!(&servers[1].route, ServerRoute::Fixed { reason } if reason.contains("SSE")),
        "{servers:?}"
    );
    assert_eq!(servers[2].route, ServerRoute::Direct);
    assert!(!can_restore(&home));
}

#[test]
fn servers_are_listed_without_our_program_but_not_connected() {
    let home = Home::new();
    home.write_file(&home.path(CLAUDE), &claude_servers());
    let lost = ConnectionPlace {
        program: None,
        ..home.place()
    };
    let listed = inspect_agent(agent(ID), &lost).servers;
    assert_eq!(listed, inspect_agent(agent(ID), &home.place()).servers);
    let error = plan_change(ID, ConnectionAction::ConnectServers, &lost).unwrap_err();
    assert!(error.message.contains("`countersign`"), "{error}");
}

#[test]
fn servers_that_were_shown_are_connected_and_put_back_to_the_byte() {
    let home = Home::new();
    let text = claude_servers();
    home.write_file(&home.path(CLAUDE), &text);
    let plan = show(&home, ConnectionAction::ConnectServers);
    assert_eq!(
        read_file(&home.path(CLAUDE)).as_deref(),
        Some(text.as_str())
    );
    assert_eq!(Path::new(&plan.diff.path), home.path(CLAUDE));
    let shown = serde_json::to_string(&plan).unwrap();
    assert!(
        shown.contains("gateway") && !shown.contains("plain value"),
        "{shown}"
    );
    assert!(
        plan.notes.len() == 1 && plan.notes[0].server == "old",
        "{:?}",
        plan.notes
    );
    let copy = plan.copy.clone().expect("what was there is kept");
    make(&home, ConnectionAction::ConnectServers, &plan);
    assert_eq!(read_file(Path::new(&copy)).as_deref(), Some(text.as_str()));
    let expected = [ServerRoute::Gateway, servers_of(&home)[1].route.clone()];
    assert_eq!(routes(&home)[..2], expected);
    assert_eq!(routes(&home)[2], ServerRoute::Gateway);
    assert!(can_restore(&home));
    let again = plan_change(ID, ConnectionAction::ConnectServers, &home.place()).unwrap();
    assert!(again.is_none(), "{again:?}");

    let plan = show(&home, ConnectionAction::RestoreServers);
    assert_eq!(plan.copy, None);
    make(&home, ConnectionAction::RestoreServers, &plan);
    assert_eq!(
        read_file(&home.path(CLAUDE)).as_deref(),
        Some(text.as_str())
    );
    assert!(!can_restore(&home));
}

#[test]
fn servers_are_not_changed_in_another_way_than_was_shown() {
    let home = Home::new();
    home.write_file(&home.path(CLAUDE), &claude_servers());
    let plan = show(&home, ConnectionAction::ConnectServers);
    let other = claude_servers().replace("server-files", "server-more");
    home.write_file(&home.path(CLAUDE), &other);
    let connect = ConnectionAction::ConnectServers;
    let error = make_shown_change(ID, connect, &plan.digest, &home.place()).unwrap_err();
    let file = home.path(CLAUDE).display().to_string();
    assert!(error.message.starts_with(&file), "{error}");
    assert_eq!(read_file(&home.path(CLAUDE)), Some(other));
}

#[test]
fn servers_in_a_broken_file_say_why() {
    let home = Home::new();
    home.write_file(&home.path(CLAUDE), "{ \"mcpServers\": ");
    let found = inspect_agent(agent(ID), &home.place());
    let Some(AgentServersView::Unreadable { error }) = found.servers else {
        panic!("{found:?}");
    };
    assert!(error.message.contains(CLAUDE), "{error}");
    assert_eq!(
        found.state,
        ConnectionState::NotConnected,
        "its hooks are elsewhere"
    );
}
