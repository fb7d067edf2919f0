//! `apis`: set up, enabled, looked at and removed from a script.

use serde_json::json;

use crate::support::CliFixture;

const DOCUMENT: &str = "openapi: 3.0.3\ninfo: {title: Pets, version: '1'}\nservers: [{url: 'https://pets.example.com/v1'}]\ncomponents: {securitySchemes: {key: {type: http, scheme: basic}}}\nsecurity: [{key: []}]\npaths:\n  /pets:\n    get: {operationId: list, tags: [read]}\n    post: {operationId: add}\n";

/// A service is set up, and its tools are there once it is enabled; what changes of it waits for an approval.
#[test]
fn a_service_is_set_up_enabled_and_approved() {
    let place = CliFixture::new();
    let file = place.write_outside_file("pets.yaml", DOCUMENT);
    let basic = "--basic=key=keychain:user,keychain:password";
    let mine = "--audience=mine";
    let added = place.run_ok(&[
        "apis",
        "add",
        "pets",
        &file,
        basic,
        mine,
        "--timeout-ms",
        "5000",
    ]);
    assert!(added.starts_with("pets  off"), "{added}");
    assert!(
        added.contains("You alone read what is sent there."),
        "{added}"
    );
    let told = place.run_json(&["tools"]).to_string();
    assert!(!told.contains("pets__list"), "it is off");
    let on = place.run_ok(&["apis", "enable", "pets"]);
    assert!(on.contains("pets__list  external  GET /pets"), "{on}");
    assert!(place.run_json(&["tools"]).to_string().contains("pets__add"));
    let written = std::fs::read_to_string(place.data().join("apis.toml")).unwrap();
    assert!(written.contains("type = \"basic\""), "{written}");

    std::fs::write(&file, DOCUMENT.replace("/pets:", "/animals:")).unwrap();
    let looked = place.run(&["apis", "approve", "pets"]);
    assert_eq!(looked.code, 1, "something waits");
    assert!(looked.out.contains("GET /animals"), "{}", looked.out);
    let digest = looked
        .out
        .split("--accept ")
        .nth(1)
        .unwrap()
        .trim()
        .to_owned();
    let approved = place.run_ok(&["apis", "approve", "pets", "--accept", &digest]);
    assert!(
        approved.contains("GET /animals") && !approved.contains("waits"),
        "{approved}"
    );
    let same = place.run_ok(&["apis", "approve", "pets"]);
    assert!(same.contains("as they were approved"), "{same}");

    place.run_ok(&["apis", "disable", "pets"]);
    place.run_ok(&["apis", "remove", "pets"]);
    assert_eq!(place.run_json(&["apis", "list"])["apis"], json!([]));
}

/// A name that is taken stays what it is, and no secret comes to stand in a file.
#[test]
fn nothing_is_replaced_by_itself_and_no_secret_is_written_down() {
    let place = CliFixture::new();
    let file = place.write_outside_file("pets.yaml", DOCUMENT);
    place.run_ok(&["apis", "add", "pets", &file]);
    let written = || std::fs::read_to_string(place.data().join("apis.toml")).unwrap();
    let before = written();
    let ran = place.run(&["apis", "add", "pets", "https://example.com/other"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(
        ran.err.contains("There is a service `pets` already.") && ran.err.contains("--replace"),
        "{}",
        ran.err
    );
    assert_eq!(written(), before);
    place.run_ok(&[
        "apis",
        "add",
        "pets",
        "https://example.com/other",
        "--replace",
    ]);
    assert!(written().contains("https://example.com/other"));
    for secret in [
        "--token=key=hush4hush4",
        "--basic=key=me,hush4hush4",
        "--client=key=me,hush4hush4",
    ] {
        let ran = place.run(&["apis", "add", "other", &file, secret]);
        assert_eq!(ran.code, 1, "{secret}: {}", ran.err);
        assert!(
            ran.err.contains("The secret of `key` is written out")
                && ran.err.contains("keychain:NAME"),
            "{secret}: {}",
            ran.err
        );
        assert!(!written().contains("hush"), "{secret}");
    }
    place.run_ok(&["apis", "add", "other", &file, "--token=key=${PETS_KEY}"]);
}

/// A document that is too long is refused with what to do, not with the hint of a tool that reads files.
#[test]
fn a_document_that_is_too_long_says_what_to_do() {
    let place = CliFixture::new();
    let file = place.write_outside_file("long.json", "");
    let long = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
    long.set_len(97 * 1024 * 1024).unwrap();
    place.run_ok(&["apis", "add", "long", &file]);
    let ran = place.run(&["apis", "enable", "long"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains("longer than 96 MiB")
            && ran.err.contains("references are not written out"),
        "{}",
        ran.err
    );
}

#[test]
fn what_cannot_be_set_up_is_said() {
    let place = CliFixture::new();
    for (words, code, told) in [
        (&["apis", "enable", "none"][..], 1, "no service `none`"),
        (&["apis", "add", "a__b", "https://example.com/x"], 2, "a__b"),
        (&["apis", "add", "a"], 2, "required"),
        (
            &["apis", "add", "a", "https://u:p@example.com/x"],
            1,
            "cannot be set up so",
        ),
        (
            &[
                "apis",
                "add",
                "a",
                "https://example.com/x",
                "--basic",
                "k=v",
            ],
            2,
            "comma",
        ),
        (
            &["apis", "add", "a", "https://example.com/x", "--header", "k"],
            2,
            "no value",
        ),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.code, code, "{words:?}: {}", ran.err);
        assert!(ran.err.contains(told), "{words:?}: {}", ran.err);
    }
}
