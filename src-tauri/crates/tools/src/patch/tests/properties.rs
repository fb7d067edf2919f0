//! Property tests of patches: applying a generated diff gives the text that was compared, and no text makes the parser
//! panic.

use proptest::prelude::*;

use super::{PatchAction, parse_patch};
use crate::patch::apply_hunks;

/// Generates texts of few lines, so that many are alike; some look like parts of a patch, some have no line end.
fn content() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a\n",
        "a\n",
        "b\n",
        "\n",
        " \n",
        "    a\n",
        "--- x\n",
        "+++ x\n",
        "@@ -1 +1 @@\n",
        "*** End Patch\n",
        "-\n",
        "\\ no\n",
        "é\r\n",
    ]);
    let last = prop::sample::select(vec!["", "", "a", "é"]);
    (prop::collection::vec(line, 0..20), last).prop_map(|(lines, last)| lines.concat() + last)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_a_differ_writes_comes_to_what_it_compared(before in content(), after in content(), context in 0_usize..4) {
        prop_assume!(before != after && !before.is_empty() && !after.is_empty());
        // Where every line ends with CRLF, new lines get that end whatever the patch has.
        prop_assume!(!crate::text::is_crlf_only(&before));
        let mut options = diffy::DiffOptions::new();
        let patch = options.set_context_len(context).create_patch(&before, &after).to_string();
        let files = parse_patch(&patch);
        let Ok([file]) = files.as_deref() else {
            return Err(TestCaseError::fail(format!("{files:?}\n{patch}")));
        };
        let PatchAction::Update { hunks, .. } = &file.act else {
            return Err(TestCaseError::fail(format!("{file:?}")));
        };
        prop_assert_eq!(apply_hunks(&before, hunks), Ok(after), "{}", patch);
    }

    #[test]
    fn no_text_brings_the_reader_down(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Delete File: a", "*** Update File: a", "*** Move to: b",
            "*** End of File", "@@", "@@ a", "@@ -1,2 +1,2 @@", "@@ -0,0 +1 @@", "--- a", "+++ b", "--- /dev/null", "diff --git a b",
            "rename from a", "rename to b", "\\ No newline at end of file", "+a", "-a", " a", "a", "", "\r", "é",
        ]), 0..24),
        envelope in any::<bool>(),
        content in content(),
    ) {
        let body = pieces.join("\n");
        let text = match envelope {
            true => super::envelope(&body),
            false => format!("--- a\n+++ a\n{body}"),
        };
        for file in parse_patch(&text).unwrap_or_default() {
            match file.act {
                PatchAction::Delete(hunks) | PatchAction::Update { hunks, .. } => drop(apply_hunks(&content, &hunks)),
                PatchAction::Add(_) => {}
            }
        }
    }
}
