//! The registry: which tools there are, how they are found, who may join them.

use std::sync::Arc;

use async_trait::async_trait;
use policy::Approved;
use protocol::interface::InterfaceBuilder;
use protocol::{
    Access, Capability, RequirementSet, ToolError, ToolInterface, ToolKind, ToolMode, ToolOutput,
};
use serde_json::{Map, Value, json};
use tools::{ExecutionContext, LOCKED_TOOL_IDS, Registry, Tool, ToolContext};

use crate::support::object;

/// A tool of somebody else.
pub struct Foreign(pub ToolInterface);

impl Foreign {
    pub fn named(id: &str) -> InterfaceBuilder {
        ToolInterface::builder(id)
            .description("Does something.")
            .model_input_schema(json!({"type": "object"}))
            .requires(RequirementSet::empty())
    }
}

#[async_trait]
impl Tool for Foreign {
    fn interface(&self) -> &ToolInterface {
        &self.0
    }

    fn target(&self, _arguments: &Map<String, Value>) -> String {
        String::new()
    }

    fn accesses(&self, _arguments: &Map<String, Value>) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(
        &self,
        _: &Approved,
        _: &ToolContext,
        _: &ExecutionContext,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new("done", "done"))
    }
}

#[test]
fn what_there_is_s001_46_s002_25() {
    use ToolMode::{Destructive, External, Local, Read, SafeWrite};
    let registry = Registry::builtin();
    let views = registry.views();
    let seen: Vec<_> = views
        .iter()
        .map(|v| (v.record.id(), v.mode, v.record.kind(), v.mode_from.as_str()))
        .collect();
    let by_tool = "declared by the tool";
    assert_eq!(
        seen,
        [
            ("read", Some(Read), ToolKind::Read, by_tool),
            ("write", Some(SafeWrite), ToolKind::Edit, by_tool),
            ("edit", Some(SafeWrite), ToolKind::Edit, by_tool),
            ("glob", Some(Read), ToolKind::Search, by_tool),
            ("grep", Some(Read), ToolKind::Search, by_tool),
            ("bash", Some(Local), ToolKind::Execute, by_tool),
            ("question", Some(Read), ToolKind::Other, by_tool),
            ("todo", Some(Read), ToolKind::Other, by_tool),
            ("task", Some(External), ToolKind::Other, by_tool),
            ("web_search", Some(External), ToolKind::Fetch, by_tool),
            ("web_fetch", Some(External), ToolKind::Fetch, by_tool),
            ("skill", Some(Read), ToolKind::Think, by_tool),
            ("tool_search", Some(Read), ToolKind::Search, by_tool),
            ("delete_path", Some(Destructive), ToolKind::Delete, by_tool),
            ("apply_patch", Some(SafeWrite), ToolKind::Edit, by_tool),
            ("plan", Some(Read), ToolKind::Other, by_tool),
            ("plan_exit", Some(Read), ToolKind::Other, by_tool),
            ("repo_overview", Some(Read), ToolKind::Search, by_tool),
            ("lsp", Some(Read), ToolKind::Search, by_tool),
            ("lsp_rename", Some(SafeWrite), ToolKind::Edit, by_tool),
            ("notebook_edit", Some(SafeWrite), ToolKind::Edit, by_tool),
        ]
    );
    let definitions = registry.definitions();
    assert_eq!(
        definitions.len(),
        20,
        "the model sees ids only (M05), and not that of what other agents call"
    );
    for definition in definitions.iter() {
        assert!(
            definition.description.len() > 40,
            "S002-03: {}",
            definition.name
        );
        assert_eq!(
            definition.parameters["additionalProperties"], false,
            "S002-04: {}",
            definition.name
        );
    }
}

/// `S002-11`: every name of the locked set is there, and it is the house's own.
#[test]
fn s002_11_the_locked_set_is_whole() {
    let registry = Registry::builtin();
    for id in LOCKED_TOOL_IDS {
        let found = registry.find(id).unwrap();
        assert!(found.alias.is_none() && found.interface.id() == id, "{id}");
        assert_eq!(
            found.interface.origin,
            protocol::interface::ToolOrigin::BuiltIn
        );
    }
}

#[test]
fn other_names_lead_to_the_same_tool_s003_04_s001_46() {
    let registry = Registry::builtin();
    for (alias, id) in [
        ("read_file", "read"),
        ("write_file", "write"),
        ("edit_file", "edit"),
        ("list_files", "glob"),
        ("search", "grep"),
        ("bash", "bash"),
    ] {
        let found = registry.find(alias).unwrap();
        assert_eq!(found.tool.interface().id(), id);
        assert_eq!(
            found.alias.map(|a| a.name.as_str()),
            (alias != id).then_some(alias)
        );
    }
    // Arguments that a person edits under the call's alias are checked under that alias.
    let found = registry.find("edit_file").unwrap();
    let problems = |given: Value| found.find_problems(given.as_object().unwrap());
    let fits = json!({ "path": "a", "old_text": "x", "new_text": "y" });
    assert_eq!(problems(fits), [""; 0]);
    assert_eq!(
        problems(json!({ "path": "a", "old_text": 1, "new_text": "y" })),
        ["`old_text` must be a string, but the number 1 was given"]
    );
}

#[test]
fn an_unknown_name_gets_a_hint_s001_22_s000_03() {
    let registry = Registry::builtin();
    for (name, error) in [
        ("reed", "Tool not found: reed. Did you mean `read`?"),
        (
            "readfile",
            "Tool not found: readfile. Did you mean `read` or `edit`?",
        ),
        (
            "delete",
            "Tool not found: delete. Did you mean `delete_path`?",
        ),
        (
            "browser_open",
            "Tool not found: browser_open. The tools are read, write, edit, glob, grep, bash, question, todo, task, web_search, web_fetch, skill, tool_search, delete_path, apply_patch, plan, plan_exit, repo_overview, lsp, lsp_rename.",
        ),
    ] {
        assert_eq!(
            registry.find(name).map(|_| ()).unwrap_err().to_string(),
            error
        );
    }
}

