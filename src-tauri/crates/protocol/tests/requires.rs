//! Requirements of a tool: their shape, their variables, and how commands are matched.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use protocol::RequirementSet;
use protocol::interface::requirements::VariableValues;
use serde_json::{Value, json};

fn set(value: Value) -> RequirementSet {
    serde_json::from_value(value).unwrap()
}

#[test]
fn the_shape_of_the_specification_s002_47_to_s002_51() {
    let whole = json!({
        "fs": {"read": ["docs/**"], "write": ["out/*.txt"]}, // S002-47, S002-48
        "net": {"hosts": ["*.example.org"]},                 // S002-49
        "shell": [{"cmd": "git", "args": ["log", {"wildcard": true}, {"prefix": "--"}]}, {"cmd": "ls"}], // S002-50
        "capabilities": ["clipboard"],                       // S002-51
    });
    assert_eq!(serde_json::to_value(set(whole.clone())).unwrap(), whole);
    assert_eq!(
        set(whole).capability_names(),
        ["fs.read", "fs.write", "net.fetch", "shell.run", "clipboard"]
    );
    assert_eq!(
        serde_json::to_value(RequirementSet::empty()).unwrap(),
        json!({})
    );
    for wrong in [
        json!({"file": {}}),
        json!({"fs": {"delete": []}}),
        json!({"fs": {"read": "docs"}}),
        json!({"shell": [{"args": []}]}),
        json!({"shell": [{"cmd": "git", "args": [{"wildcard": false}]}]}),
        json!({"shell": [{"cmd": "git", "args": [{"prefix": "a", "wildcard": true}]}]}),
        json!({"shell": [{"cmd": "git", "args": [1]}]}),
    ] {
        assert!(
            serde_json::from_value::<RequirementSet>(wrong.clone()).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn commands_are_matched_word_by_word_s002_52_to_s002_55() {
    let any = json!({"wildcard": true});
    let dashes = json!({"prefix": "--"});
    for (id, args, argv, covered) in [
        ("S002-52", json!(["log"]), &["git", "log"][..], true),
        ("S002-52", json!(["log"]), &["git", "logs"], false),
        ("S002-53", json!([any]), &["git", "anything at all"], true),
        ("S002-53", json!([any]), &["git"], false),
        ("S002-53", json!([any]), &["git", "a", "b"], false),
        ("S002-54", json!([dashes]), &["git", "--all"], true),
        ("S002-54", json!([dashes]), &["git", "-a"], false),
        ("S002-55", json!(["a", "b"]), &["git", "b", "a"], false),
        ("S002-55", json!(["a", "b"]), &["git", "a"], false),
        ("S002-55", json!(["a", "b"]), &["git", "a", "b", "c"], false),
        ("S002-55", json!([]), &["git"], true),
        ("S002-55", json!([]), &["git", "log"], false),
        ("S002-50", json!(["log"]), &["hg", "log"], false),
        ("S002-50", json!(["log"]), &["/tmp/git", "log"], false),
        ("S002-50", json!(["log"]), &[], false),
        (
            "S002-50",
            Value::Null,
            &["git", "whatever", "follows"],
            true,
        ),
    ] {
        let run = json!({"shell": [{"cmd": "git", "args": args}]});
        let surface = set(run)
            .compile("the tool `t`")
            .unwrap()
            .expand(&VariableValues::default());
        assert_eq!(surface.shell[0].covers(argv), covered, "{id}: {argv:?}");
    }
}

#[test]
fn variables_stand_for_places_s002_56() {
    let needs = RequirementSet::empty()
        .with_read("{workspace}/src/**")
        .with_read("docs/*.{md,txt}")
        .with_read("{ad-hoc}/*")
        .with_write("{user-data}/notes")
        .compile("the tool `t`")
        .unwrap();
    let around = VariableValues {
        workspace: vec!["/w".to_owned(), "/more".to_owned()],
        ad_hoc: vec!["/open".to_owned()],
        user_data: Some("/data".to_owned()),
    };
    let surface = needs.expand(&around);
    assert_eq!(
        surface.read,
        ["/w/src/**", "/more/src/**", "docs/*.{md,txt}", "/open/*"]
    );
    assert_eq!(surface.write, ["/data/notes"]);
    // Where there is no such place there is no pattern, and nothing is covered.
    let nowhere = needs.expand(&VariableValues::default());
    assert_eq!(
        (nowhere.read, nowhere.write),
        (vec!["docs/*.{md,txt}".to_owned()], vec![])
    );
}

#[test]
fn an_undefined_variable_is_an_error_at_once_s002_60() {
    for (pattern, problem) in [
        (
            "{workspce}/**",
            "uses the variable `{workspce}`, which is not defined",
        ),
        (
            "{Workspace}",
            "uses the variable `{Workspace}`, which is not defined",
        ),
        ("a/{}", "uses the variable `{}`, which is not defined"),
        ("a/{workspace", "has a `{` without a `}`"),
        ("", "is empty"),
        ("a/../../b", "leads up with `..`"),
        ("~/.ssh/*", "begins with `~`"),
    ] {
        for needs in [
            RequirementSet::empty().with_read(pattern),
            RequirementSet::empty().with_write(pattern),
            RequirementSet::empty().with_host(pattern),
        ] {
            let fault = needs.compile("the manifest").unwrap_err();
            assert!(fault.message.contains(problem), "{fault}");
            assert!(fault.message.contains("the manifest"), "{fault}");
        }
    }
    assert!(
        RequirementSet::empty()
            .with_command(" ")
            .compile("the manifest")
            .is_err()
    );
}
