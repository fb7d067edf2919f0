//! Random trees with random modes: a command's changes of one are carried out, undone and redone exactly.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::modes::{close, open_up};
use super::*;
use crate::ordinary_user::is_ordinary_user;

#[derive(Debug, Clone)]
enum Thing {
    File(u8, u32),
    Folder(u32),
    Link(u8),
}

/// Entries at paths; those whose path is blocked by another are absent.
type Tree = Vec<(Vec<u8>, Thing)>;

fn thing() -> impl Strategy<Value = Thing> {
    let file = vec![0o644, 0o000, 0o200, 0o444, 0o755, 0o100, 0o600, 0o066];
    let folder = vec![0o755, 0o000, 0o555, 0o311, 0o111, 0o700, 0o077, 0o1777];
    prop_oneof![
        5 => (any::<u8>(), prop::sample::select(file)).prop_map(|(content, mode)| Thing::File(content, mode)),
        5 => prop::sample::select(folder).prop_map(Thing::Folder),
        1 => (0_u8..3).prop_map(Thing::Link),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    prop::collection::vec((prop::collection::vec(0_u8..3, 1..5), thing()), 1..16)
}

fn build(root: &Path, tree: &Tree) {
    fs::create_dir(root).unwrap();
    let mut modes = Vec::new();
    for (names, thing) in tree {
        let rel: PathBuf = names.iter().map(|name| format!("n{name}")).collect();
        let path = root.join(&rel);
        let blocked = path
            .ancestors()
            .take(names.len())
            .skip(1)
            .any(|above| above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()));
        if blocked || path.symlink_metadata().is_ok() {
            continue;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match thing {
            Thing::File(content, mode) => {
                fs::write(&path, [*content]).unwrap();
                modes.push((path, *mode));
            }
            Thing::Folder(mode) => {
                fs::create_dir(&path).unwrap();
                modes.push((path, *mode));
            }
            Thing::Link(name) => symlink(format!("n{name}"), &path).unwrap(),
        }
    }
    modes.sort();
    for (path, mode) in modes.iter().rev() {
        fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
    }
}

fn there_and_back(from: &Tree, to: &Tree, closed: bool) -> Result<(), TestCaseError> {
    let memory = Path::new("/dev/shm");
    let home = match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    let home = home.unwrap();
    build(&home.path().join("ws"), from);
    build(&home.path().join("layer"), to);
    let root_mode = if closed { 0o555 } else { 0o755 };
    for root in ["ws", "layer"] {
        let mode = fs::Permissions::from_mode(root_mode);
        fs::set_permissions(home.path().join(root), mode).unwrap();
    }
    let fixture = Fixture::standing(Home::Own(home));
    let (before, after) = (fixture.picture(), picture(&fixture.layer()));
    let plan = fixture.captured();
    open_up(&fixture.layer());
    let id = fixture.effect("und_1", &plan);
    let committed = fixture.picture();
    prop_assert_eq!(
        without_folder_times(committed.clone()),
        without_folder_times(after)
    );
    fixture.undo(&id).unwrap();
    prop_assert_eq!(fixture.picture(), before);
    fixture.redo(&id).unwrap();
    prop_assert_eq!(fixture.picture(), committed);
    open_up(fixture.workspace.root());
    Ok(())
}

#[test]
fn there_and_back_and_there_again_with_any_mode() {
    if !is_ordinary_user("undo::tests::trees::there_and_back_and_there_again_with_any_mode") {
        return;
    }
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(256)
    };
    let tried = TestRunner::new(config).run(
        &((tree(), tree()), any::<bool>()),
        |((from, to), closed)| there_and_back(&from, &to, closed),
    );
    tried.unwrap();
}

/// A recorded state can be restored whatever modes are in it; otherwise the tests above would prove nothing.
#[test]
fn a_picture_changes_nothing() {
    if !is_ordinary_user("undo::tests::trees::a_picture_changes_nothing") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("ws");
    let inner = vec![
        (vec![0, 1], Thing::File(7, 0o000)),
        (vec![0], Thing::Folder(0)),
    ];
    build(&root, &inner);
    fs::set_permissions(root.join("n0"), fs::Permissions::from_mode(0o000)).unwrap();
    let before = picture(&root);
    assert_eq!(before[Path::new("n0/n1")].content, [7]);
    assert_eq!(before[Path::new("n0")].mode, 0);
    open_up(&root);
    assert!(picture(&root) != before);
    close(&root, &before);
    assert!(picture(&root) == before);
    open_up(&root);
}