#[test]
fn what_each_tool_declares_s002_12_to_s002_20() {
    use Capability::{FsDelete, FsRead, FsWrite, ShellRun};
    let registry = Registry::builtin();
    for (id, tool, arguments, accesses, target) in [
        (
            "S002-12",
            "read",
            json!({"path": "a"}),
            vec![Access::new(FsRead, "a")],
            "a",
        ),
        (
            "S002-13",
            "write",
            json!({"path": "a", "content": ""}),
            vec![Access::new(FsWrite, "a")],
            "a",
        ),
        (
            "S002-14",
            "edit",
            json!({"path": "a", "old_string": "x", "new_string": "y"}),
            vec![Access::new(FsRead, "a"), Access::new(FsWrite, "a")],
            "a",
        ),
        (
            "S002-15",
            "glob",
            json!({"pattern": "*"}),
            vec![Access::new(FsRead, ".")],
            "*",
        ),
        (
            "S002-16",
            "grep",
            json!({"pattern": "x", "path": "src"}),
            vec![Access::new(FsRead, "src")],
            "x in src",
        ),
        (
            "S002-17",
            "bash",
            json!({"command": "ls"}),
            vec![Access::new(ShellRun, "ls")],
            "ls",
        ),
        ("S002-18", "todo", json!({"items": []}), vec![], "0 items"),
        (
            "S002-20",
            "question",
            json!({"questions": [{"question": "a?"}]}),
            vec![],
            "a?",
        ),
        (
            "",
            "delete_path",
            json!({"path": "a"}),
            vec![Access::new(FsDelete, "a")],
            "a",
        ),
        // A value that is shown in one line hides nothing.
        (
            "",
            "write",
            json!({"path": "a\u{202e}b", "content": ""}),
            vec![Access::new(FsWrite, "a\u{202e}b")],
            "aU+202Eb",
        ),
    ] {
        let found = registry.find(tool).unwrap();
        let checked = found.validate_arguments(object(&arguments)).unwrap();
        assert_eq!(found.tool.accesses(&checked.arguments), accesses, "{id}");
        assert_eq!(found.tool.target(&checked.arguments), target, "{id}");
    }
    let requires = |tool: &str| {
        registry
            .find(tool)
            .unwrap()
            .tool
            .interface()
            .requires
            .clone()
    };
    assert_eq!(requires("todo"), RequirementSet::default(), "S002-18");
    assert_eq!(requires("question"), RequirementSet::default(), "S002-20");
    assert_eq!(
        requires("bash"),
        RequirementSet::empty().with_command("*"),
        "S002-17"
    );
    assert_eq!(
        requires("edit"),
        RequirementSet::empty().with_read("**").with_write("**"),
        "S002-14"
    );
}

#[test]
fn who_may_join_s002_26_s002_07_s002_106() {
    let mut registry = Registry::builtin();
    let mut refused = |interface: InterfaceBuilder| {
        registry
            .register(Arc::new(Foreign(interface.build())))
            .unwrap_err()
            .to_string()
    };
    for id in LOCKED_TOOL_IDS {
        assert!(
            refused(Foreign::named(id)).starts_with(&format!("The name `{id}` is locked")),
            "S002-26"
        );
    }
    let alias = |name: &str| Foreign::named("mine").add_alias(name, &[]);
    let schema = |parameters: Value| Foreign::named("mine").model_input_schema(parameters);
    for (interface, error) in [
        (alias("task"), "The name `task` is locked"),
        (
            alias("read_file"),
            "The name `read_file` is taken by the tool `read`.",
        ),
        (
            Foreign::named("delete_path"),
            "The name `delete_path` is taken by the tool `delete_path`.",
        ),
        (
            Foreign::named("mine").description(" "),
            "The tool `mine` has no description",
        ),
        (
            Foreign::named("two words"),
            "`two words` cannot be the name of a tool.",
        ),
        (Foreign::named(""), "`` cannot be the name of a tool."),
        (
            Foreign::named("mine").kind(ToolKind::Fetch),
            "The tool `mine` changes or reaches something but requires nothing.",
        ),
        (
            Foreign::named("mine")
                .kind(ToolKind::Other)
                .is_open_world(true),
            "The tool `mine` changes or reaches something but requires nothing.",
        ),
        (
            schema(json!({"type": "string"})),
            "The parameters of the tool `mine` are not the schema of an object.",
        ),
        (
            schema(json!({"type": "object", "properties": {"a": {"type": "strin"}}})),
            "The parameters of the tool `mine` are not a valid JSON Schema",
        ),
    ] {
        let text = refused(interface);
        assert!(text.starts_with(error), "{text}");
    }
    registry
        .register(Arc::new(Foreign(Foreign::named("get_weather").build())))
        .unwrap();
    registry
        .register(Arc::new(Foreign(Foreign::named("weather").build())))
        .unwrap();
    let views = registry.views();
    let modes: Vec<_> = views[Registry::builtin().count()..]
        .iter()
        .map(|v| (v.mode, v.mode_from.as_str()))
        .collect();
    assert_eq!(
        modes,
        [
            (Some(ToolMode::Read), "from the pattern `get_`"),
            (None, "not declared, and its name fits no pattern"),
        ],
        "M21"
    );
    assert_eq!(
        registry.find("get_weather").unwrap().tool.interface().id(),
        "get_weather"
    );
}
