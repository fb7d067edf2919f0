//! Effects as JSON for programs: with the exact names of changed files, where a person sees names with marked
//! characters.
//!
//! | member | what it holds |
//! | --- | --- |
//! | `path`, `from`, `before.target`, `after.target`, `diff.path` | the name itself, as far as it is UTF-8; JSON escapes what is hidden in it |
//! | `path_base64`, `from_base64`, `target_base64` | there only for a name that is no UTF-8: its bytes, exactly. The member beside it has those bytes marked then, and names no file |

use protocol::{Effect, ExactName};
use serde_json::{Value, json};

use crate::exit::CliError;

/// Converts all effects, each to an object.
pub(crate) fn effects_to_json(changes: &[Effect]) -> Result<Vec<Value>, CliError> {
    changes.iter().map(effect_to_json).collect()
}

fn effect_to_json(effect: &Effect) -> Result<Value, CliError> {
    let mut value = serde_json::to_value(effect)
        .map_err(|error| CliError::failure("An effect has no JSON.").with_cause(&error))?;
    let (path, from) = (effect.path_exact.as_ref(), effect.from_exact.as_ref());
    let target = |standing: &Option<protocol::view::effects::PathInfo>| {
        standing.as_ref().and_then(|it| it.target_exact.clone())
    };
    let (before, after) = (target(&effect.before), target(&effect.after));
    insert_exact_name(&mut value, "path", path);
    insert_exact_name(&mut value, "from", from);
    insert_exact_name(&mut value["before"], "target", before.as_ref());
    insert_exact_name(&mut value["after"], "target", after.as_ref());
    if let (Some(diff), Some(ExactName::Text(path))) = (value.get_mut("diff"), path) {
        diff["path"] = json!(path);
    }
    Ok(value)
}

/// Inserts the exact name in place of the displayed one, or beside it if the exact name is not UTF-8.
fn insert_exact_name(value: &mut Value, member: &str, exact: Option<&ExactName>) {
    let Some(exact) = exact else { return };
    let Some(object) = value.as_object_mut() else {
        return;
    };
    object.shift_remove(&format!("{member}_exact"));
    let (member, name) = match exact {
        ExactName::Text(text) => (member.to_owned(), text),
        ExactName::Base64(bytes) => (format!("{member}_base64"), bytes),
    };
    object.insert(member, json!(name));
}

#[cfg(test)]
mod tests {
    use protocol::text::display_text::format_path_bytes;
    use protocol::view::effects::{EffectKind, PathInfo, PathType};

    use super::*;

    fn link(target: &[u8]) -> Option<PathInfo> {
        let told = format_path_bytes(target);
        Some(PathInfo {
            what: PathType::Link,
            bytes: 0,
            mode: 0o777,
            target_exact: ExactName::from_bytes(&told, target),
            target: Some(told),
        })
    }

    /// Builds an effect as the reader of a snapshot returns it.
    fn told(path: &[u8], from: Option<&[u8]>, before: Option<&[u8]>) -> Value {
        let (path_told, from_told) = (format_path_bytes(path), from.map(format_path_bytes));
        let effect = Effect {
            id: 0,
            path_exact: ExactName::from_bytes(&path_told, path),
            path: path_told,
            kind: EffectKind::Changed,
            before: before.and_then(link),
            after: None,
            from_exact: from
                .zip(from_told.as_deref())
                .and_then(|(from, told)| ExactName::from_bytes(told, from)),
            from: from_told,
            diff: None,
            undiffed: None,
        };
        effects_to_json(&[effect]).unwrap().remove(0)
    }

    #[test]
    fn a_program_reads_the_very_names() {
        let link =
            |target: &str| json!({"what": "link", "bytes": 0, "mode": 0o777, "target": target});
        let mut bytes_behind = link("0xFE");
        bytes_behind["target_base64"] = json!("/g==");
        for (path, from, before, expected) in [
            (
                &b"plain"[..],
                None,
                None,
                json!({"id": 0, "path": "plain", "kind": "changed", "before": null, "after": null}),
            ),
            // Both are told alike to a person.
            (
                b"a\nb",
                Some(&b"aU+000Ab"[..]),
                Some(&b"\x1b[2J"[..]),
                json!({"id": 0, "path": "a\nb", "kind": "changed", "before": link("\u{1b}[2J"), "after": null, "from": "aU+000Ab"}),
            ),
            (
                "gpj.\u{202e}exe".as_bytes(),
                Some(b"\xc3\xa4\t"),
                None,
                json!({"id": 0, "path": "gpj.\u{202e}exe", "kind": "changed", "before": null, "after": null, "from": "\u{e4}\t"}),
            ),
            (
                b"d\n/od\xff",
                Some(b"\xff"),
                Some(b"\xfe"),
                json!({
                    "id": 0, "path": "dU+000A/od0xFF", "path_base64": "ZAovb2T/", "kind": "changed",
                    "before": bytes_behind, "after": null, "from": "0xFF", "from_base64": "/w==",
                }),
            ),
        ] {
            assert_eq!(told(path, from, before), expected);
        }
    }
}
