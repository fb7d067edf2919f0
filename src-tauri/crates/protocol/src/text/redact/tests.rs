//! Tests of masked and unmasked texts, and that the cut of a stream makes no difference.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::text::redact::*;

const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nMIIEow+/IBAAKCAQEA7b\nq8==\n-----END RSA PRIVATE KEY-----";

/// Returns secrets written in two halves, so that no scanner of repositories takes this file for a leak.
fn secrets() -> Vec<String> {
    vec![
        format!("sk-{}", "proj-Ab3dEf6hIjKlMnOp"),
        format!("sk-{}", "abcdefghijklmnopqrstuvwx"),
        format!("sk_{}", "live_4eC39HqLyjWDarj"),
        format!("ghp_{}", "16C7e42F292c6912E7710c83"),
        format!("gho_{}", "16C7e42F292c6912E7710c83"),
        format!("github_pat_{}", "11ABCDEFG0_abcdefghij"),
        format!("glpat-{}", "x1y2z3-AbCdEfGhIjKl"),
        format!("xoxb-{}", "123456789012-abcdef"),
        format!("AKIA{}", "IOSFODNN7EXAMPLE"),
        format!("ASIA{}", "IOSFODNN7EXAMPLE"),
        format!("AIza{}", "SyA1234567890abcdefghijklmnopqrstuv"),
        format!(
            "eyJ{}",
            "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sflKxwRJSMeKKF2QT4"
        ),
        KEY.to_owned(),
    ]
}

#[test]
fn secrets_are_masked_wherever_they_stand() {
    for secret in secrets() {
        for (before, after) in [
            ("", ""),
            ("key = \"", "\"\n"),
            ("TOKEN=", "\nnext"),
            ("a\\n", "\\n"),
            ("(", ")"),
            ("größe: ", " ✓"),
        ] {
            let whole = format!("{before}{secret}{after}");
            assert_eq!(
                text(&whole),
                (format!("{before}***{after}").into(), 1),
                "{whole}"
            );
        }
    }
}

#[test]
fn what_stands_around_a_secret_stays() {
    for (given, masked, count) in [
        (
            "Authorization: Bearer abc.def-123",
            "Authorization: Bearer ***",
            1,
        ),
        ("bearer\tQWxhZGRpbjpvcGVu=.", "bearer\t***.", 1),
        (
            "two: AKIAIOSFODNN7EXAMPLE AKIAIOSFODNN7EXAMPL2",
            "two: *** ***",
            2,
        ),
        // A listing with line numbers, and text behind the key.
        (
            "     1\t-----BEGIN PRIVATE KEY-----\n     2\tMIIE\n     3\t-----END PRIVATE KEY-----\n     4\tx",
            "     1\t***\n     4\tx",
            1,
        ),
        // The mark alone, as a search finds it in a manual or a test.
        (
            "a.md:3:-----BEGIN PRIVATE KEY-----\nb.rs:9:let x = f();\n",
            "a.md:3:***b.rs:9:let x = f();\n",
            1,
        ),
        // A key whose end is cut off is masked to the end.
        ("-----BEGIN PRIVATE KEY-----\nMIIE\nabc", "***", 1),
        (
            "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3Bl\\n-----END OPENSSH PRIVATE KEY-----\\n",
            "***\\n",
            1,
        ),
    ] {
        assert_eq!(text(given), (masked.into(), count), "{given}");
    }
}

#[test]
fn what_is_no_secret_stays() {
    for given in [
        "",
        "***",
        "Bearer authentication is used.",
        "the bearer of this",
        "task-1234567890123456789012345",
        ".sk-folding-cube-animation { }",
        "sk-short",
        "risk-12345678901234567890",
        "ghp_short",
        "AKIAIOSFODNN7EXAMPLEX",
        "AKIAIOSFODNN7EXAMPL",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n",
        "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----\n",
        "-----",
        "eyJ is how they begin",
        "xoxo-short",
    ] {
        assert_eq!(text(given), (given.into(), 0));
    }
}

