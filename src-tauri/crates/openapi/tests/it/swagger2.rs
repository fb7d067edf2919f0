//! Documents of Swagger 2.0: read like those of OpenAPI, and called as they say.

use openapi::{ApiDocument, BaseUrlOptions, DocumentSource, OperationFilter, OperationPins};
use protocol::server::apis::{ApiAuth, ApiSetup};
use serde_json::{Value, json};

use crate::test_service::{Desk, Heard, Site, token};

/// A shop for animals, as documents of 2.0 are mostly written: bodies by reference, forms, files, keys and tokens.
const SHOP: &str = r##"
swagger: "2.0"
info: { title: Shop, version: 1.0.0 }
host: shop.example.com
basePath: /v2
schemes: [http, https]
consumes: [application/json]
produces: [application/json, application/xml]
securityDefinitions:
  key: { type: apiKey, name: api_key, in: header }
  login: { type: basic }
  grant: { type: oauth2, flow: application, tokenUrl: "https://shop.example.com/token", scopes: { "write": "Change animals" } }
security: [{ key: [] }]
parameters:
  id: { name: id, in: path, required: true, type: integer, format: int64 }
  animal: { name: animal, in: body, required: true, description: What is kept., schema: { $ref: "#/definitions/Animal" } }
responses:
  gone: { description: It is gone. }
definitions:
  Animal:
    type: object
    required: [name]
    properties:
      name: { type: string }
      tag: { type: string, x-nullable: true }
      kin: { type: array, items: { $ref: "#/definitions/Animal" } }
paths:
  /animals:
    get:
      operationId: find
      parameters:
        - { name: status, in: query, type: array, items: { type: string, enum: [here, sold] }, collectionFormat: multi }
        - { name: tags, in: query, type: array, items: { type: string } }
        - { name: ids, in: query, type: array, items: { type: integer }, collectionFormat: pipes }
        - { name: X-Trace, in: header, type: string }
      responses: { "200": { description: ok, schema: { type: array, items: { $ref: "#/definitions/Animal" } } } }
    post:
      operationId: add
      security: [{ grant: [write] }]
      parameters: [{ $ref: "#/parameters/animal" }]
      responses: { "201": { description: made } }
  /animals/{id}:
    parameters: [{ $ref: "#/parameters/id" }]
    get:
      operationId: one
      produces: [text/plain]
      responses: { "200": { description: ok, schema: { type: string } }, "404": { $ref: "#/responses/gone" } }
    post:
      operationId: rename
      consumes: [application/x-www-form-urlencoded]
      security: []
      parameters:
        - { name: name, in: formData, type: string, required: true }
        - { name: also, in: formData, type: array, items: { type: string } }
        - { name: each, in: formData, type: array, items: { type: string }, collectionFormat: multi }
      responses: { default: { description: done } }
    put:
      operationId: picture
      consumes: [multipart/form-data]
      security: [{ login: [] }]
      schemes: [http]
      parameters:
        - { name: note, in: formData, type: string }
        - { name: file, in: formData, type: file, required: true }
      responses: { default: { description: done } }
"##;

fn read(text: &str) -> ApiDocument {
    let source = DocumentSource::from_text(text).unwrap();
    ApiDocument::parse(
        &source,
        &BaseUrlOptions::default(),
        &OperationFilter::default(),
    )
    .unwrap()
}

