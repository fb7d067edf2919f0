//! Published facts of each built-in tool, compared with what it does: one example call for each.

use std::path::PathBuf;

use policy::QuestionAnswers;
use protocol::interface::{
    AbortSemantics, EmptyResultPolicy, PermissionChannel, PermissionMatcher, RenderHint,
    fill_template,
};
use protocol::{Access, Capability, Preview, RequirementSet, ToolError, ToolInterface};
use serde_json::{Value, json};
use tools::{PreviewedPlan, Registry};

use crate::support::{Bench, object, told};

/// A call of a tool, and what holds of it.
struct Example {
    tool: &'static str,
    arguments: Value,
    /// Arguments that fit the schema and make no sense; none where every value that fits does.
    senseless: Option<Value>,
    /// Arguments that make sense and cannot work in this workspace; none where nothing is looked at before.
    impossible: Option<Value>,
    /// Arguments of the call that has the least to tell; none for the example itself.
    least: Option<Value>,
    /// Whether it needs nobody but the machine, so that it can be carried out here.
    runs_here: bool,
    /// The call in one line, what is going on while it runs, and what is searched for.
    told: [&'static str; 3],
}

impl Example {
    fn new(tool: &'static str, arguments: Value, told: [&'static str; 3]) -> Self {
        Self {
            tool,
            arguments,
            senseless: None,
            impossible: None,
            least: None,
            runs_here: true,
            told,
        }
    }

    fn senseless(mut self, arguments: Value) -> Self {
        self.senseless = Some(arguments);
        self
    }

    fn impossible(mut self, arguments: Value) -> Self {
        self.impossible = Some(arguments);
        self
    }

    fn least(mut self, arguments: Value) -> Self {
        self.least = Some(arguments);
        self
    }

    fn elsewhere(mut self) -> Self {
        self.runs_here = false;
        self
    }

    /// The answers of a person where the tool asks for some.
    fn answers(&self) -> Option<QuestionAnswers> {
        (self.tool == "question").then(|| QuestionAnswers::Answered(vec![vec!["this".to_owned()]]))
    }
}

const PATCH: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n-alpha\n+beta\n*** End Patch\n";
const BAD_PATCH: &str =
    "*** Begin Patch\n*** Update File: a.txt\n@@\n-gamma\n+beta\n*** End Patch\n";

const NOTEBOOK: &str =
    r#"{"cells": [{"cell_type": "markdown", "metadata": {}, "source": "alpha"}], "metadata": {}}"#;

