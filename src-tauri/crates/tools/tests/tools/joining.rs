//! Tools of somebody else: what they must say, what they are called, what a model sees of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::interface::{InterfaceBuilder, SchemaVisibility};
use protocol::settings::ToolSettings;
use protocol::{RequirementSet, ToolInterface, ToolKind, ToolMode};
use serde_json::{Value, json};
use tools::Registry;

use crate::registry::Foreign;
use crate::support::object;

fn tool(interface: InterfaceBuilder) -> Arc<dyn tools::Tool> {
    Arc::new(Foreign(interface.build()))
}

fn refused(interface: InterfaceBuilder) -> String {
    let (_, faults) = Registry::default().with_tools(vec![tool(interface)]);
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn requires_must_be_said_s002_07() {
    let silent = ToolInterface::builder("mine").description("Does something.");
    assert!(
        refused(silent.clone()).starts_with("The tool `mine` does not say what it requires."),
        "{}",
        refused(silent.clone())
    );
    assert_eq!(
        refused(silent.requires(RequirementSet::empty())),
        "",
        "to need nothing can be said"
    );
    let touching = Foreign::named("mine").requires(RequirementSet::empty().with_read("**"));
    assert!(
        refused(touching.clone()).contains("gives a classifier nothing to judge by"),
        "S003-60"
    );
    assert_eq!(refused(touching.classifier_input("{path}")), "");
    let typo = Foreign::named("mine").requires(RequirementSet::empty().with_read("{workspce}/**"));
    assert!(
        refused(typo).contains("uses the variable `{workspce}`, which is not defined"),
        "S002-60"
    );
}

/// A record that declines what is always done, asks for what nobody does, or leaves a capability untold joins nothing
/// (`S003-10`, `S003-23`, `S003-26`, `S003-42`).
#[test]
fn a_record_says_what_is_so() {
    let mine = || Foreign::named("mine");
    let reads = || {
        let reads = RequirementSet::empty().with_read("**");
        mine().requires(reads).classifier_input("{path}")
    };
    for (record, told) in [
        (
            mine().schema_validation(false),
            "says `validation.schema_validation` is false, but arguments are checked",
        ),
        (
            mine().deny_before_io(false),
            "says `validation.deny_before_io` is false, but what is denied",
        ),
        (
            mine().result_mapper("mine"),
            "wants its result made by `mine`, and nobody here is called so",
        ),
        (
            reads().capability_refs(["fs.write".to_owned()]),
            "requires `fs.read`, but does not list it among its capabilities",
        ),
    ] {
        let refused = refused(record);
        let told = format!("The tool `mine` {told}");
        assert!(refused.starts_with(&told), "{refused}");
    }
    let whole = reads()
        .capability_refs(["fs.read".to_owned(), "more".to_owned()])
        .result_mapper("outcome")
        .schema_validation(true);
    assert_eq!(refused(whole), "");
}

#[test]
fn a_namespace_keeps_equal_names_apart_s003_05_m11() {
    let of = |server: &str| tool(Foreign::named("read_file").namespace(server));
    // Two servers whose names run into each other.
    let clash = tool(Foreign::named("file").namespace("a__read"));
    let other = tool(Foreign::named("read__file").namespace("a"));
    let (registry, faults) =
        Registry::builtin().with_tools(vec![of("a"), of("b"), of("b"), clash, other]);
    assert_eq!(faults, []);
    let ids: Vec<String> = registry
        .definitions()
        .iter()
        .map(|d| d.name.clone())
        .skip(Registry::builtin().definitions().len())
        .collect();
    assert_eq!(
        ids,
        [
            "a__read_file",
            "b__read_file",
            "b__read_file_2",
            "a__read__file",
            "a__read__file_2"
        ]
    );
    for id in &ids {
        let found = registry.find(id).unwrap();
        assert_eq!(found.interface.id(), id);
    }
    assert_eq!(
        registry.find("read_file").unwrap().interface.id(),
        "read",
        "an alias of the house stays"
    );
    let native = BTreeMap::from([("mcp".to_owned(), "Read File!".to_owned())]);
    let (registry, _) = Registry::default().with_tools(vec![tool(
        Foreign::named("x")
            .namespace("s")
            .native_ids(native.clone()),
    )]);
    assert_eq!(
        registry.find("s__x").unwrap().interface.identity.native_ids,
        native,
        "S003-06"
    );
    // An id of its own, and still found by namespace and name.
    let (registry, _) = Registry::default().with_tools(vec![tool(
        Foreign::named("x").namespace("s").tool_id("own_id"),
    )]);
    assert_eq!(registry.find("own_id").unwrap().interface.id(), "own_id");
    assert_eq!(registry.find("s__x").unwrap().interface.id(), "own_id");
    let long = Foreign::named(&"n".repeat(60)).namespace("s");
    let (registry, faults) = Registry::default().with_tools(vec![tool(long.clone()), tool(long)]);
    assert_eq!((registry.definitions().len(), faults), (2, vec![]));
    assert!(registry.definitions().iter().all(|d| d.name.len() <= 64));
}

#[test]
fn what_a_model_sees_first_s003_12_s003_13_s003_11_s003_18() {
    let named = |name: &str| Foreign::named(name);
    let (registry, faults) = Registry::default().with_tools(vec![
        tool(named("plain")),
        tool(named("deferred").should_defer(true)),
        tool(named("loaded").should_defer(true).always_load(true)),
        tool(named("hosts").schema_visibility(SchemaVisibility::Host)),
        tool(named("off").is_enabled(false)),
    ]);
    assert_eq!(faults, []);
    let listed: Vec<String> = registry
        .definitions()
        .iter()
        .map(|d| d.name.clone())
        .collect();
    assert_eq!(listed, ["plain", "loaded"]);
    assert!(
        registry.find("deferred").is_ok(),
        "left out of the catalogue, not out of reach"
    );
    let missing = |name: &str| registry.find(name).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        missing("off"),
        "Tool not found: off. It is switched off; do without it.",
        "S003-18"
    );
    assert_eq!(
        missing("of"),
        "Tool not found: of. The tools are plain, deferred, loaded.",
        "never suggested"
    );
    assert_eq!(
        missing("host"),
        "Tool not found: host. The tools are plain, deferred, loaded."
    );
}