/// Every operation with its address, what is sent, what it accepts and who asks.
#[test]
fn a_document_of_swagger_2_is_read_whole() {
    let document = read(SHOP);
    assert_eq!(document.left_out, Vec::<String>::new());
    assert_eq!(
        (document.title.as_str(), document.version.as_str()),
        ("Shop", "1.0.0")
    );
    let told: Vec<String> = document
        .operations
        .iter()
        .map(|one| {
            let media = one.body.as_ref().map(|body| body.media.as_str());
            let security = serde_json::to_value(&one.security).unwrap();
            let kinds: Vec<String> = security
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|way| way.as_array().unwrap().clone())
                .map(|scheme| scheme["kind"]["type"].as_str().unwrap().to_owned())
                .collect();
            format!(
                "{} {} {} {} {}",
                one.id,
                one.base,
                media.unwrap_or("-"),
                if one.accepts.is_empty() {
                    "-"
                } else {
                    &one.accepts
                },
                kinds.join(",")
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "find https://shop.example.com/v2 - application/json, application/xml api_key",
            "add https://shop.example.com/v2 application/json - oauth2",
            "one https://shop.example.com/v2 - text/plain api_key",
            "picture http://shop.example.com/v2 multipart/form-data - basic",
            "rename https://shop.example.com/v2 application/x-www-form-urlencoded - ",
        ]
    );
    let schema = |id: &str| {
        let found = document.operations.iter().find(|one| one.id == id);
        found.unwrap().input_schema.clone()
    };
    let add = schema("add");
    assert_eq!(add["required"], json!(["body"]));
    let whole = add.to_string();
    assert!(whole.contains("What is kept."), "{whole}");
    let made = tools::Schema::from_parameters("add", &add).unwrap();
    let fits = |body: Value| {
        let arguments = json!({ "body": body }).as_object().unwrap().clone();
        made.find_problems(arguments, &|member| member)
    };
    let nested = json!({ "name": "Rex", "tag": null, "kin": [{ "name": "Ada" }] });
    assert_eq!(
        fits(nested.clone()).map(Value::Object),
        Ok(json!({ "body": nested })),
        "null stays where the document allows it"
    );
    assert_eq!(
        fits(json!({ "kin": [] })),
        Err(vec!["`body.name` is missing".to_owned()])
    );
    assert_eq!(schema("one")["properties"]["id"]["type"], "integer");
    for pinned in OperationPins::approve_initial(&document).tools {
        tools::Schema::from_parameters("t", &pinned.definition.input_schema).unwrap();
    }
}