/// One for each tool of the house, in their order.
fn examples() -> Vec<Example> {
    let place = json!({ "path": "a.txt", "line": 1, "symbol": "alpha", "new_name": "beta" });
    let no_place = json!({ "path": "a.txt", "new_name": "beta" });
    vec![
        Example::new(
            "read",
            json!({ "path": "a.txt" }),
            ["Read a.txt", "Reading a.txt", "a.txt"],
        )
        .senseless(json!({ "path": "a.txt", "offset": 1, "byte_offset": 1 }))
        .least(json!({ "path": "empty" })),
        Example::new(
            "write",
            json!({ "path": "b.txt", "content": "b" }),
            ["Write b.txt", "Writing b.txt", "b.txt b"],
        )
        .senseless(json!({ "path": "b/", "content": "b" }))
        .impossible(json!({ "path": "folder", "content": "b" }))
        .least(json!({ "path": "b.txt", "content": "" })),
        Example::new(
            "edit",
            json!({ "path": "a.txt", "old_string": "alpha", "new_string": "beta" }),
            ["Edit a.txt", "Editing a.txt", "a.txt alpha beta"],
        )
        .senseless(json!({ "path": "a.txt", "old_string": "x", "new_string": "x" }))
        .impossible(json!({ "path": "a.txt", "old_string": "gamma", "new_string": "x" })),
        Example::new(
            "glob",
            json!({ "pattern": "*.txt", "path": "folder" }),
            ["List *.txt folder", "Listing *.txt", "*.txt folder"],
        )
        .least(json!({ "pattern": "*.none" })),
        Example::new(
            "grep",
            json!({ "pattern": "alp", "include": "*.txt" }),
            ["Search alp", "Searching for alp", "alp  *.txt"],
        )
        .least(json!({ "pattern": "nowhere" })),
        Example::new(
            "bash",
            json!({ "command": "echo b | tee b.txt" }),
            [
                "Run echo b | tee b.txt",
                "Running echo b | tee b.txt",
                "echo b | tee b.txt",
            ],
        )
        .senseless(json!({ "command": "  " }))
        .least(json!({ "command": "true" })),
        Example::new(
            "question",
            json!({ "questions": [{ "question": "Which?" }] }),
            [
                "Ask",
                "Waiting for your answer",
                "[{\"question\":\"Which?\"}]",
            ],
        )
        .senseless(json!({ "questions": [{ "question": " " }] })),
        Example::new(
            "todo",
            json!({ "items": [{ "content": "test", "status": "pending" }] }),
            [
                "To do",
                "Updating the list of things to do",
                "[{\"content\":\"test\",\"status\":\"pending\"}]",
            ],
        )
        .senseless(json!({ "items": [{ "content": " ", "status": "pending" }] }))
        .least(json!({ "items": [] })),
        Example::new(
            "task",
            json!({ "subagent_type": "reviewer", "prompt": "Look." }),
            ["Task reviewer", "reviewer is at work", "reviewer Look."],
        )
        .senseless(json!({ "subagent_type": "nobody", "prompt": "Look." }))
        .elsewhere(),
        Example::new(
            "web_search",
            json!({ "query": "rust" }),
            ["Search the web: rust", "Searching the web: rust", "rust"],
        )
        .senseless(json!({ "query": " " }))
        .elsewhere(),
        Example::new(
            "web_fetch",
            json!({ "url": "https://docs.example/" }),
            [
                "Fetch https://docs.example/",
                "Fetching https://docs.example/",
                "https://docs.example/",
            ],
        )
        .senseless(json!({ "url": "file:///etc/passwd" }))
        .elsewhere(),
        Example::new(
            "skill",
            json!({ "name": "pdf" }),
            ["Skill pdf", "Loading the skill pdf", "pdf"],
        )
        .senseless(json!({ "name": "nothing" }))
        .elsewhere(),
        Example::new(
            "tool_search",
            json!({ "query": "issues" }),
            ["Find tools: issues", "Looking for tools: issues", "issues"],
        ),
        Example::new(
            "delete_path",
            json!({ "path": "a.txt" }),
            ["Delete a.txt", "Deleting a.txt", "a.txt"],
        )
        .impossible(json!({ "path": "nowhere" })),
        Example::new(
            "apply_patch",
            json!({ "patch": PATCH }),
            ["Apply a patch", "Applying a patch", PATCH.trim_end()],
        )
        .senseless(json!({ "patch": "nothing of the kind" }))
        .impossible(json!({ "patch": BAD_PATCH })),
        Example::new("plan", json!({}), ["Plan first", "Beginning to plan", ""]),
        Example::new(
            "plan_exit",
            json!({ "plan": "Test it." }),
            ["Plan", "Waiting for your answer to the plan", "Test it."],
        )
        .senseless(json!({ "plan": " " })),
        Example::new(
            "repo_overview",
            json!({ "path": "folder" }),
            ["Look over folder", "Looking over folder", "folder"],
        ),
        Example::new(
            "lsp",
            json!({ "action": "definition", "path": "a.txt", "line": 1, "symbol": "alpha" }),
            [
                "definition alpha a.txt",
                "Asking the language server about a.txt",
                "definition a.txt alpha",
            ],
        )
        .senseless(json!({ "action": "definition", "path": "a.txt" }))
        .elsewhere(),
        Example::new(
            "lsp_rename",
            place,
            [
                "Rename alpha to beta",
                "Renaming alpha to beta",
                "a.txt alpha beta",
            ],
        )
        .senseless(no_place)
        .elsewhere(),
        Example::new(
            "notebook_edit",
            json!({ "path": "n.ipynb", "cell_id": "cell-0", "new_source": "beta" }),
            ["Edit n.ipynb", "Editing n.ipynb", "n.ipynb beta"],
        )
        .senseless(json!({ "path": "n.ipynb", "new_source": "beta" }))
        .impossible(json!({ "path": "n.ipynb", "cell_id": "cell-1", "new_source": "beta" })),
    ]
}

fn bench() -> Bench {
    Bench::with(&[
        ("a.txt", b"alpha\n"),
        ("empty", b""),
        ("folder/c.txt", b"gamma\n"),
        ("n.ipynb", NOTEBOOK.as_bytes()),
    ])
}