#[test]
fn data_is_masked_by_name_and_by_value() {
    let given = json!({
        "user": "ada",
        "Api-Key": "plain",
        "api_key": 12,
        "password": "",
        "token": null,
        "tokens": 17,
        "tokenizer": "bpe",
        "Set-Cookie": ["a=b"],
        "list": [{ "clientSecret": { "deep": 1 } }, format!("x AKIA{} y", "IOSFODNN7EXAMPLE")],
        "authorization": "***",
    });
    let untouched = given.clone();
    let masked = json!({
        "user": "ada",
        "Api-Key": "***",
        "api_key": "***",
        "password": "",
        "token": null,
        "tokens": 17,
        "tokenizer": "bpe",
        "Set-Cookie": "***",
        "list": [{ "clientSecret": "***" }, "x *** y"],
        "authorization": "***",
    });
    assert_eq!(mask_value(&given), (Cow::Owned(masked.clone()), 5));
    assert_eq!(given, untouched, "the input is not changed");
    assert_eq!(
        mask_value(&masked),
        (Cow::Borrowed(&masked), 0),
        "what is masked stays as it is"
    );
}

#[test]
fn data_that_is_nested_too_deep_is_not_let_through() {
    let mut deep = json!("x");
    for _ in 0..json::DEPTH_MAX + 5 {
        deep = json!([deep]);
    }
    let (masked, count) = mask_value(&deep);
    assert_eq!(count, 1);
    assert!(masked.to_string().contains("***") && !masked.to_string().contains('x'));
}

/// A secret that never ends costs no memory, and one of a kind that goes on is masked whole.
#[test]
fn long_secrets_are_not_held() {
    let mut masker = Masker::default();
    let mut out = masker.push(format!("Bearer a1{}", "b".repeat(1_000_000)).as_bytes());
    for _ in 0..100 {
        out.extend(masker.push(&[b'c'; 10_000]));
    }
    assert_eq!(out, b"Bearer ***");
    out.extend(masker.push(b" end"));
    out.extend(masker.finish());
    assert_eq!(
        (out.as_slice(), masker.count()),
        (&b"Bearer *** end"[..], 1)
    );

    // Text that begins like a key and is longer than any key is not masked.
    let flood = format!("-----BEGIN PRIVATE KEY-----\n{}", "A".repeat(200_000));
    let (masked, count) = text(&flood);
    assert!(count == 1 && masked.starts_with("***AAA") && masked.len() > 100_000);
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9 .=\\-_\\n\"€]{0,12}",
        proptest::sample::select(secrets()),
        proptest::sample::select(vec![
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "-----END RSA PRIVATE KEY-----",
            "-----BEGIN ",
            "-----END ",
            "Bearer ",
            "AKIA",
            "sk-",
            "{",
            "................................................................",
            "abcdefghijklmno-abcdefghijklmno-abcdefghijklmno-abcdefghijklmno-abc",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    /// A secret is found however it is split over pieces, and nothing else changes.
    #[test]
    fn pieces_give_what_the_whole_gives(parts in vec(part(), 0..6), cuts in vec(any::<prop::sample::Index>(), 0..8)) {
        let whole = parts.concat();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(whole.len() + 1)).collect();
        ends.push(whole.len());
        ends.sort_unstable();
        let mut masker = Masker::default();
        let (mut out, mut at) = (Vec::new(), 0);
        for end in ends {
            out.extend(masker.push(&whole.as_bytes()[at..end]));
            at = end;
        }
        out.extend(masker.finish());
        prop_assert_eq!((String::from_utf8(out).unwrap().into(), masker.count()), text(&whole));
    }

    /// The reported ranges are those that the mask replaces.
    #[test]
    fn spans_are_what_is_masked(parts in vec(part(), 0..6)) {
        let whole = parts.concat();
        let (mut rebuilt, mut at) = (String::new(), 0);
        for span in find_secrets(whole.as_bytes()) {
            rebuilt += &whole[at..span.start];
            rebuilt += MASK;
            at = span.end;
        }
        rebuilt += &whole[at..];
        prop_assert_eq!(rebuilt, text(&whole).0);
    }

    /// No secret is left, and a text without one is not touched.
    #[test]
    fn no_secret_is_left(before in "[ \\n(=\"]{1,4}", secret in proptest::sample::select(secrets()), after in "[ \\n)\"]{1,4}") {
        let whole = format!("{before}{secret}{after}");
        prop_assert_eq!(text(&whole), (format!("{before}***{after}").into(), 1));
    }

    #[test]
    fn any_bytes_can_be_scanned(given in any::<Vec<u8>>()) {
        let (masked, count) = mask_bytes(&given);
        prop_assert!(count > 0 || masked == given);
    }

    #[test]
    fn ordinary_text_is_not_touched(given in "[a-z ,.\\n€]{0,200}") {
        prop_assert_eq!(text(&given), (given.as_str().into(), 0));
    }
}
