//! Properties of hunks that hold for any two texts and any choice.

use proptest::prelude::*;
use protocol::call::plan::FileChange;
use protocol::view::preview::DiffLineKind;

use super::*;

fn change(before: &str, after: &str) -> FileChange {
    FileChange {
        path: "a.txt".to_owned(),
        before: Some(before.as_bytes().to_vec()),
        after: Some(after.as_bytes().to_vec()),
        from: None,
    }
}

fn content() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "a\n",
            "b\n",
            "c\r\n",
            "word one two\n",
            "word one three\n",
            "\n",
            "é\u{200b}\n",
            "tail",
        ]),
        0..30,
    )
    .prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn all_hunks_are_after_and_none_are_before(before in content(), after in content(), context in 0_u32..4) {
        let file = diff_file("a.txt", Some(before.as_bytes()), after.as_bytes(), 0, context);
        let change = change(&before, &after);
        let all: Vec<u32> = file.hunks.iter().map(|hunk| hunk.id).collect();
        prop_assert_eq!(select_hunks(&change, &file, &all).unwrap(), after.as_bytes());
        prop_assert_eq!(select_hunks(&change, &file, &[]).unwrap(), before.as_bytes());
        prop_assert_eq!(file.hunks.is_empty(), before == after);
    }

    #[test]
    fn any_choice_applies_and_leaves_the_rest(
        before in content(), after in content(), context in 0_u32..4, choice in any::<u64>(),
    ) {
        let file = diff_file("a.txt", Some(before.as_bytes()), after.as_bytes(), 0, context);
        let change = change(&before, &after);
        let chosen: Vec<u32> = file.hunks.iter().map(|h| h.id).filter(|id| choice >> (id % 64) & 1 == 1).collect();
        let part = select_hunks(&change, &file, &chosen).unwrap();

        // The hunks that were left out are exactly the difference that still separates the part from the whole:
        // applying the hunks of that difference gives the whole, and the lines that come and go add up.
        let chosen_hunks = file.hunks.iter().filter(|hunk| chosen.contains(&hunk.id));
        let (added, removed) = chosen_hunks.fold((0, 0), |(a, r), h| (a + h.added as i64, r + h.removed as i64));
        let lines = |bytes: &[u8]| bytes.split_inclusive(|b| *b == b'\n').count() as i64;
        if !part.is_empty() && before.ends_with('\n') && after.ends_with('\n') {
            prop_assert_eq!(lines(&part), lines(before.as_bytes()) + added - removed);
        }
        // Choosing the rest in a second step, on the difference that is left, ends at the whole.
        let rest = diff_file("a.txt", Some(&part), after.as_bytes(), 0, context);
        let ids: Vec<u32> = rest.hunks.iter().map(|hunk| hunk.id).collect();
        let second = FileChange { before: Some(part.clone()), ..change.clone() };
        prop_assert_eq!(select_hunks(&second, &rest, &ids).unwrap(), after.as_bytes());
        // Each hunk that was applied brought its new lines, each that was left out kept its old ones.
        let mut expected = Vec::new();
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
        let mut next = 0;
        for hunk in &file.hunks {
            for line in &hunk.lines {
                let takes = chosen.contains(&hunk.id);
                if let Some(number) = line.old {
                    let index = number as usize - 1;
                    expected.extend(&old[next..index]);
                    next = index + 1;
                    if line.new.is_some() || !takes {
                        expected.push(old[index]);
                    }
                } else if let (true, Some(number)) = (takes, line.new) {
                    let upto = (hunk.old_start as usize - 1).max(next);
                    expected.extend(&old[next..upto]);
                    next = upto;
                    expected.push(new[number as usize - 1]);
                }
            }
        }
        expected.extend(&old[next..]);
        prop_assert_eq!(String::from_utf8(part).unwrap(), expected.concat());
    }

    #[test]
    fn marks_never_change_the_text(before in content(), after in content()) {
        let file = diff_file("a.txt", Some(before.as_bytes()), after.as_bytes(), 0, CONTEXT_LINES);
        for line in file.hunks.iter().flat_map(|hunk| &hunk.lines) {
            let (side, number) = match line.kind {
                DiffLineKind::Added => (&after, line.new),
                DiffLineKind::Context | DiffLineKind::Removed => (&before, line.old),
            };
            let source = side.split_inclusive('\n').nth(number.unwrap() as usize - 1).unwrap();
            let text: String = line.parts.iter().map(|part| part.text.as_str()).collect();
            let visible: String = protocol::text::display_text::to_spans(source.trim_end_matches('\n')).into_iter().map(|s| s.text).collect();
            prop_assert!(text == visible || format!("{text}U+000D") == visible, "{text:?} {visible:?}");
            prop_assert_eq!(line.no_newline, !source.ends_with('\n'));
        }
    }
}
