//! Random trees and plans: undone and redone.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Thing {
    File(Vec<u8>, u32),
    Folder(u32),
    Link(String),
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c d", "ü", ".hid", "a.rs", "-x", "*"]).prop_map(Into::into)
}

fn thing() -> impl Strategy<Value = Thing> {
    prop_oneof![
        4 => (prop::collection::vec(any::<u8>(), 0..40), prop::sample::select(vec![0o644, 0o600, 0o755, 0o444, 0o4711]))
            .prop_map(|(content, mode)| Thing::File(content, mode)),
        2 => prop::sample::select(vec![0o755, 0o700, 0o711, 0o1777]).prop_map(Thing::Folder),
        1 => prop::sample::select(vec!["a", "../b", "/nowhere", "a/b/c"]).prop_map(|to| Thing::Link(to.into())),
    ]
}

fn things() -> impl Strategy<Value = Vec<(Vec<String>, Thing)>> {
    prop::collection::vec((prop::collection::vec(name(), 1..5), thing()), 1..25)
}

fn build(fixture: &Fixture, things: &[(Vec<String>, Thing)]) {
    for (names, thing) in things {
        let rel: PathBuf = names.iter().collect();
        // The way to it may be blocked by a file or a link of an earlier one; then this one is not there.
        let blocked = rel.ancestors().skip(1).any(|above| {
            fixture
                .at(above)
                .symlink_metadata()
                .is_ok_and(|meta| !meta.is_dir())
        });
        let path = fixture.at(&rel);
        if blocked || path.symlink_metadata().is_ok() {
            continue;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match thing {
            Thing::File(content, mode) => {
                fs::write(&path, content).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Thing::Folder(mode) => {
                fs::create_dir(&path).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Thing::Link(to) => symlink(to, &path).unwrap(),
        }
    }
    fixture.age();
}

/// Writes to the places that can be written to, each once.
fn writing(fixture: &Fixture, places: &[(Vec<String>, Vec<u8>)]) -> Plan {
    let mut changes: Vec<FileChange> = Vec::new();
    for (names, after) in places {
        let path = names.join("/");
        let Ok(rel) = fixture.workspace.resolve_in_root(&path, true) else {
            continue;
        };
        let clashes = changes.iter().any(|change| {
            let other = fixture
                .workspace
                .resolve_in_root(&change.path, true)
                .unwrap();
            other.starts_with(&rel) || rel.starts_with(&other)
        });
        let blocked = rel.ancestors().skip(1).any(|above| {
            fixture
                .at(above)
                .symlink_metadata()
                .is_ok_and(|meta| !meta.is_dir())
        });
        if clashes || blocked {
            continue;
        }
        if let Ok(before) = fixture.workspace.read_whole(&path, 1_000) {
            changes.push(FileChange {
                path,
                before,
                after: Some(after.clone()),
                from: None,
            });
        }
    }
    Plan::Write(changes)
}

fn there_and_back(fixture: &Fixture, id: &str, plan: &Plan) -> Result<(), TestCaseError> {
    let before = fixture.picture();
    let id = fixture.effect(id, plan);
    let after = fixture.picture();
    fixture.undo(&id).unwrap();
    prop_assert_eq!(fixture.picture(), before);
    fixture.redo(&id).unwrap();
    prop_assert_eq!(fixture.picture(), after);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn there_and_back_and_there_again(
        things in things(),
        writes in prop::collection::vec((prop::collection::vec(name(), 1..4), prop::collection::vec(any::<u8>(), 0..40)), 0..6),
        victim in any::<prop::sample::Index>(),
    ) {
        let fixture = Fixture::in_memory();
        build(&fixture, &things);
        let at_first = fixture.picture();
        there_and_back(&fixture, "und_1", &writing(&fixture, &writes))?;
        let tops: Vec<String> = fixture
            .picture()
            .into_keys()
            .filter(|path| !path.as_os_str().is_empty())
            .map(|path| path.to_str().unwrap().to_owned())
            .collect();
        let removal = fixture.removal(&tops[victim.index(tops.len())]);
        there_and_back(&fixture, "und_2", &removal)?;
        // Undone newest first, everything is as it was before the first.
        fixture.undo(&"und_2".into()).unwrap();
        fixture.undo(&"und_1".into()).unwrap();
        prop_assert_eq!(fixture.picture(), at_first);
    }
}
