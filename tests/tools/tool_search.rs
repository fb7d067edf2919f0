//! Tools that are too many to be shown at once: searched for, found, called; and never called before.

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::{
    Access, CallState, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};
use support::scripted_agents::ScriptedAgents;
use support::{Fixture, call_tool, say_text};
use tools::{ExecutionContext, Tool, ToolContext};

/// One of many tools of a server.
struct NumberedTool(ToolInterface);

impl NumberedTool {
    fn tools(count: usize) -> Vec<Arc<dyn Tool>> {
        let one = |n: usize| -> Arc<dyn Tool> {
            let interface = ToolInterface::builder(format!("issue_{n}"))
                .namespace("hub")
                .description(format!("Reads the issue of number {n}."))
                .model_input_schema(json!({ "type": "object" }))
                .requires(RequirementSet::empty())
                .mode(ToolMode::Read)
                .kind(ToolKind::Read);
            Arc::new(Self(interface.build()))
        };
        (0..count).map(one).collect()
    }
}

#[async_trait]
impl Tool for NumberedTool {
    fn interface(&self) -> &ToolInterface {
        &self.0
    }

    fn target(&self, _: &Map<String, Value>) -> String {
        String::new()
    }

    fn accesses(&self, _: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(
        &self,
        _: &Approved,
        _: &ToolContext,
        _: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new("read", "read"))
    }
}

async fn open_desk(cast: &Arc<ScriptedAgents>, count: usize) -> Fixture {
    Fixture::with_tools(cast.clone(), NumberedTool::tools(count)).await
}

fn offered(cast: &ScriptedAgents, turn: usize) -> Vec<String> {
    let asked = cast.requests();
    let foreign = asked[turn]
        .tools
        .iter()
        .filter(|tool| tool.name.starts_with("hub__"));
    foreign.map(|tool| tool.name.clone()).collect()
}

/// `S002-24`, `S002-41`: many tools of a server are not shown. One that is called all the same is not run; one that was found
/// can be called, for the rest of the session, also after a restart.
#[tokio::test]
async fn many_tools_are_searched_for() {
    let direct = || call_tool("hub__issue_7", json!({}));
    let cast = ScriptedAgents::new(
        [
            direct(),
            call_tool(
                "tool_search",
                json!({ "query": "issue 7", "max_results": 1 }),
            ),
            direct(),
            say_text(""),
            direct(),
            call_tool(
                "tool_search",
                json!({ "query": "select:hub__issue_9,hub__gone" }),
            ),
        ],
        [],
    );
    let mut desk = open_desk(&cast, 40).await;
    desk.play().await;
    let outcomes = desk.call_outcomes().await;
    let (state, text) = &outcomes[0];
    assert_eq!(*state, CallState::Failed);
    assert!(
        text.contains("is not loaded, and nothing was run"),
        "{text}"
    );
    assert!(
        outcomes[1]
            .1
            .starts_with("- hub__issue_7: Reads the issue of number 7."),
        "{outcomes:?}"
    );
    assert_eq!(outcomes[2], (CallState::Done, "read".to_owned()));
    assert_eq!(offered(&cast, 0), [""; 0]);
    assert_eq!(offered(&cast, 2), ["hub__issue_7"]);
    let search = cast.requests()[0]
        .tools
        .iter()
        .find(|tool| tool.name == "tool_search")
        .unwrap()
        .description
        .clone();
    assert!(search.ends_with("There are more of hub (40)."), "{search}");

    let mut desk = desk.restart().await;
    desk.send_message("On.").await;
    desk.wait_until_ended().await;
    let outcomes = desk.call_outcomes().await;
    assert_eq!(
        outcomes[3],
        (CallState::Done, "read".to_owned()),
        "{outcomes:?}"
    );
    assert!(
        outcomes[4].1.contains("Not there: hub__gone."),
        "{outcomes:?}"
    );
    assert_eq!(offered(&cast, 6), ["hub__issue_7", "hub__issue_9"]);
}

/// A few tools of a server are shown like all others, and called at once.
#[tokio::test]
async fn a_few_tools_are_shown() {
    let cast = ScriptedAgents::new([call_tool("hub__issue_0", json!({}))], []);
    let mut desk = open_desk(&cast, 3).await;
    desk.play().await;
    assert_eq!(offered(&cast, 0).len(), 3);
    assert_eq!(desk.call_outcomes().await[0].0, CallState::Done);
}
