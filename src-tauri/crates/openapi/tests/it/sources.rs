//! Where documents come from, which server is meant, and which operations are chosen.

use std::collections::BTreeMap;
use std::path::Path;

use openapi::{ApiDocument, BaseUrlOptions, DocumentSource, OperationFilter};
use runtime::NetworkClient;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::test_service::{Site, answer, net};

const TEXT: &str = "openapi: 3.0.3\ninfo: {title: Pets, version: '2'}\nservers: [{url: /v1}]\npaths:\n  /pets:\n    get: {operationId: list}\n";

fn read(source: &DocumentSource) -> ApiDocument {
    let bases = BaseUrlOptions {
        document: Some("https://example.com/docs/openapi.yaml".to_owned()),
        ..BaseUrlOptions::default()
    };
    ApiDocument::parse(source, &bases, &OperationFilter::default()).unwrap()
}

/// `S001-55`: from a string, a file, an address and a parsed document, JSON or YAML, it is the same document.
#[tokio::test]
async fn s001_55_a_document_comes_from_text_file_address_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let value = json!({
        "openapi": "3.0.3", "info": { "title": "Pets", "version": "2" }, "servers": [{ "url": "/v1" }],
        "paths": { "/pets": { "get": { "operationId": "list" } } },
    });
    let from_text = read(&DocumentSource::from_text(TEXT).unwrap());
    assert_eq!(
        (from_text.title.as_str(), from_text.version.as_str()),
        ("Pets", "2")
    );
    assert_eq!(from_text.operations[0].base, "https://example.com/v1");
    for (name, text) in [("a.yaml", TEXT.to_owned()), ("a.json", value.to_string())] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        assert_eq!(
            read(&DocumentSource::from_file(&path, false).unwrap()),
            from_text
        );
    }
    assert_eq!(
        read(&DocumentSource::from_text(&value.to_string()).unwrap()),
        from_text
    );
    assert_eq!(read(&DocumentSource::from_value(value).unwrap()), from_text);

    let site = Site::answering(|heard, _| match heard.target.as_str() {
        "/docs/openapi.yaml" => answer("200 OK", "", TEXT),
        _ => answer("404 Not Found", "", ""),
    })
    .await;
    let (cancel, url) = (
        CancellationToken::new(),
        format!("{}/docs/openapi.yaml", site.base()),
    );
    let source = DocumentSource::fetch(&net(), &url, &cancel).await.unwrap();
    let fetched = read(&source);
    assert_eq!(
        fetched.operations[0].base,
        format!("{}/v1", site.base()),
        "relative to where it came from"
    );
    assert_eq!(
        fetched.operations[0].input_schema,
        from_text.operations[0].input_schema
    );
    for (net, url, why) in [
        (&net(), format!("{}/none", site.base()), "status 404"),
        (
            &net(),
            "http://10.0.0.1/x".to_owned(),
            "nobody allowed that host",
        ),
        (&NetworkClient::offline(), url, "no network access"),
    ] {
        let fault = DocumentSource::fetch(net, &url, &cancel).await.unwrap_err();
        assert!(fault.message.contains(why), "{fault}");
    }
    assert!(
        DocumentSource::from_file(Path::new("/nowhere/at/all.json"), false)
            .unwrap_err()
            .message
            .contains("There is no file")
    );
}

/// Files beside a document are read only where that was asked for, and never outside of its folder.
#[test]
fn files_beside_a_document_are_read_where_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let put = |name: &str, value: Value| {
        std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        std::fs::write(at(name), value.to_string()).unwrap();
    };
    put(
        "secret.json",
        json!({ "type": "string", "description": "outside" }),
    );
    put(
        "doc/schemas/pet.json",
        json!({ "type": "object", "properties": {
        "tag": { "$ref": "parts/tag.json#/Tag" }, "me": { "$ref": "#" }, "up": { "$ref": "../openapi.json#/components/schemas/Id" },
        "out": { "$ref": "../../secret.json" },
    } }),
    );
    put(
        "doc/schemas/parts/tag.json",
        json!({ "Tag": { "type": "string", "enum": ["a"] } }),
    );
    put(
        "doc/paths.json",
        json!({ "pets": { "post": { "operationId": "add", "requestBody": { "content": { "application/json": { "schema": { "$ref": "schemas/pet.json" } } } } } } }),
    );
    put(
        "doc/openapi.json",
        json!({
            "openapi": "3.1.0", "servers": [{ "url": "https://example.com" }],
            "paths": { "/pets": { "$ref": "paths.json#/pets" }, "/far": { "$ref": "https://example.com/far.json" } },
            "components": { "schemas": { "Id": { "type": "integer" } } },
        }),
    );
    let path = at("doc/openapi.json");
    let closed = read(&DocumentSource::from_file(&path, false).unwrap());
    assert_eq!(closed.operations, []);
    assert!(
        closed.left_out[0].contains("not read with the document"),
        "{:?}",
        closed.left_out
    );
    assert!(
        closed.left_out[1].contains("where nothing is fetched"),
        "{:?}",
        closed.left_out
    );
    let open = read(&DocumentSource::from_file(&path, true).unwrap());
    let schema = &open.operations[0].input_schema;
    let pet = schema["$defs"]
        .as_object()
        .unwrap()
        .values()
        .next()
        .unwrap();
    assert_eq!(
        pet["properties"]["tag"],
        json!({ "type": "string", "enum": ["a"] })
    );
    assert_eq!(pet["properties"]["up"], json!({ "type": "integer" }));
    assert!(pet["properties"]["me"]["$ref"].is_string());
    assert!(!schema.to_string().contains("outside"), "{schema}");
    tools::Schema::from_parameters("add", schema).unwrap();
    #[cfg(unix)]
    {
        std::fs::remove_file(at("doc/paths.json")).unwrap();
        std::os::unix::fs::symlink(at("secret.json"), at("doc/paths.json")).unwrap();
        assert_eq!(
            read(&DocumentSource::from_file(&path, true).unwrap()).operations,
            []
        );
    }
}