async fn heard(id: &str, arguments: Value, auth: ApiAuth, files: &[(&str, &[u8])]) -> Heard {
    let site = Site::open().await;
    let host = site.base().trim_start_matches("http://").to_owned();
    let text = SHOP
        .replace("host: shop.example.com", &format!("host: {host}"))
        .replace("schemes: [http, https]", "schemes: [http]");
    let mut setup = ApiSetup::default();
    for scheme in ["key", "grant", "login"] {
        setup.auth.insert(scheme.to_owned(), auth.clone());
    }
    let desk = Desk::new(yaml(&text), setup);
    files
        .iter()
        .for_each(|(name, content)| desk.file(name, content));
    desk.call(id, arguments).await.unwrap();
    site.last()
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

/// On the wire: lists as their `collectionFormat` says, forms, parts with files, bodies and keys.
#[tokio::test]
async fn what_is_sent_is_what_the_document_says() {
    let given =
        json!({ "status": ["here", "sold"], "tags": ["a", "b"], "ids": [1, 2], "X-Trace": "t" });
    let find = heard("find", given, token("key"), &[]).await;
    assert_eq!(
        find.target,
        "/v2/animals?status=here&status=sold&tags=a,b&ids=1%7C2"
    );
    assert_eq!(find.header("api_key"), Some("hush4hush4"));
    assert_eq!(find.header("x-trace"), Some("t"));
    assert_eq!(
        find.header("accept"),
        Some("application/json, application/xml")
    );

    let given = json!({ "body": { "name": "Rex" } });
    let add = heard("add", given, token("key"), &[]).await;
    assert_eq!(
        (add.method.as_str(), add.text().as_str()),
        ("POST", r#"{"name":"Rex"}"#)
    );
    assert_eq!(add.header("authorization"), Some("Bearer hush4hush4"));

    let given =
        json!({ "id": 7, "body": { "name": "x y", "also": ["p", "q"], "each": ["r", "s"] } });
    let rename = heard("rename", given, token("key"), &[]).await;
    assert_eq!(rename.target, "/v2/animals/7");
    assert_eq!(rename.text(), "name=x%20y&also=p,q&each=r&each=s");

    let given = json!({ "id": 7, "body": { "note": "hi", "file": { "path": "a.png" } } });
    let login = ApiAuth::Basic {
        username: "keychain:user".to_owned(),
        password: "keychain:password".to_owned(),
    };
    let picture = heard("picture", given, login, &[("a.png", b"PNG")]).await;
    let text = picture.text();
    assert!(
        text.contains("name=\"note\"\r\n\r\nhi")
            && text.contains("filename=\"a.png\"")
            && text.contains("PNG"),
        "{text}"
    );
    assert_eq!(
        picture.header("authorization"),
        Some("Basic bWU6cGFzcyB3b3Jk")
    );
}

/// Where a document says less than it could, as those of daemons and of chat services do.
#[test]
fn what_a_document_leaves_out_is_taken_from_where_it_stands() {
    let base = |head: &str, address: Option<&str>| {
        let text =
            format!("{head}paths: {{ /a: {{ get: {{ operationId: a, responses: {{}} }} }} }}\n");
        let bases = BaseUrlOptions {
            document: address.map(str::to_owned),
            ..BaseUrlOptions::default()
        };
        let source = DocumentSource::from_text(&text).unwrap();
        let document = ApiDocument::parse(&source, &bases, &OperationFilter::default()).unwrap();
        match document.operations.first() {
            Some(one) => one.base.clone(),
            None => document.left_out.join(" "),
        }
    };
    let at = Some("https://docs.example.com/api/swagger.json");
    for (head, address, expected) in [
        (
            "swagger: '2.0'\nhost: h.example.com\n",
            None,
            "https://h.example.com",
        ),
        (
            "swagger: 2.0\nhost: h.example.com\nbasePath: api/\n",
            None,
            "https://h.example.com/api",
        ),
        (
            "swagger: '2.0'\nbasePath: /v1.47\n",
            at,
            "https://docs.example.com/v1.47",
        ),
        ("swagger: '2.0'\n", at, "https://docs.example.com"),
        (
            "swagger: '2.0'\nhost: h.example.com\nschemes: [ws]\n",
            None,
            "`GET /a` is left out: its server cannot be used",
        ),
        (
            "swagger: '2.0'\nbasePath: /v1\n",
            None,
            "`GET /a` is left out: the document does not say at which address it is served",
        ),
    ] {
        let found = base(head, address);
        assert!(found.starts_with(expected), "{head}: {found}");
    }
}

/// Parts that 3.0 cannot express are left out with the reason, and the rest stays usable.
#[test]
fn what_cannot_be_converted_is_left_out_alone() {
    let document = read(
        r##"
swagger: "2.0"
info: { title: Odd, version: "1" }
host: h.example.com
paths:
  /tabs: { get: { operationId: tabs, parameters: [{ name: x, in: query, type: array, items: { type: string }, collectionFormat: tsv }] } }
  /form: { post: { operationId: form, parameters: [{ name: x, in: formData, type: array, items: { type: string }, collectionFormat: tsv }] } }
  /lost: { get: { operationId: lost, parameters: [{ $ref: "#/parameters/none" }] } }
  /body: { post: { operationId: body, parameters: [{ name: b, in: body, schema: { $ref: "#/definitions/none" } }] } }
  /odd: 7
  /fine: { get: { operationId: fine, parameters: [{ name: q, in: query, type: string, x-nullable: true }] } }
"##,
    );
    let ids: Vec<&str> = document
        .operations
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    assert!(ids.contains(&"fine"), "{ids:?}");
    let told = document.left_out.join("\n");
    for why in [
        "`GET /tabs` is left out: its parameter `x` has a style that is none of its place (tsv).",
        "`POST /form` is left out: its parameter `x` goes to a place that is not known (formData as tsv).",
        "`GET /lost` is left out: `#/parameters/none` leads nowhere.",
        "`/odd` is left out: it is not an object.",
    ] {
        assert!(told.contains(why), "{why}\n{told}");
    }
}

/// A document in several files, whose paths, parameters and schemas stand beside it.
#[test]
fn files_beside_the_document_are_converted_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "swagger.yaml",
        "swagger: '2.0'\ninfo: { title: Parts, version: '1' }\nhost: h.example.com\npaths:\n  /a: { $ref: paths/a.yaml }\n",
    );
    write(
        "paths/a.yaml",
        "post:\n  operationId: a\n  parameters: [{ $ref: ../shared/parameters.yaml#/thing }]\n  responses: { default: { description: ok } }\n",
    );
    write(
        "shared/parameters.yaml",
        "thing: { name: thing, in: body, required: true, schema: { $ref: schemas.yaml#/Thing } }\n",
    );
    write(
        "shared/schemas.yaml",
        "Thing: { type: object, required: [count], properties: { count: { type: integer } } }\n",
    );
    let source = DocumentSource::from_file(&folder.path().join("swagger.yaml"), true).unwrap();
    let document = ApiDocument::parse(
        &source,
        &BaseUrlOptions::default(),
        &OperationFilter::default(),
    )
    .unwrap();
    assert_eq!(document.left_out, Vec::<String>::new());
    let schema = document.operations[0].input_schema.to_string();
    assert!(
        schema.contains(r#""required":["count"]"#)
            && schema.contains(r#""count":{"type":"integer"}"#),
        "{schema}"
    );
}
