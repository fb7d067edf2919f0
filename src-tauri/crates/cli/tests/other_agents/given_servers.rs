//! The same agents in a session of ours that is given a server: a call of its tool is made through the gateway, judged once,
//! and recorded once.

use serde_json::json;

use crate::agents::{Agent, CLAUDE_CODE, OPENCODE};
use crate::model::{FINAL, Model, PROMPT};
use crate::named_tools::NamedTools;
use crate::session::finish_run;
use crate::support::CliFixture;
use crate::{REASON, programs, recorded_calls};

/// A server made with the protocol's own SDK: its tools add a line to a file in its folder, and say so.
const SERVER: &str = r#"
import { appendFileSync } from "node:fs";
import { McpServer } from "SDK/server/mcp.js";
import { StdioServerTransport } from "SDK/server/stdio.js";

const server = new McpServer({ name: "small", version: "1.0.0" });
for (const name of ["keep", "drop"]) {
  server.registerTool(name, { description: `Does ${name}.` }, () => {
    appendFileSync("FILE", `${name}\n`);
    return { content: [{ type: "text", text: `WAS-${name.toUpperCase()}` }] };
  });
}
await server.connect(new StdioServerTransport());
"#;

#[test]
fn claude_code_calls_a_server_that_it_is_given() {
    run_story(
        &CLAUDE_CODE,
        ["mcp__small-NNNNNNNNNN__keep", "mcp__small-NNNNNNNNNN__drop"],
    );
}

#[test]
fn opencode_calls_a_server_that_it_is_given() {
    run_story(
        &OPENCODE,
        ["small-NNNNNNNNNN_keep", "small-NNNNNNNNNN_drop"],
    );
}

/// A call of a server's tool that is allowed, and one that a rule denies. `tools` is what the agent calls them, with `N`s in the
/// place of the end of the server's name, which is another one whenever the agent starts.
fn run_story(agent: &Agent, tools: [&'static str; 2]) {
    let place = CliFixture::new();
    let kept = place.write_outside_file("kept.log", "");
    let sdk = programs().join("../@modelcontextprotocol/sdk/dist/esm");
    let script = SERVER.replace("SDK", &sdk.canonicalize().unwrap().display().to_string());
    let script = place.write_outside_file("server.mjs", &script.replace("FILE", &kept));
    place.run_ok(&["servers", "add", "small", "--", "node", &script]);
    place.run_ok(&["servers", "enable", "small"]);
    let rules = format!(
        "[[rule]]\npermission = \"small__drop\"\naction = \"deny\"\nreason = \"{REASON}\"\n"
    );
    std::fs::write(place.data().join("rules.toml"), rules).unwrap();
    let model = Model::start(&place, &tools.map(|tool| (tool, json!({}))));
    let prefix = tools[0].strip_suffix("keep").unwrap();
    let named = NamedTools::start(model.base_url(), prefix);
    (agent.configure)(&place, named.base_url());

    let args = [
        "--agent",
        agent.id,
        "--servers",
        "small",
        "--approve-all",
        PROMPT,
    ];
    let ran = finish_run(agent, &place, named.base_url(), &args);
    // A call was denied.
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.out.contains(FINAL), "{ran:?}");
    // The server was called once, by the call that was allowed.
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "keep\n", "{ran:?}");
    assert_eq!(
        recorded_calls(&place),
        ["small__keep done", "small__drop denied"]
    );
    // The model read what the server said, and why it was not called again.
    let read = model.requests();
    for text in ["WAS-KEEP", REASON] {
        assert!(read.contains(text), "{text}: {read}");
    }
}