/// The files of a workspace, by their paths within it.
fn files(bench: &Bench) -> Vec<(PathBuf, Vec<u8>)> {
    let root = bench.at("");
    let within = |path: PathBuf| path.strip_prefix(&root).unwrap().to_owned();
    let all = bench.everything().into_iter();
    all.map(|(path, bytes)| (within(path), bytes)).collect()
}

fn record<'a>(registry: &'a Registry, example: &Example) -> &'a ToolInterface {
    registry.find(example.tool).unwrap().interface
}

fn accesses(bench: &Bench, example: &Example) -> Vec<Access> {
    let found = bench.registry.find(example.tool).unwrap();
    found.tool.accesses(object(&example.arguments))
}

#[test]
fn every_tool_of_the_house_has_its_example() {
    let views = Registry::builtin().views();
    let ids: Vec<&str> = views.iter().map(|view| view.record.id()).collect();
    let examples = examples();
    let tools: Vec<&str> = examples.iter().map(|example| example.tool).collect();
    assert_eq!(tools, ids);
}

/// `S003-27`, `S003-28`, `S003-53`: what is said to only read leaves every file as it was, anything else changes one; what is
/// said to destroy takes one away, and nothing else does; what may run beside others gives the same side by side.
#[tokio::test]
async fn what_they_do_to_files_is_what_they_say() {
    for example in examples().iter().filter(|example| example.runs_here) {
        let (tool, bench) = (example.tool, bench());
        let (before, record) = (bench.everything(), record(&bench.registry, example));
        let answers = example.answers();
        let output = bench.answered(tool, &example.arguments, answers).await;
        let output = output.unwrap();
        let after = bench.everything();
        assert_eq!(
            record.safety.is_read_only,
            after == before,
            "{tool}: S003-27"
        );
        let is_there = |path| after.iter().any(|(other, _)| other == path);
        let is_gone = before.iter().any(|(path, _)| !is_there(path));
        assert_eq!(record.safety.is_destructive, is_gone, "{tool}: S003-28");
        if record.safety.is_concurrency_safe {
            let again = || bench.call(tool, &example.arguments);
            let (one, two) = tokio::join!(again(), again());
            for beside in [one.unwrap(), two.unwrap()] {
                let same = (&beside.text, &beside.data) == (&output.text, &output.data);
                assert!(same, "{tool}: S003-53");
            }
        }
    }
}

/// `S003-10`, `S003-29`, `S003-31`, `S003-34`: capabilities, the sandbox that it would need, what rules are matched
/// with, and whether its world is open are those of what a call says that it touches.
#[test]
fn what_they_reach_is_what_they_say() {
    let bench = bench();
    for example in examples() {
        let (tool, record) = (example.tool, record(&bench.registry, &example));
        // The search provider is not known before one is set up.
        let accesses = match tool {
            "web_search" => vec![Access::new(Capability::NetFetch, "")],
            _ => accesses(&bench, &example),
        };
        let touches = |wanted: &[Capability]| {
            let mut touched = accesses.iter().map(|access| access.capability);
            touched.any(|touched| wanted.contains(&touched))
        };
        use Capability::{FsDelete, FsRead, FsWrite, NetFetch, ShellRun};
        let (reads, writes) = (touches(&[FsRead]), touches(&[FsWrite, FsDelete]));
        let (reaches, runs) = (touches(&[NetFetch]), touches(&[ShellRun]));
        let needed = [
            ("fs.read", reads),
            ("fs.write", writes),
            ("net.fetch", reaches),
            ("shell.run", runs),
        ];
        let needed = needed.iter().filter(|(_, needed)| *needed);
        let needed: Vec<&str> = needed.map(|(capability, _)| *capability).collect();
        assert_eq!(record.discovery.capability_refs, needed, "{tool}: S003-10");
        let (profile, matcher) = match () {
            () if runs => ("command", PermissionMatcher::Command),
            () if reaches => ("network", PermissionMatcher::Host),
            () if writes => ("workspace_write", PermissionMatcher::Path),
            () if reads => ("workspace_read", PermissionMatcher::Path),
            () => ("nothing", PermissionMatcher::Nothing),
        };
        assert_eq!(record.safety.sandbox_profile, profile, "{tool}: S003-31");
        let says = record.permission.permission_matcher;
        assert_eq!(says, matcher, "{tool}: S003-34");
        // A tool that gives work to an agent reaches what that agent reaches.
        let is_open = reaches || runs || record.execution.execution_profile_ref == "delegate";
        assert_eq!(record.safety.is_open_world, is_open, "{tool}: S003-29");
    }
}