#[test]
fn what_the_person_set_holds() {
    let set = |name: &str, enabled, mode| {
        Registry::builtin().with_settings(&BTreeMap::from([(
            name.to_owned(),
            ToolSettings { enabled, mode },
        )]))
    };
    let (registry, faults) = set("grep", false, None);
    assert_eq!(faults, []);
    assert!(
        registry.find("grep").is_err() && registry.find("search").is_err(),
        "S003-18"
    );
    assert!(
        registry.definitions().iter().all(|d| d.name != "grep"),
        "S003-18"
    );
    for (tool, mode, holds) in [
        ("read", ToolMode::Local, true),
        ("read", ToolMode::Read, true),
        ("bash", ToolMode::Read, false),
        ("bash", ToolMode::Destructive, false),
        ("bash", ToolMode::Local, true),
        ("edit", ToolMode::External, false),
        ("delete_path", ToolMode::SafeWrite, false),
    ] {
        let (registry, faults) = set(tool, true, Some(mode));
        let classified = registry.find(tool).unwrap().classified;
        assert_eq!(faults.is_empty(), holds, "{tool} {mode:?}");
        assert_eq!(classified.from == "set by you", holds);
        assert_eq!(
            Registry::builtin().check_setting(tool, Some(mode)).is_ok(),
            holds
        );
    }
    let (_, faults) = set("bash", true, Some(ToolMode::Read));
    assert_eq!(
        faults[0].message,
        "The mode read is looser than the tool `bash` is by itself: local."
    );
    assert!(Registry::builtin().check_setting("nothing", None).is_err());
    assert!(
        Registry::builtin().check_setting("search", None).is_err(),
        "an alias is no tool"
    );
}