#[test]
fn the_server_that_is_nearest_is_meant() {
    let document = json!({
        "openapi": "3.0.0",
        "servers": [
            { "url": "ftp://old.example.com" },
            { "url": "https://{region}.example.com:{port}/{version}/", "variables": {
                "region": { "default": "us", "enum": ["us", "eu"] }, "port": { "default": 8443 }, "version": { "default": "v2" } } },
        ],
        "paths": {
            "/a": { "get": {} },
            "/b": { "servers": [{ "url": "https://b.example.com" }], "get": {}, "post": { "servers": [{ "url": "../c" }] } },
        },
    });
    let source = DocumentSource::from_value(document).unwrap();
    let bases = |bases: BaseUrlOptions| {
        let document = ApiDocument::parse(&source, &bases, &OperationFilter::default()).unwrap();
        let all = document
            .operations
            .iter()
            .map(|operation| operation.base.clone());
        (all.collect::<Vec<_>>(), document.left_out)
    };
    let at = Some("https://docs.example.com/x/openapi.json".to_owned());
    let (all, _) = bases(BaseUrlOptions {
        document: at.clone(),
        ..BaseUrlOptions::default()
    });
    assert_eq!(
        all,
        [
            "https://us.example.com:8443/v2",
            "https://b.example.com",
            "https://docs.example.com/c"
        ]
    );
    let eu = |region: &str| BTreeMap::from([("region".to_owned(), region.to_owned())]);
    let (all, _) = bases(BaseUrlOptions {
        document: at.clone(),
        variables: eu("eu"),
        ..BaseUrlOptions::default()
    });
    assert_eq!(all[0], "https://eu.example.com:8443/v2");
    let (_, left) = bases(BaseUrlOptions {
        document: at.clone(),
        variables: eu("evil.com/"),
        ..BaseUrlOptions::default()
    });
    assert!(
        left[0].contains("cannot be used") || left[0].contains("cannot be `evil.com/`"),
        "{left:?}"
    );
    let (all, left) = bases(BaseUrlOptions::default());
    assert_eq!((all.len(), left.len()), (2, 1));
    assert!(
        left[0].contains("does not say at which address"),
        "{left:?}"
    );
    let (all, _) = bases(BaseUrlOptions {
        base_url: Some("http://localhost:9/api/".to_owned()),
        ..BaseUrlOptions::default()
    });
    assert_eq!(
        all, ["http://localhost:9/api"; 3],
        "what the person says holds for all"
    );
}

#[test]
fn operations_are_chosen_by_tag_id_and_path() {
    let source = DocumentSource::from_value(json!({
        "openapi": "3.0.0", "servers": [{ "url": "https://example.com" }],
        "paths": {
            "/pets": { "get": { "operationId": "pets/list", "tags": ["pets"] }, "post": { "operationId": "pets/add", "tags": ["pets", "write"] } },
            "/pets/{id}": { "get": { "tags": ["one"] } },
            "/owners": { "get": { "operationId": "owners/list" } },
        },
    })).unwrap();
    let list = |all: &[&str]| {
        all.iter()
            .map(|one| (*one).to_owned())
            .collect::<Vec<String>>()
    };
    for (tags, operations, paths, count) in [
        (&[][..], &[][..], &[][..], 4),
        (&["pets"], &[], &[], 2),
        (&["pets"], &["pets/add"], &[], 1),
        (&[], &["*/list"], &[], 2),
        (&[], &[], &["/pets"], 3),
        (&[], &[], &["/pets/*"], 1),
        (&["none"], &[], &[], 0),
    ] {
        let filters = OperationFilter {
            tags: list(tags),
            operations: list(operations),
            paths: list(paths),
        };
        let document = ApiDocument::parse(&source, &BaseUrlOptions::default(), &filters).unwrap();
        assert_eq!(document.operations.len(), count, "{filters:?}");
    }
}
