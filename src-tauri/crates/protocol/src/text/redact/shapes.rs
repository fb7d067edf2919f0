//! Tests that values under a secret's name are masked in text of every shape, and that code is left unchanged.

use proptest::prelude::*;

use crate::text::redact::examples::{KEPT, MASKED};
use crate::text::redact::name::HARMLESS_PREFIXES;
use crate::text::redact::*;

#[test]
fn what_a_name_calls_secret_is_masked_in_every_shape() {
    let wrong: Vec<String> = MASKED
        .iter()
        .filter(|(given, masked)| text(given).0 != *masked)
        .map(|(given, masked)| {
            format!(
                "{given:?}\n  wanted {masked:?}\n  came   {:?}",
                text(given).0
            )
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        MASKED.len(),
        wrong.join("\n")
    );
}

#[test]
fn code_and_what_stands_for_a_value_is_left_as_it_is() {
    let wrong: Vec<String> = KEPT
        .iter()
        .filter(|given| text(given).1 > 0)
        .map(|given| format!("{given:?}\n  came {:?}", text(given).0))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        KEPT.len(),
        wrong.join("\n")
    );
}

/// Every line of the table is valid, and a token of its kind is masked.
#[test]
fn every_kind_of_the_table_is_masked() {
    let lines = include_str!("tokens.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    assert_eq!(lines.count(), token::token_kinds().len());
    for kind in token::token_kinds() {
        let begins = kind.begins.replace('?', "p");
        let rest: String = "a1B2c3D4e5F6"
            .chars()
            .cycle()
            .take(kind.bytes_min.max(24))
            .collect();
        let rest = match kind.of {
            token::ByteClass::Capital => rest.to_uppercase(),
            _ => rest,
        };
        let given = format!("see {begins}{rest} there");
        let whole = (Cow::Borrowed("see *** there"), 1);
        let rest = rest.to_lowercase();
        let given = match kind.of {
            token::ByteClass::Hex => format!(
                "see {begins}{} there",
                rest.replace(|c: char| !c.is_ascii_hexdigit(), "0")
            ),
            _ => given,
        };
        assert_eq!(text(&given), whole, "{}", kind.id);
    }
}

/// No file of this source tree holds a secret.
#[test]
fn source_code_is_not_touched() {
    for source in [
        include_str!("masker.rs"),
        include_str!("name.rs"),
        include_str!("value.rs"),
        include_str!("token.rs"),
        include_str!("../../settings/mod.rs"),
        include_str!("../../op.rs"),
        include_str!("../../../Cargo.toml"),
        include_str!("../../../../../../Cargo.lock"),
        include_str!("../../../../../../ui/package-lock.json"),
    ] {
        let spans = find_secrets(source.as_bytes());
        let found: Vec<&str> = spans
            .into_iter()
            .map(|span| &source[span.start.saturating_sub(40)..span.end])
            .collect();
        assert!(found.is_empty(), "{found:#?}");
    }
}

/// Generates a name of a secret, none of which begins with a word that makes a token harmless (`UNK_TOKEN`).
fn name() -> impl Strategy<Value = String> {
    let names = prop_oneof![
        Just("password".to_owned()),
        Just("DB_PASSWORD".to_owned()),
        Just("client_secret".to_owned()),
        Just("apiKey".to_owned()),
        "[A-Z]{1,8}_(TOKEN|SECRET|API_KEY|PASSWORD)",
        "[a-z]{1,8}\\.(password|api-key|auth_token)",
    ];
    names.prop_filter("harmless", |name| {
        let word = name.split(['_', '.']).next().unwrap_or_default();
        !HARMLESS_PREFIXES.contains(&word.to_lowercase())
    })
}

/// Generates a value with letters, digits and a sign, so that the value is not a word.
fn value_of_one() -> impl Strategy<Value = String> {
    "[a-f][0-9][G-Z][0-9a-zA-Z]{9,24}"
}

proptest! {
    /// For every name, value and shape, the value is masked and the rest is kept.
    #[test]
    fn a_value_under_a_secrets_name_is_gone(name in name(), value in value_of_one(), shape in 0..8_usize) {
        let (before, after) = [
            (format!("{name}={value_}", value_ = ""), "\n".to_owned()),
            (format!("x: 1\n  {name}: "), "\n".to_owned()),
            (format!("{{\"{name}\": \""), "\"}".to_owned()),
            (format!("{name} = \""), "\"\n".to_owned()),
            (format!("'{name}' => '"), "',".to_owned()),
            (format!("--{name} "), " x".to_owned()),
            (format!("{{\\\"{name}\\\":\\\""), "\\\"}".to_owned()),
            (format!("<{name}>"), format!("</{name}>")),
        ][shape].clone();
        let whole = format!("{before}{value}{after}");
        prop_assert_eq!(text(&whole).0, format!("{}***{}", before, after));
    }

    /// The cut of a stream makes no difference to names either.
    #[test]
    fn pieces_of_shapes_give_what_the_whole_gives(
        picked in proptest::collection::vec(proptest::sample::select(MASKED), 1..4),
        cut in 1..9_usize,
    ) {
        let whole: String = picked.iter().map(|(given, _)| *given).collect::<Vec<_>>().join("\n");
        let mut masker = Masker::default();
        let mut out = Vec::new();
        for piece in whole.as_bytes().chunks(cut) {
            out.extend(masker.push(piece));
        }
        out.extend(masker.finish());
        prop_assert_eq!((String::from_utf8(out).unwrap().into(), masker.count()), text(&whole));
    }

    /// A masked text is not masked again.
    #[test]
    fn masking_twice_changes_nothing(picked in proptest::sample::select(MASKED)) {
        let once = text(picked.0).0.into_owned();
        prop_assert_eq!(text(&once), (once.as_str().into(), 0));
    }
}
