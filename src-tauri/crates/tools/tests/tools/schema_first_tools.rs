//! Tools of JSON files: latent ones, ones that a program carries out, and what is wrong with files and programs.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use protocol::interface::ToolOrigin;
use protocol::{CallId, Plan, Preview, SessionId, ToolError, ToolKind, ToolMode, ToolOutput};
use runtime::Workspace;
use serde_json::{Value, json};
use tools::{ExecutionContext, SubAgentRequest, SubAgentSpawner, custom};

use crate::support::{Bench, approve, object};

const SENTIMENT: &str = r#"{"sentimentAnalysis": {
    "type": "object",
    "description": "Analyzes text sentiment",
    "properties": {
        "_tool": {"type": "string", "const": "sentimentAnalysis"},
        "text": {"type": "string", "description": "Text to analyze"},
        "_output": {"type": "object", "properties": {"sentiment": {"type": "string"}, "confidence": {"type": "number"}}}
    }
}}"#;

const SEARCH: &str = r##"{
    "type": "object",
    "title": "Web search",
    "properties": {
        "query": {"type": "string"},
        "_output": {"type": "object", "properties": {"found": {"$ref": "#/$defs/list"}}, "required": ["found"]}
    },
    "required": ["query"],
    "$defs": {"list": {"type": "array", "items": {"type": "string"}}}
}"##;

/// A workspace and a person's folder with these files, loaded; gives what is wrong.
fn load(bench: &mut Bench) -> Vec<String> {
    let person = Workspace::open(&bench.outside("data")).unwrap();
    let faults = custom::load_custom_tools(&mut bench.registry, &bench.hands.workspace, &person);
    faults.into_iter().map(|fault| fault.message).collect()
}

fn loaded(files: &[(&str, &str)]) -> Bench {
    let mut bench = Bench::new();
    for (path, text) in files {
        bench.put(path, text.as_bytes());
    }
    assert_eq!(load(&mut bench), Vec::<String>::new());
    bench
}

#[cfg(unix)]
fn program(bench: &Bench, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = format!(".countersign/activities/{name}");
    bench.put(&path, format!("#!/bin/sh\n{script}\n").as_bytes());
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.at(&path), mode).unwrap();
}

/// The specification's example, from its file to its result (`S004-15`, `S004-25` to `S004-27`, `S004-29`, `S004-48`).
#[tokio::test]
async fn a_latent_tool_gives_what_the_model_filled_in() {
    let bench = loaded(&[(".countersign/tools/sentiment.json", SENTIMENT)]);
    let call = json!({
        "text": "This is the best!",
        "_reasoningForCall": "The person asked.",
        "_output": { "sentiment": "positive", "confidence": 0.99 },
    });
    let output = bench.call("sentimentAnalysis", &call).await.unwrap();
    let result = json!({ "sentiment": "positive", "confidence": 0.99 });
    assert_eq!(
        (output.text, output.data),
        (result.to_string(), Some(result))
    );
    for (arguments, told) in [
        (json!({ "text": "x" }), "`_output` is missing"),
        (
            json!({ "text": "x", "_output": { "confidence": "high" } }),
            "`_output.confidence` must be a number",
        ),
        (
            json!({ "text": 1, "_output": {} }),
            "`text` must be a string",
        ),
    ] {
        let error = bench.error("sentimentAnalysis", &arguments).await;
        assert!(error.contains(told), "S004-27: {error}");
    }
    let found = bench.registry.find("sentimentAnalysis").unwrap();
    let interface = found.tool.interface();
    assert!(
        interface.requires.is_empty() && found.tool.accesses(object(&call)).is_empty(),
        "M17"
    );
    assert_eq!(
        (interface.mode(), interface.kind(), interface.origin.clone()),
        (
            Some(ToolMode::Read),
            ToolKind::Think,
            ToolOrigin::File {
                path: ".countersign/tools/sentiment.json".into()
            }
        )
    );
}

