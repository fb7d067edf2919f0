//! Tests of reading and listing, and of the messages of refusals.

use crate::fs::dir::make_pipe;
use crate::fs::workspace::tests::*;

#[test]
fn pieces_and_wholes() {
    let fixture = Fixture::new();
    let read = |from, max| {
        let piece = fixture.workspace.read("inner", from, max).unwrap();
        (piece.bytes, piece.total)
    };
    assert_eq!(read(0, 5), (b"hello".to_vec(), 11));
    assert_eq!(read(6, 99), (b"world".to_vec(), 11));
    assert_eq!(read(99, 99), (vec![], 11));
    assert_eq!(
        fixture.workspace.read_whole("bin", 3),
        Ok(Some(b"\x00\xff\n".to_vec()))
    );
    assert_eq!(fixture.workspace.read_whole("none", 3), Ok(None));
    let large = FileError::TooLarge {
        path: "bin".into(),
        bytes: 3,
        bytes_max: 2,
    };
    assert_eq!(fixture.workspace.read_whole("bin", 2), Err(large));
    let piece = fixture.workspace.read("bin", 0, 9).unwrap();
    let stat = fixture
        .workspace
        .dir()
        .stat_at(std::path::Path::new("bin"))
        .unwrap()
        .unwrap();
    assert_eq!(piece.mtime_ns, stat.mtime_ns);
}

#[test]
fn a_huge_file_is_read_in_pieces() {
    let fixture = Fixture::new();
    let file = fs::File::create(fixture.workspace.root().join("huge")).unwrap();
    file.set_len(5 << 30).unwrap();
    let piece = fixture.workspace.read("huge", (5 << 30) - 3, 10).unwrap();
    assert_eq!((piece.bytes, piece.total), (vec![0; 3], 5 << 30));
    let error = fixture.workspace.read_whole("huge", 1_000).unwrap_err();
    assert!(error.to_string().contains("5368709120 bytes"), "{error}");
}

/// A pipe without a writer must never block.
#[test]
fn what_is_no_file_is_refused_at_once() {
    let fixture = Fixture::new();
    let at = |path: &str| fixture.workspace.root().join(path);
    make_pipe(&at("pipe"));
    symlink("pipe", at("to-pipe")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    let cases = [
        (
            "pipe",
            FileError::Special {
                path: "pipe".into(),
            },
        ),
        (
            "to-pipe",
            FileError::Special {
                path: "to-pipe".into(),
            },
        ),
        (
            "socket",
            FileError::Special {
                path: "socket".into(),
            },
        ),
        ("src", FileError::IsFolder { path: "src".into() }),
        ("", FileError::IsFolder { path: "".into() }),
        (
            "none",
            FileError::NotFound {
                path: "none".into(),
            },
        ),
        (
            "dangling",
            FileError::NotFound {
                path: "dangling".into(),
            },
        ),
        (
            "src/a.txt/x",
            FileError::NotAFolder {
                path: "src/a.txt/x".into(),
            },
        ),
        (
            "out",
            FileError::Outside {
                path: "out".into(),
                real: fixture.real("outside/secret"),
            },
        ),
    ];
    for (path, expected) in cases {
        let error = fixture.workspace.read(path, 0, 9).unwrap_err();
        assert_eq!(error, expected);
        let text = error.to_string();
        assert!(
            text.contains(&format!("`{path}`")) && text.ends_with('.'),
            "{text}"
        );
    }
}

#[test]
fn kinds() {
    let fixture = Fixture::new();
    let pipe = fixture.workspace.root().join("pipe");
    make_pipe(&pipe);
    let cases = [
        ("src/a.txt", Some(PathKind::File)),
        ("src", Some(PathKind::Folder)),
        ("", Some(PathKind::Folder)),
        ("out", Some(PathKind::Link)),
        ("folder/up", Some(PathKind::Link)),
        ("pipe", Some(PathKind::Special)),
        ("none", None),
        ("src/a.txt/x", None),
    ];
    for (path, kind) in cases {
        assert_eq!(fixture.workspace.path_kind(path), Ok(kind), "{path}");
    }
}

#[test]
fn a_tree_is_listed_and_told_from_another() {
    let fixture = Fixture::new();
    let tree = |path: &str| {
        fixture
            .workspace
            .list_tree(path, TreeLimits::default())
            .unwrap()
    };
    let before = tree("src");
    let items: Vec<_> = before
        .items
        .iter()
        .map(|item| (item.path.to_str().unwrap(), item.kind, item.bytes))
        .collect();
    let expected = [
        ("src", PathKind::Folder, 0),
        ("src/a.txt", PathKind::File, 11),
        ("src/deep", PathKind::Folder, 0),
        ("src/up", PathKind::Link, 0),
    ];
    assert_eq!(items, expected);
    assert_eq!(
        (before.files, before.folders, before.bytes, before.lines),
        (2, 2, 11, Some(2))
    );
    assert_eq!(tree("src").digest, before.digest);
    assert_eq!(tree("folder").items.len(), 1, "a link is not followed");

    let at = |path: &str| fixture.workspace.root().join(path);
    fs::set_permissions(at("src/a.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    let narrower = tree("src").digest;
    assert_ne!(narrower, before.digest, "a mode counts");
    fs::write(at("src/deep/.new"), "").unwrap();
    assert_ne!(tree("src").digest, narrower, "a new name counts");

    let few = TreeLimits {
        items_max: 3,
        lines_bytes_max: 0,
    };
    let error = fixture.workspace.list_tree("src", few).unwrap_err();
    assert_eq!(
        error,
        FileError::TooMany {
            path: "src".into(),
            items_max: 3
        }
    );
    let uncounted = TreeLimits {
        items_max: 9,
        lines_bytes_max: 10,
    };
    assert_eq!(
        fixture.workspace.list_tree("src", uncounted).unwrap().lines,
        None
    );
}