/// `S002-09`, `S002-10`.
#[test]
fn a_tool_that_joins_extends_what_all_require() {
    let needs = RequirementSet::empty().with_host("docs.rs");
    let (registry, _) = Registry::builtin().with_tools(vec![tool(
        Foreign::named("docs")
            .requires(needs)
            .classifier_input("{q}"),
    )]);
    let before = Registry::builtin().requirements().clone();
    let files = RequirementSet::empty().with_read("**").with_write("**");
    assert_eq!(
        before,
        files.with_host("*:*").with_command("*"),
        "each thing once"
    );
    assert_eq!(
        *registry.requirements(),
        before.clone().with_host("docs.rs"),
        "S002-10"
    );
    let manifest = RequirementSet::empty().with_read("docs/**");
    assert_eq!(
        RequirementSet::union([&manifest, registry.requirements()])
            .fs
            .read,
        ["docs/**", "**"],
        "S002-09"
    );
}

fn with_internal() -> InterfaceBuilder {
    let model = json!({"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": false});
    let mut runtime = model.clone();
    runtime["properties"]["trace"] =
        json!({"type": "string", "visibility": "internal", "mutation_source": "hook"});
    Foreign::named("mine")
        .model_input_schema(model)
        .runtime_input_schema(runtime)
}

/// `S003-40`.
#[test]
fn progress_has_a_schema_or_none() {
    let progress = |schema: Value| refused(Foreign::named("mine").progress_schema(Some(schema)));
    assert_eq!(progress(json!({"type": "string"})), "");
    let told = progress(json!({"type": "words"}));
    assert!(
        told.contains("The progress schema of the tool `mine`"),
        "{told}"
    );
}

/// `S003-17`, `S003-58`: the model is to be held to the schema unless the tool says otherwise.
#[test]
fn strictness_goes_with_the_definition() {
    let tools = vec![
        tool(Foreign::named("silent")),
        tool(Foreign::named("loose").strict(false)),
    ];
    let (registry, faults) = Registry::default().with_tools(tools);
    assert_eq!(faults, []);
    let strict: Vec<bool> = registry.definitions().iter().map(|d| d.strict).collect();
    assert_eq!(strict, [true, false]);
}

#[test]
fn what_only_the_host_puts_in_s003_62_to_s003_66() {
    let (registry, faults) = Registry::default().with_tools(vec![tool(with_internal())]);
    assert_eq!(faults, []);
    let definition = registry.definitions()[0].parameters.to_string();
    assert!(!definition.contains("trace"), "S003-62: {definition}");
    let found = registry.find("mine").unwrap();
    let error = found
        .validate_arguments(object(&json!({"q": "x", "trace": "t"})))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Invalid arguments: `trace` is put in by the host (hook) and cannot be given; leave it out",
        "S003-66"
    );
    let given = object(&json!({"q": "x"})).clone();
    assert!(
        found.has_supplied_source("hook") && !found.has_supplied_source("adapter"),
        "S003-65"
    );
    let full = |source, own: Value| {
        let put_in = vec![(source, object(&own).clone())];
        found
            .complete_arguments(given.clone(), put_in)
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        full("hook", json!({"trace": "t"})).unwrap(),
        *object(&json!({"q": "x", "trace": "t"})),
        "S003-63"
    );
    for (source, own, told) in [
        (
            "hook",
            json!({"trace": 1}),
            "does not fit the tool: 1 is not of type",
        ),
        (
            "hook",
            json!({"q": "y"}),
            "The host put in `q`, which is not its to put in",
        ),
        ("adapter", json!({"trace": "t"}), "The host put in `trace`"),
    ] {
        let error = full(source, own).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
    // S003-64, S003-65: unmarked, without a source, or in the wrong schema.
    let marked = |marks: Value| {
        let mut schema = with_internal().build().schemas.runtime_input_schema;
        schema["properties"]["trace"] = marks;
        refused(with_internal().runtime_input_schema(schema))
    };
    assert!(
        marked(json!({"type": "string"})).contains("is not marked as internal"),
        "S003-64"
    );
    assert!(
        marked(json!({"visibility": "internal"})).contains("does not say who puts it in"),
        "S003-65"
    );
    let leaking = json!({"type": "object", "properties": {"t": {"visibility": "internal", "mutation_source": "hook"}}});
    assert!(
        refused(Foreign::named("mine").model_input_schema(leaking))
            .contains("in the schema for the model")
    );
}