/// `S003-23`, `S003-24`, `S003-25`: what is said to be checked is refused before it runs, and nothing is touched; where
/// nothing is said, there is nothing to refuse.
#[tokio::test]
async fn what_is_checked_is_what_they_say() {
    for example in examples() {
        let (tool, bench) = (example.tool, bench());
        let (before, found) = (bench.everything(), bench.registry.find(tool).unwrap());
        let rules = &found.interface.validation;
        assert!(rules.schema_validation, "{tool}: S003-23");
        let mut strange = object(&example.arguments).clone();
        strange.insert("strange".to_owned(), json!(1));
        let refused = found.validate_arguments(&strange).unwrap_err();
        assert!(refused.to_string().contains("`strange`"), "{tool}: S003-23");

        let says = !rules.value_validation.is_empty();
        assert_eq!(example.senseless.is_some(), says, "{tool}: S003-24");
        if let Some(senseless) = &example.senseless {
            assert_eq!(
                found.find_problems(object(senseless)).len(),
                1,
                "{tool}: S003-24"
            );
            let refused = found.tool.validate(object(senseless)).unwrap_err();
            let of_value = !matches!(refused, ToolError::Cancelled | ToolError::Stale(_));
            assert!(of_value, "{tool}: S003-24: {refused}");
        }
        // A language server has to be there to look at anything.
        if example.runs_here {
            let says = !rules.io_preflight_validation.is_empty();
            assert_eq!(example.impossible.is_some(), says, "{tool}: S003-25");
        }
        if let Some(impossible) = &example.impossible {
            let refused = bench.prepare(tool, impossible).await;
            assert!(refused.is_err(), "{tool}: S003-25: {refused:?}");
        }
        assert_eq!(bench.everything(), before, "{tool}");
    }
}

/// `S003-30`, `S003-35`, `S003-37`, `S003-50`: who has to answer, how they are asked, and what is shown of a call that was
/// refused follow from what a call shows before it runs.
#[tokio::test]
async fn what_is_shown_is_what_they_say() {
    for example in examples().iter().filter(|example| example.runs_here) {
        let (tool, bench) = (example.tool, bench());
        let found = bench.registry.find(tool).unwrap();
        let record = found.interface;
        let needs_answer = found.tool.headless_refusal().is_some();
        assert_eq!(
            record.safety.requires_user_interaction, needs_answer,
            "{tool}: S003-30"
        );
        let by_person = record.execution.execution_profile_ref == "person";
        assert_eq!(by_person, needs_answer, "{tool}: S003-37");
        let PreviewedPlan { preview, .. } = bench.prepare(tool, &example.arguments).await.unwrap();
        let is_form = record.permission.permission_channel == PermissionChannel::Form;
        assert_eq!(
            is_form,
            matches!(preview, Preview::Form { .. }),
            "{tool}: S003-35"
        );
        let shown = match preview {
            Preview::Diff { .. } => RenderHint::Difference,
            Preview::Command(_) => RenderHint::Command,
            Preview::Loss(_) => RenderHint::Loss,
            Preview::Form { .. } | Preview::Plan { .. } => RenderHint::Form,
            _ => RenderHint::Line,
        };
        assert_eq!(
            record.rendering.rejected_render_hint, shown,
            "{tool}: S003-50"
        );
    }
}

/// `S003-40`, `S003-45`, `S003-49`, `S003-51`: only what tells how it goes on says in which shape, and nobody is ever told
/// nothing at its end.
#[tokio::test]
async fn what_is_told_is_what_they_say() {
    for example in examples().iter().filter(|example| example.runs_here) {
        let (tool, bench) = (example.tool, bench());
        let record = record(&bench.registry, example);
        let answers = example.answers();
        bench
            .answered(tool, &example.arguments, answers)
            .await
            .unwrap();
        let speaks = !bench.heard.lock().unwrap().is_empty();
        assert_eq!(
            record.execution.progress_schema.is_some(),
            speaks,
            "{tool}: S003-40"
        );
        let hints = &record.rendering;
        let terminal = hints.progress_render_hint == RenderHint::Terminal;
        assert_eq!(terminal, speaks, "{tool}: S003-49");
        let terminal = hints.error_render_hint == RenderHint::Terminal;
        assert_eq!(terminal, speaks, "{tool}: S003-51");

        let least = example.least.as_ref().unwrap_or(&example.arguments);
        let bench = self::bench();
        let output = bench
            .answered(tool, least, example.answers())
            .await
            .unwrap();
        assert_eq!(
            record.result.empty_result_policy,
            EmptyResultPolicy::NeverEmpty
        );
        assert!(!told(&output).trim().is_empty(), "{tool}: S003-45");
    }
}

