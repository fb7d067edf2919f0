//! Every place, style and kind of body on the wire, as a server heard it.

use protocol::ToolError;
use protocol::server::apis::ApiSetup;
use protocol::text::display_text::join_spans;
use serde_json::{Value, json};

use crate::test_service::{Desk, Heard, Site, document};

/// One operation `do` of this method with these parameters.
fn operation(parameters: Value) -> Value {
    json!({ "operationId": "do", "parameters": parameters, "responses": {} })
}

async fn heard(path: &str, parameters: Value, arguments: Value) -> Result<Heard, ToolError> {
    let site = Site::open().await;
    let paths = json!({ path: { "get": operation(parameters) } });
    let desk = Desk::new(document(&site, paths), ApiSetup::default());
    desk.call("do", arguments).await?;
    Ok(site.last())
}

/// `S001-54`: parameters stand where the document says and as it says, after the examples of the specification.
#[tokio::test]
async fn s001_54_parameters_are_written_in_every_style() {
    let (one, list, object) = (
        json!("blue"),
        json!(["blue", "black"]),
        json!({ "R": 100, "G": 200 }),
    );
    for (place, style, explode, value, expected) in [
        ("path", "simple", false, &one, "/v1/blue"),
        ("path", "simple", false, &list, "/v1/blue,black"),
        ("path", "simple", false, &object, "/v1/R,100,G,200"),
        ("path", "simple", true, &object, "/v1/R=100,G=200"),
        ("path", "label", false, &one, "/v1/.blue"),
        ("path", "label", false, &list, "/v1/.blue,black"),
        ("path", "label", true, &list, "/v1/.blue.black"),
        ("path", "label", true, &object, "/v1/.R=100.G=200"),
        ("path", "matrix", false, &one, "/v1/;color=blue"),
        ("path", "matrix", false, &list, "/v1/;color=blue,black"),
        ("path", "matrix", true, &list, "/v1/;color=blue;color=black"),
        ("path", "matrix", false, &object, "/v1/;color=R,100,G,200"),
        ("path", "matrix", true, &object, "/v1/;R=100;G=200"),
        ("query", "form", true, &one, "/v1/?color=blue"),
        ("query", "form", true, &list, "/v1/?color=blue&color=black"),
        ("query", "form", false, &list, "/v1/?color=blue,black"),
        ("query", "form", true, &object, "/v1/?R=100&G=200"),
        ("query", "form", false, &object, "/v1/?color=R,100,G,200"),
        (
            "query",
            "spaceDelimited",
            false,
            &list,
            "/v1/?color=blue%20black",
        ),
        (
            "query",
            "pipeDelimited",
            false,
            &list,
            "/v1/?color=blue%7Cblack",
        ),
        (
            "query",
            "deepObject",
            true,
            &object,
            "/v1/?color%5BR%5D=100&color%5BG%5D=200",
        ),
    ] {
        let path = if place == "path" { "/{color}" } else { "/" };
        let parameters = json!([{ "name": "color", "in": place, "required": place == "path", "style": style, "explode": explode }]);
        let heard = heard(path, parameters, json!({ "color": value }))
            .await
            .unwrap();
        assert_eq!(heard.target, expected, "{place} {style} {explode} {value}");
    }
    for (place, explode, value, header, expected) in [
        ("header", false, &one, "color", "blue"),
        ("header", false, &list, "color", "blue,black"),
        ("header", false, &object, "color", "R,100,G,200"),
        ("header", true, &object, "color", "R=100,G=200"),
        ("cookie", true, &one, "cookie", "color=blue"),
        ("cookie", false, &list, "cookie", "color=blue,black"),
        ("cookie", true, &object, "cookie", "R=100; G=200"),
    ] {
        let parameters = json!([{ "name": "color", "in": place, "explode": explode }]);
        let heard = heard("/", parameters, json!({ "color": value }))
            .await
            .unwrap();
        assert_eq!(
            heard.header(header),
            Some(expected),
            "{place} {explode} {value}"
        );
    }
}