/// The program gets the parameters and nothing else, and its output is the result (`S004-09`, `S004-10`, `S004-20`,
/// `S004-28`, `S004-48`).
#[cfg(unix)]
#[tokio::test]
async fn an_activity_gets_parameters_and_gives_the_result() {
    let mut bench = Bench::new();
    bench.put(".countersign/tools/lookup.json", SEARCH.as_bytes());
    program(
        &bench,
        "lookup",
        "read line; echo \"got $line\" >&2; echo \"$line\" > got; echo '{\"found\":[\"a\"]}'",
    );
    assert_eq!(load(&mut bench), Vec::<String>::new());
    let call = json!({ "query": "it's", "_reasoningForCall": "So.", "_instance": "2", "_output": { "found": ["forged"] } });
    let Preview::Command(shown) = bench.prepare("lookup", &call).await.unwrap().preview else {
        panic!("a command is shown");
    };
    let command: String = shown
        .command
        .iter()
        .map(|span| span.text.as_str())
        .collect();
    assert_eq!(
        command,
        r#".countersign/activities/lookup <<< '{"query":"it'\''s"}'"#
    );
    let output = bench.call("lookup", &call).await.unwrap();
    assert_eq!(output.data, Some(json!({ "found": ["a"] })));
    assert_eq!(output.text, r#"{"found":["a"]}"#);
    assert_eq!(bench.text("got"), "{\"query\":\"it's\"}\n");
    assert_eq!(*bench.heard.lock().unwrap(), "got {\"query\":\"it's\"}\n");
    let found = bench.registry.find("lookup").unwrap();
    let interface = found.tool.interface();
    assert_eq!(
        (interface.mode(), interface.kind(), interface.title()),
        (Some(ToolMode::Local), ToolKind::Execute, "Web search")
    );
    assert_eq!(
        interface.requires.shell[0].cmd,
        ".countersign/activities/lookup"
    );
}

/// The schema for the model does not say who carries a tool out, so a program takes the place of another without a change of
/// the schema (`S004-23`, `S004-45`, `S004-49`).
#[cfg(unix)]
#[tokio::test]
async fn an_activity_is_replaced_without_its_tool() {
    let mut seen = Vec::new();
    for script in [
        "echo '{\"found\":[\"one\"]}'",
        "echo '{\"found\":[\"two\"]}'",
    ] {
        let mut bench = Bench::new();
        bench.put(".countersign/tools/lookup.json", SEARCH.as_bytes());
        program(&bench, "lookup.sh", script);
        assert_eq!(load(&mut bench), Vec::<String>::new());
        let output = bench
            .call("lookup", &json!({ "query": "x" }))
            .await
            .unwrap();
        let offered = bench
            .registry
            .definitions()
            .last()
            .unwrap()
            .parameters
            .to_string();
        seen.push((output.text, offered));
    }
    assert_eq!(seen[0].1, seen[1].1);
    assert_eq!(
        (seen[0].0.as_str(), seen[1].0.as_str()),
        (r#"{"found":["one"]}"#, r#"{"found":["two"]}"#)
    );
    // And the same tool without any program is latent.
    let bench = loaded(&[(".countersign/tools/lookup.json", SEARCH)]);
    let call = json!({ "query": "x", "_output": { "found": [] } });
    assert_eq!(bench.said("lookup", &call).await, r#"{"found":[]}"#);
}

/// Garbage, failure, silence, a flood, and a program that is not there: each is an error that says what to do.
#[cfg(unix)]
#[tokio::test]
async fn what_an_activity_does_wrong_is_named() {
    for (script, told) in [
        (
            "echo hello",
            "must write JSON on its standard output, but in line 1 expected value. It wrote: hello",
        ),
        ("echo '{\"found\":[]} x'", "must write JSON"),
        ("true", "must write JSON on its standard output"),
        (
            "echo '{\"found\":[],\"found\":[]}'",
            "the member `found` is there twice",
        ),
        (
            "echo '{}'",
            "does not fit `_output`: `output.found` is missing",
        ),
        (
            "echo '{\"found\":[1]}'",
            "`output.found[0]` must be a string",
        ),
        (
            "echo broken >&2; exit 3",
            "ended with exit code 3. It said: broken",
        ),
        ("kill -9 $$", "was ended by signal 9"),
        (
            "yes",
            "wrote more than 1.0 MB on its standard output and was ended",
        ),
        ("printf '\\377\\376'", "not UTF-8"),
    ] {
        let mut bench = Bench::new();
        bench.put(".countersign/tools/lookup.json", SEARCH.as_bytes());
        program(&bench, "lookup", script);
        load(&mut bench);
        let error = bench.error("lookup", &json!({ "query": "x" })).await;
        assert!(error.contains(told), "{script} gave: {error}");
    }
    let named = SEARCH.replacen(
        "\"query\"",
        "\"_activity\": {\"const\": \"gone\"}, \"query\"",
        1,
    );
    let mut bench = Bench::new();
    bench.put(".countersign/tools/lookup.json", named.as_bytes());
    load(&mut bench);
    let error = bench.error("lookup", &json!({ "query": "x" })).await;
    assert!(
        error.contains("There is no program `gone` in .countersign/activities"),
        "{error}"
    );
    bench.put(".countersign/activities/gone", b"#!/bin/sh\n");
    let mut again = Bench::new();
    again.put(".countersign/tools/lookup.json", named.as_bytes());
    again.put(".countersign/activities/gone", b"#!/bin/sh\n");
    load(&mut again);
    let error = again.error("lookup", &json!({ "query": "x" })).await;
    assert!(error.contains("It must be executable"), "{error}");
}

/// The program that was shown is the one that runs: if it changed meanwhile, it is shown anew.
#[cfg(unix)]
#[tokio::test]
async fn a_program_that_changed_is_shown_anew() {
    let mut bench = Bench::new();
    bench.put(".countersign/tools/lookup.json", SEARCH.as_bytes());
    program(&bench, "lookup", "echo '{\"found\":[]}'");
    load(&mut bench);
    let arguments = json!({ "query": "x" });
    let first = bench.prepare("lookup", &arguments).await.unwrap();
    program(&bench, "lookup", "touch evil; echo '{\"found\":[]}'");
    let found = bench.registry.find("lookup").unwrap();
    let approved = approve("lookup", object(&arguments).clone(), Plan::None, None);
    let cx = ExecutionContext::new(CallId::from("c_1"), "lookup", bench.cancel.clone());
    let ran = found.tool.execute(&approved, &bench.hands, &cx).await;
    assert!(matches!(ran, Err(ToolError::Stale(_))), "{ran:?}");
    assert_eq!(bench.get("evil"), None);
    assert_ne!(bench.prepare("lookup", &arguments).await.unwrap(), first);
}

/// Files with errors are named with file and line, and everything else is there (`S004-04`, `S004-14`).
#[test]
fn files_with_errors_do_not_keep_the_others_out() {
    let mut bench = Bench::new();
    std::fs::create_dir_all(bench.outside("data/tools")).unwrap();
    std::fs::write(
        bench.outside("data/tools/mine.json"),
        r#"{"mine":{"type":"object"}}"#,
    )
    .unwrap();
    bench.put(".countersign/tools/a.json", b"{\"read\":{\"type\":\"object\"},\n\"good\":{\"type\":\"object\"},\n\"mine\":{\"type\":\"object\"}}");
    bench.put(".countersign/tools/b.json", b"{\n\n\"x\"");
    bench.put(".countersign/tools/c.json", &[0xff, 0xfe]);
    bench.put(".countersign/tools/d.json/e.json", b"{}");
    bench.put(".countersign/tools/notes.txt", b"not a tool");
    bench.put(
        ".countersign/tools/z.json",
        br#"{"type":"object","properties":{"_delegate":{"const":"bad"}}}"#,
    );
    bench.put(
        ".countersign/delegates/bad.json",
        br#"{
            "context": [{"type":"tool","tool":{"a":{"type":"object","properties":{"_activity":{"const":"x"}}}}}]}"#,
    );
    let faults = load(&mut bench);
    for (at, told) in [
        "a.json, line 1: The name `read` is locked",
        "a.json, line 3: The name `mine` is taken by the tool `mine`",
        "b.json, line 3: EOF while parsing",
        "c.json: it is not UTF-8 text",
        "d.json: `.countersign/tools/d.json` is a folder",
        "bad.json, line 2: The tool `a` cannot be used: in a request only the model itself",
    ]
    .iter()
    .enumerate()
    {
        assert!(faults[at].contains(told), "{faults:#?}");
    }
    assert_eq!(faults.len(), 6, "{faults:#?}");
    for name in ["mine", "good", "z"] {
        assert!(bench.registry.find(name).is_ok(), "{name}");
    }
    let mine = bench.registry.find("mine").unwrap().tool.interface();
    assert!(
        matches!(&mine.origin, ToolOrigin::File { path } if path.ends_with("data/tools/mine.json")),
        "the person's own comes first"
    );
}

struct Taken(Mutex<Option<SubAgentRequest>>);

#[async_trait]
impl SubAgentSpawner for Taken {
    async fn run(
        &self,
        _cx: &ExecutionContext,
        request: SubAgentRequest,
    ) -> Result<ToolOutput, ToolError> {
        *self.0.lock().unwrap() = Some(request);
        Ok(ToolOutput::new("done", "done"))
    }

    async fn start(
        &self,
        _cx: &ExecutionContext,
        _request: SubAgentRequest,
    ) -> Result<SessionId, ToolError> {
        unreachable!("a delegate is waited for")
    }
}

/// A delegate gets its own prompt and tools, and of the caller only the parameters (`S004-11`).
#[tokio::test]
async fn a_delegate_gets_only_the_parameters() {
    let bench = loaded(&[
        (
            ".countersign/tools/review.json",
            r#"{"type":"object","properties":{"_delegate":{"const":"reviewer"},"path":{"type":"string"},"_output":{"type":"object"}}}"#,
        ),
        (
            ".countersign/delegates/reviewer.json",
            r#"{"config":{"tools":["read"],"temperature":0},"context":[{"type":"text","text":"You review."}]}"#,
        ),
    ]);
    let taken = Arc::new(Taken(Mutex::new(None)));
    let found = bench.registry.find("review").unwrap();
    let checked = found
        .validate_arguments(object(
            &json!({ "path": "a.rs", "_reasoningForCall": "So." }),
        ))
        .unwrap();
    let approved = approve("review", checked.arguments, Plan::None, None);
    let cx = ExecutionContext {
        sub_agent_spawner: Some(taken.clone()),
        elicitation: None,
        ..ExecutionContext::new(CallId::from("c_1"), "review", bench.cancel.clone())
    };
    found
        .tool
        .execute(&approved, &bench.hands, &cx)
        .await
        .unwrap();
    let request = taken.0.lock().unwrap().take().unwrap();
    assert_eq!(
        (
            request.instructions.as_str(),
            request.input.as_str(),
            request.output_schema
        ),
        (
            "You review.",
            r#"{"path":"a.rs"}"#,
            Some(json!({ "type": "object" }))
        )
    );
    assert_eq!(request.config.tools, ["read"]);
    let gone = r#"{"type":"object","properties":{"_delegate":{"const":"gone"}}}"#;
    let bench = loaded(&[(".countersign/tools/review.json", gone)]);
    let error = bench
        .error("review", &Value::Object(Default::default()))
        .await;
    assert!(error.contains("There is no request `gone`"), "{error}");
}