#[test]
fn schemas_that_would_do_harm() {
    let schema = |schema: Value| Foreign::named("mine").model_input_schema(schema);
    // Nothing is fetched: a remote reference is no schema that this build can know.
    let remote =
        json!({"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}});
    let text = refused(schema(remote));
    assert!(text.contains("127.0.0.1:9/schema.json"), "{text}");
    let file = json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/hostname"}}});
    assert!(refused(schema(file)).contains("not a valid JSON Schema"));
    let nested = |open: &str, close: &str, levels: usize| -> Value {
        let text = format!("{}{{}}{}", open.repeat(levels), close.repeat(levels));
        serde_json::from_str(&text).unwrap()
    };
    let deep = nested(r#"{"type": "object", "properties": {"a": "#, "}}", 60);
    let text = refused(schema(deep));
    assert!(text.contains("nested deeper than 64 levels"), "{text}");
    // From outside nothing so deep even arrives: the reader of JSON gives up first.
    let text = format!("{}{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    assert!(
        serde_json::from_str::<Value>(&text)
            .unwrap_err()
            .to_string()
            .contains("recursion limit")
    );
    // A schema may go in circles; arguments that follow it are finite.
    let cyclic = json!({
        "type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": false,
    });
    let bomb =
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}});
    let huge =
        json!({"type": "object", "properties": {"a": {"pattern": "(?:a{1000}){1000}{1000}"}}});
    assert!(refused(schema(huge)).contains("not a valid JSON Schema"));
    let (registry, faults) = Registry::default().with_tools(vec![
        tool(Foreign::named("cyclic").model_input_schema(cyclic)),
        tool(Foreign::named("bomb").model_input_schema(bomb)),
    ]);
    assert_eq!(faults, []);
    let check = |name: &str, arguments: &Value| {
        registry
            .find(name)
            .unwrap()
            .validate_arguments(object(arguments))
    };
    assert!(check("cyclic", &json!({"next": {"next": {}}})).is_ok());
    assert!(check("cyclic", &json!({"next": {"nxt": {}}})).is_err());
    let evil = format!("{}!", "a".repeat(50_000));
    assert!(
        check("bomb", &json!({"a": evil})).is_err(),
        "in time that grows with the text alone"
    );
    assert!(check("cyclic", &nested(r#"{"next": "#, "}", 63)).is_ok());
    let text = check("cyclic", &nested(r#"{"next": "#, "}", 64))
        .unwrap_err()
        .to_string();
    assert!(text.contains("nested deeper than 64 levels"), "{text}");
}

#[test]
fn five_hundred_tools_are_found_at_once_s001_02() {
    let many = (0..500)
        .map(|n| tool(Foreign::named(&format!("tool_{n}")).kind(ToolKind::Other)))
        .collect();
    let (registry, faults) = Registry::builtin().with_tools(many);
    assert_eq!(faults, []);
    let own = Registry::builtin().definitions().len();
    assert_eq!(registry.definitions().len(), own + 500);
    assert!(
        Arc::ptr_eq(&registry.definitions(), &registry.clone().definitions()),
        "made once"
    );
    let last = registry.find("tool_499").unwrap();
    assert_eq!(last.interface.id(), "tool_499");
    let text = registry
        .find("browser")
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(text.ends_with("and 480 more."), "{text}");
}