#[tokio::test]
async fn nothing_in_a_value_means_anything() {
    let odd = "a/b?c#d&e=f%20 +ä{x}\\\"";
    let parameters = json!([
        { "name": "x", "in": "path", "required": true },
        { "name": "filter[name]", "in": "query" },
        { "name": "raw", "in": "query", "allowReserved": true },
        { "name": "json", "in": "query", "content": { "application/json": {} } },
    ]);
    let arguments =
        json!({ "x": odd, "filter_name": odd, "raw": "a/b:c&d+e#f", "json": { "a": [1, null] } });
    let heard = heard("/p/{x}/y", parameters, arguments).await.unwrap();
    let encoded = "a%2Fb%3Fc%23d%26e%3Df%2520%20%2B%C3%A4%7Bx%7D%5C%22";
    assert_eq!(
        heard.target,
        format!(
            "/v1/p/{encoded}/y?filter%5Bname%5D={encoded}&raw=a/b:c%26d%2Be%23f&json=%7B%22a%22%3A%5B1%2Cnull%5D%7D"
        )
    );
}

#[tokio::test]
async fn parameters_of_one_name_are_kept_apart() {
    let parameters = json!([
        { "name": "id", "in": "path", "required": true },
        { "name": "id", "in": "query" },
        { "name": "id", "in": "header" },
        { "name": "id", "in": "cookie" },
        { "name": "$top", "in": "query" },
        { "name": "_limit", "in": "query" },
        { "name": "body", "in": "query" },
        { "name": "Authorization", "in": "header" },
    ]);
    let arguments = json!({
        "path_id": 1, "query_id": 2, "header_id": 3, "cookie_id": 4, "top": 5, "limit": 6, "body": 7
    });
    let heard = heard("/{id}", parameters, arguments).await.unwrap();
    assert_eq!(heard.target, "/v1/1?id=2&%24top=5&_limit=6&body=7");
    assert_eq!(
        (heard.header("id"), heard.header("cookie")),
        (Some("3"), Some("id=4"))
    );
    assert_eq!(heard.header("authorization"), None);
}

/// Arguments that would lead elsewhere, or would be ambiguous, are refused before anything is sent.
#[tokio::test]
async fn what_cannot_be_sent_is_refused() {
    let path = json!([{ "name": "x", "in": "path", "required": true }]);
    let pipes = json!([{ "name": "x", "in": "query", "style": "pipeDelimited", "explode": false }]);
    let header = json!([{ "name": "x", "in": "header" }]);
    for (at, parameters, value, why) in [
        ("/a/{x}/b", &path, json!(".."), "would lead elsewhere"),
        ("/a/{x}", &path, json!("."), "is empty"),
        ("/a/{x}", &path, json!(""), "is empty"),
        ("/a/{x}", &path, json!([]), "is empty"),
        ("/a", &pipes, json!(["a|b", "c"]), "stands between items"),
        ("/a", &header, json!("a\r\nevil: 1"), "line end"),
        ("/a", &header, json!(["a,b"]), "stands between items"),
        ("/a", &header, json!("grün"), "no header can hold"),
    ] {
        let refused = heard(at, parameters.clone(), json!({ "x": value }))
            .await
            .unwrap_err();
        assert!(matches!(refused, ToolError::InvalidArgs(_)), "{refused:?}");
        assert!(refused.to_string().contains(why), "{at} {value}: {refused}");
    }
}

fn body(media: &str, content: Value) -> Value {
    json!({ "/do": { "post": { "operationId": "do", "requestBody": { "required": true, "content": { media: content } } } } })
}

async fn sent(paths: Value, body: Value, files: &[(&str, &[u8])]) -> Result<Heard, ToolError> {
    let site = Site::open().await;
    let desk = Desk::new(document(&site, paths), ApiSetup::default());
    files
        .iter()
        .for_each(|(name, content)| desk.file(name, content));
    desk.call("do", json!({ "body": body })).await?;
    Ok(site.last())
}

