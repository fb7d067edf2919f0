//! Documents of well-known services, as they ship them: every operation becomes a tool, and every schema holds.

use std::collections::HashSet;
use std::io::Read;

use flate2::read::GzDecoder;
use openapi::{ApiDocument, BaseUrlOptions, DocumentSource, OperationFilter, OperationPins};
use protocol::server::mcp_servers::ServerId;
use serde_json::Value;
use tools::Schema;

/// A document, and its number of operations.
const ALL: [(&str, usize); 17] = [
    ("airflow.json", 73),
    ("asana.json", 167),
    ("box.json", 260),
    ("digitalocean.json", 290),
    ("discourse.json", 84),
    ("gitea.json", 346),
    ("github.json", 1_223),
    ("jira.json", 499),
    ("launchdarkly.json", 105),
    ("netbox.json", 844),
    ("opa.json", 16),
    ("rclone.yaml", 101),
    ("square.json", 200),
    ("styles.json", 25),
    ("telnyx.json", 361),
    ("twilio.json", 195),
    ("wikimedia.json", 35),
];

pub fn text(name: &str) -> String {
    let path = format!("{}/tests/documents/{name}.gz", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

pub fn read(name: &str) -> ApiDocument {
    let bases = BaseUrlOptions {
        document: Some("https://api.example.com/openapi".to_owned()),
        ..BaseUrlOptions::default()
    };
    let source = DocumentSource::from_text(&text(name)).unwrap();
    ApiDocument::parse(&source, &bases, &OperationFilter::default()).unwrap()
}

/// How many operations a text of JSON has, counted by nobody of ours.
fn operations(text: &str) -> usize {
    let methods = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace",
    ];
    let document: Value = serde_json::from_str(text).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let all = paths.flat_map(|path| path.as_object().unwrap().keys());
    all.filter(|key| methods.contains(&key.as_str())).count()
}

/// `S001-53`: one tool for each operation, whose schema is one that arguments are checked by.
#[test]
fn s001_53_every_operation_of_real_documents_becomes_a_tool() {
    for (name, count) in ALL {
        let document = read(name);
        assert_eq!(document.left_out, Vec::<String>::new(), "{name}");
        assert_eq!(document.operations.len(), count, "{name}");
        if name.ends_with(".json") {
            assert_eq!(operations(&text(name)), count, "{name}");
        }
        let mut called = HashSet::new();
        for pinned in OperationPins::approve_initial(&document).tools {
            let operation = &pinned.definition;
            let made = Schema::from_parameters(&operation.key(), &operation.input_schema);
            made.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            assert!(
                called.insert(pinned.called.clone()),
                "{name}: {}",
                pinned.called
            );
            let is_callable = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(pinned.called.chars().all(is_callable), "{}", pinned.called);
        }
        assert_eq!(called.len(), count, "{name}: nothing hides");
    }
}

/// Some of them letter for letter.
#[test]
fn some_operations_are_read_like_this() {
    for (name, key) in [
        ("github.json", "POST /repos/{owner}/{repo}/issues"),
        (
            "github.json",
            "POST /repos/{owner}/{repo}/releases/{release_id}/assets",
        ),
        (
            "twilio.json",
            "POST /2010-04-01/Accounts/{AccountSid}/Messages.json",
        ),
        ("box.json", "POST /files/content"),
        ("discourse.json", "POST /uploads.json"),
        ("rclone.yaml", "POST /operations/copyfile"),
        ("gitea.json", "GET /repos/search"),
        ("styles.json", "GET /anything/query"),
    ] {
        let document = read(name);
        let operation = document
            .operations
            .iter()
            .find(|operation| operation.key() == key)
            .unwrap_or_else(|| panic!("{key}"));
        let file = key.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_json_snapshot!(format!("{}_{file}", name.split('.').next().unwrap()), operation);
        });
    }
}

/// The file of the approvals keeps its members: what a person approved is read by every version.
#[test]
fn approvals_are_stored_with_their_operations() {
    let folder = tempfile::tempdir().unwrap();
    let id = ServerId::try_from("one".to_owned()).unwrap();
    let pins = OperationPins::approve_initial(&read("styles.json"));
    pins.save(folder.path(), &id).unwrap();
    let text = runtime::read_text(&folder.path().join("apis/one.json")).unwrap();
    let stored: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let members =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(members(&stored), ["version", "title", "tools"]);
    assert_eq!(members(&stored["tools"][0]), ["called", "operation"]);
    let loaded = OperationPins::load(folder.path(), &id).unwrap();
    assert_eq!(loaded, Some(pins));
}