/// `S003-39`: a call that is stopped does what its tool says of that: its one step is there wholly or not at all, or it ended
/// where it was, with whatever it had started. None is let go of with its end unknown.
#[tokio::test]
async fn what_stopping_does_is_what_they_say() {
    for example in examples().iter().filter(|example| example.runs_here) {
        let (tool, bench, stopped) = (example.tool, bench(), bench());
        let before = files(&bench);
        let whole = bench
            .answered(tool, &example.arguments, example.answers())
            .await;
        stopped.cancel.cancel();
        let ended = stopped
            .answered(tool, &example.arguments, example.answers())
            .await;
        let (all, left) = (files(&bench), files(&stopped));
        match record(&bench.registry, example).execution.abort_semantics {
            AbortSemantics::WholeOrNothing => {
                let expected = if ended.is_ok() { all } else { before };
                assert_eq!(left, expected, "{tool}: {ended:?}");
            }
            AbortSemantics::EndsAtNextStep => {
                let is_whole = ended
                    .as_ref()
                    .is_ok_and(|ended| Ok(ended) == whole.as_ref());
                assert!(
                    is_whole || ended == Err(ToolError::Cancelled),
                    "{tool}: {ended:?}"
                );
                assert_eq!(left, before, "{tool}");
            }
            // That it ends what it started stands in `bash::cancelling_ends_it_s002_101_s003_39`.
            AbortSemantics::KillsProcessGroup => {
                assert_eq!(ended, Err(ToolError::Cancelled), "{tool}");
            }
            AbortSemantics::Abandons => panic!("{tool}: nobody can say what it still does"),
        }
    }
}

/// `S003-47`, `S003-48`, `S003-52`: the texts name what a call acts on.
#[test]
fn the_texts_of_a_call_name_what_it_acts_on() {
    let registry = Registry::builtin();
    for example in examples() {
        let rendering = &record(&registry, &example).rendering;
        let [summary, activity, searched] = [
            &rendering.ui_summary,
            &rendering.activity_description,
            &rendering.transcript_search_text,
        ]
        .map(|text| fill_template(text, object(&example.arguments)));
        let texts = [summary.as_str(), &activity, &searched];
        assert_eq!(texts, example.told, "{}", example.tool);
    }
}

/// `S003-19`, `S003-20`, `S003-21`, `S003-22`, `S003-33`, `S003-42`: nothing of the house needs a key, a certain model or a
/// switch of its own: what runs here runs with none. Only what says so has to be set up; what holds where no rule speaks is the
/// mode, and the outcome is the pipeline's.
#[test]
fn what_they_stand_on_is_what_they_say() {
    let registry = Registry::builtin();
    for view in registry.views() {
        let (record, id) = (&view.record, view.record.id());
        let availability = &record.availability;
        assert_eq!(availability.required_credentials, [""; 0], "{id}: S003-20");
        assert_eq!(availability.model_requirements, [""; 0], "{id}: S003-21");
        assert_eq!(availability.feature_gate_refs, [""; 0], "{id}: S003-22");
        let missing = registry.find(id).unwrap().tool.missing_setup();
        assert_eq!(
            availability.requires_setup,
            missing.is_some(),
            "{id}: S003-19"
        );
        let mode = view.mode.map(|mode| format!("mode:{}", mode.as_str()));
        let profile = record.permission.permission_profile_ref.clone();
        assert_eq!(Some(profile), mode, "{id}: S003-33");
        assert_eq!(record.result.result_mapper, "outcome", "{id}: S003-42");
        let needs_nothing = record.requires == RequirementSet::empty();
        let named = record.safety.classifier_input.is_empty();
        assert!(!named || needs_nothing, "{id}: S003-60");
    }
}