#[tokio::test]
async fn bodies_are_written_as_the_document_says() {
    let paths = body(
        "application/vnd.x+json; v=1",
        json!({ "schema": { "type": "object" } }),
    );
    let heard = sent(paths, json!({ "a": [1, null, "ä"] }), &[])
        .await
        .unwrap();
    assert_eq!(
        heard.header("content-type"),
        Some("application/vnd.x+json; v=1")
    );
    assert_eq!(heard.text(), r#"{"a":[1,null,"ä"]}"#);

    let form = json!({
        "schema": { "type": "object", "properties": { "a": {}, "list": {}, "deep": {}, "comma": {} } },
        "encoding": { "deep": { "style": "deepObject", "explode": true }, "comma": { "explode": false } },
    });
    let given = json!({ "a": "x y&z", "list": [1, 2], "deep": { "b": { "c": [true] } }, "comma": ["p", "q,r"], "plain": { "k": 1 }, "none": null });
    let heard = sent(body("application/x-www-form-urlencoded", form), given, &[])
        .await
        .unwrap();
    assert_eq!(
        heard.header("content-type"),
        Some("application/x-www-form-urlencoded")
    );
    assert_eq!(
        heard.text(),
        "a=x%20y%26z&list=1&list=2&deep%5Bb%5D%5Bc%5D%5B0%5D=true&comma=p,q%2Cr&plain=%7B%22k%22%3A1%7D"
    );

    let heard = sent(body("text/plain", json!({})), json!("one\ntwo"), &[])
        .await
        .unwrap();
    assert_eq!(heard.text(), "one\ntwo");

    let binary = body(
        "application/octet-stream",
        json!({ "schema": { "type": "string", "format": "binary" } }),
    );
    for (given, expected) in [
        (json!({ "text": "one" }), &b"one"[..]),
        (json!({ "base64": "AAEC" }), &[0, 1, 2]),
        (json!({ "path": "data.bin" }), &[9, 8]),
    ] {
        let heard = sent(binary.clone(), given, &[("data.bin", &[9, 8])])
            .await
            .unwrap();
        assert_eq!(heard.body, expected);
    }
    for (given, why) in [
        (json!({ "text": "a", "base64": "" }), "not exactly one"),
        (json!({ "base64": "no" }), "not base64"),
        (json!({ "path": "../outside" }), "outside"),
        (json!({ "path": "none.bin" }), "There is no"),
    ] {
        let refused = sent(binary.clone(), given, &[]).await.unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

#[tokio::test]
async fn parts_are_texts_json_and_files() {
    let parts = json!({
        "schema": { "type": "object", "required": ["file"], "properties": {
            "note": { "type": "string" },
            "meta": { "type": "object" },
            "file": { "type": "string", "format": "binary" },
            "more": { "type": "array", "items": { "type": "string", "format": "binary" } },
            "only_read": { "type": "string", "readOnly": true },
        } },
        "encoding": { "file": { "contentType": "image/png" } },
    });
    let given = json!({
        "file": { "path": "a \"b\".png" },
        "meta": { "k": 1 }, "note": "hi",
        "more": [{ "text": "one", "filename": "1.txt", "content_type": "text/plain" }, { "base64": "AAE=" }],
    });
    let paths = body("multipart/form-data", parts);
    let heard = sent(paths.clone(), given, &[("a \"b\".png", b"PNG")])
        .await
        .unwrap();
    let media = heard.header("content-type").unwrap().to_owned();
    let line = media
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    let expected = [
        "Content-Disposition: form-data; name=\"note\"\r\n\r\nhi",
        "Content-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"k\":1}",
        "Content-Disposition: form-data; name=\"file\"; filename=\"a %22b%22.png\"\r\nContent-Type: image/png\r\n\r\nPNG",
        "Content-Disposition: form-data; name=\"more\"; filename=\"1.txt\"\r\nContent-Type: text/plain\r\n\r\none",
        "Content-Disposition: form-data; name=\"more\"; filename=\"more\"\r\nContent-Type: application/octet-stream\r\n\r\n\0\u{1}",
    ];
    let whole: String = expected
        .iter()
        .map(|part| format!("--{line}\r\n{part}\r\n"))
        .collect();
    assert_eq!(heard.text(), format!("{whole}--{line}--\r\n"));
    let refused = sent(
        paths,
        json!({ "file": { "text": "x", "content_type": "a/b\r\nevil: 1" } }),
        &[],
    )
    .await;
    assert!(refused.unwrap_err().to_string().contains("media type"));
}

/// A file that became another between the card and the call is not sent.
#[tokio::test]
async fn a_file_is_sent_as_it_was_shown() {
    let site = Site::open().await;
    let paths = body("application/octet-stream", json!({}));
    let desk = Desk::new(document(&site, paths), ApiSetup::default());
    desk.file("a", b"one");
    let tool = desk.tool("do");
    let Value::Object(arguments) = json!({ "body": { "path": "a" } }) else {
        panic!()
    };
    tool.preview_request(&arguments, &desk.workspace).unwrap();
    desk.file("a", b"two");
    let cancel = tokio_util::sync::CancellationToken::new();
    let sent = tool
        .call_approved(
            &arguments,
            &desk.workspace,
            &crate::test_service::net(),
            &cancel,
        )
        .await;
    assert!(matches!(sent, Err(ToolError::Stale(_))), "{sent:?}");
    assert_eq!(site.heard(), []);
}

/// The card shows what is sent, letter for letter.
#[tokio::test]
async fn the_card_shows_what_is_sent() {
    let site = Site::open().await;
    let paths = json!({ "/pets/{id}": { "put": {
        "operationId": "do",
        "parameters": [
            { "name": "id", "in": "path", "required": true, "description": "Which pet.\nMore." },
            { "name": "dry", "in": "query", "schema": { "type": "boolean" } },
            { "name": "X-Trace", "in": "header" },
        ],
        "requestBody": { "content": { "application/json": { "schema": { "type": "object", "properties": {
            "name": { "type": "string", "description": "What it is called." } } } } } },
        "responses": { "200": { "description": "ok", "content": { "text/plain": {}, "application/json": {} } } },
    } } });
    let desk = Desk::new(document(&site, paths), ApiSetup::default());
    let arguments =
        json!({ "id": "a b", "dry": true, "X-Trace": "t\u{202e}", "body": { "name": "Rex" } });
    assert!(
        desk.call("do", arguments).await.is_err(),
        "no header holds a hidden character"
    );
    let arguments =
        json!({ "id": "a b", "dry": true, "X-Trace": "t1", "body": { "name": "Rex\u{202e}" } });
    let shown = desk.shown("do", arguments.clone());
    desk.call("do", arguments).await.unwrap();
    let heard = site.last();
    assert_eq!(shown.method, heard.method);
    assert_eq!(
        join_spans(&shown.address),
        format!("{}{}", site.base(), heard.target)
    );
    for header in &shown.headers {
        assert_eq!(
            heard.header(&header.name.to_lowercase()),
            Some(join_spans(&header.value).as_str())
        );
    }
    let body = shown.body.clone().unwrap();
    assert_eq!((body.bytes, body.cut), (heard.body.len() as u64, false));
    assert_eq!(body.digest, protocol::Digest::from_bytes(&heard.body));
    assert_eq!(join_spans(&body.text), "{\"name\":\"RexU+202E\"}");
    let given: Vec<_> = shown
        .given
        .iter()
        .map(|field| {
            (
                join_spans(&field.name),
                field.place.clone(),
                field.about.clone(),
                join_spans(&field.value),
            )
        })
        .collect();
    let field = |name: &str, place: &str, about: &str, value: &str| {
        (
            name.to_owned(),
            place.to_owned(),
            about.to_owned(),
            value.to_owned(),
        )
    };
    assert_eq!(
        given,
        [
            field("id", "path", "Which pet.", "a b"),
            field("dry", "query", "", "true"),
            field("X-Trace", "header", "", "t1"),
            field("name", "body", "What it is called.", "RexU+202E"),
        ]
    );
    assert_eq!(heard.header("accept"), Some("application/json, text/plain"));
}
