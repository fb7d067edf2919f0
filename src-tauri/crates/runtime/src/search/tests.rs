//! Tests of search results, of exclusions, of their order, and of the limits.

use std::fs;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{GlobInclude, GlobQuery, GlobResult, GrepQuery, GrepResult, find_files, search_lines};
use crate::{FileError, Workspace};

fn workspace_with(files: &[(&str, &[u8])]) -> (TempDir, Workspace) {
    let home = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = home.path().join("ws").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let workspace = Workspace::open(&home.path().join("ws")).unwrap();
    (home, workspace)
}

fn tree() -> (TempDir, Workspace) {
    workspace_with(&[
        (".gitignore", b"target/\n*.log\n"),
        (".git/config", b"needle"),
        (".hidden/h.rs", b"needle hidden"),
        ("a.rs", b"one\nneedle two\nthree\nNeedle four\n"),
        ("b.log", b"needle"),
        ("sub/a.rs", b"needle\r\n"),
        ("sub/deep/c.ts", b"x needle"),
        ("sub/deep/d.tsx", b"none"),
        ("target/t.rs", b"needle"),
        ("bin.dat", b"needle\0needle"),
        ("latin.txt", b"caf\xe9 needle"),
    ])
}

fn find(workspace: &Workspace, pattern: &str, under: Option<&str>, max: usize) -> GlobResult {
    let query = GlobQuery {
        under,
        ..GlobQuery::files_matching(pattern, max)
    };
    find_files(workspace, &query, &CancellationToken::new()).unwrap()
}

fn search(workspace: &Workspace, query: &GrepQuery, max: usize) -> GrepResult {
    search_lines(workspace, query, max, &CancellationToken::new()).unwrap()
}

fn needle() -> GrepQuery {
    GrepQuery {
        pattern: "needle".into(),
        ..GrepQuery::default()
    }
}

fn places(found: &GrepResult) -> Vec<(&str, u64)> {
    found
        .matches
        .iter()
        .map(|hit| (hit.path.as_str(), hit.line))
        .collect()
}

#[test]
fn globs() {
    let (home, workspace) = tree();
    let absolute = format!("{}/**/*.ts", workspace.root().display());
    let cases: [(&str, Option<&str>, &[&str]); 10] = [
        ("*.rs", None, &["a.rs"]),
        ("**/*.rs", None, &[".hidden/h.rs", "a.rs", "sub/a.rs"]),
        (
            "sub/**",
            None,
            &["sub/a.rs", "sub/deep/c.ts", "sub/deep/d.tsx"],
        ),
        (
            "**/*.{ts,tsx}",
            Some("sub"),
            &["sub/deep/c.ts", "sub/deep/d.tsx"],
        ),
        ("./a.*", None, &["a.rs"]),
        (&absolute, None, &["sub/deep/c.ts"]),
        ("*.rs", Some("target"), &["target/t.rs"]),
        ("**/config", None, &[]),
        ("*", Some("sub"), &["sub/a.rs"]),
        ("nothing*", None, &[]),
    ];
    for (pattern, under, paths) in cases {
        let expected = GlobResult {
            paths: paths.iter().map(|path| (*path).into()).collect(),
            more: false,
        };
        assert_eq!(
            find(&workspace, pattern, under, 100),
            expected,
            "{pattern} {under:?}"
        );
    }
    drop(home);
}

/// S001-51: the contents of a folder are its files and its folders, ignored or not.
#[test]
fn everything_in_a_folder_is_listed() {
    let (_home, workspace) = tree();
    for (pattern, under, expected) in [
        ("*", Some("sub"), &["sub/a.rs", "sub/deep/"][..]),
        (
            "*",
            None,
            &[
                ".gitignore",
                ".hidden/",
                "a.rs",
                "b.log",
                "bin.dat",
                "latin.txt",
                "sub/",
                "target/",
            ],
        ),
        ("*/*.rs", None, &[".hidden/h.rs", "sub/a.rs", "target/t.rs"]),
        ("d*", Some("sub"), &["sub/deep/"]),
        ("**/d*", Some("sub"), &["sub/deep/", "sub/deep/d.tsx"]),
    ] {
        let query = GlobQuery {
            pattern,
            under,
            include: GlobInclude::Everything,
            entries_max: 100,
        };
        let found = find_files(&workspace, &query, &CancellationToken::new()).unwrap();
        assert_eq!(found.paths, expected, "{pattern} {under:?}");
    }
}

/// S002-73: the 1001st entry is one too many.
#[test]
fn glob_says_when_there_are_more() {
    let names: Vec<String> = (0..1_001).map(|i| format!("d{}/f{i:04}", i % 7)).collect();
    let files: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), b"".as_slice()))
        .collect();
    let (_home, workspace) = workspace_with(&files);
    let mut sorted = names.clone();
    sorted.sort();
    let all = find(&workspace, "**", None, 1_001);
    assert_eq!((all.paths, all.more), (sorted.clone(), false));
    let cut = find(&workspace, "**", None, 1_000);
    assert_eq!((cut.paths.as_slice(), cut.more), (&sorted[..1_000], true));
}

#[test]
fn greps() {
    let (_home, workspace) = tree();
    let query = |change: &dyn Fn(&mut GrepQuery)| {
        let mut query = needle();
        change(&mut query);
        query
    };
    type Places<'a> = &'a [(&'a str, u64)];
    let cases: [(GrepQuery, Places); 8] = [
        (
            needle(),
            &[
                (".hidden/h.rs", 1),
                ("a.rs", 2),
                ("latin.txt", 1),
                ("sub/a.rs", 1),
                ("sub/deep/c.ts", 1),
            ],
        ),
        (
            query(&|q| q.include = Some("*.rs".into())),
            &[(".hidden/h.rs", 1), ("a.rs", 2), ("sub/a.rs", 1)],
        ),
        (query(&|q| q.include = Some("/*.rs".into())), &[("a.rs", 2)]),
        (query(&|q| q.include = Some("deep/*.{ts,js}".into())), &[]),
        (
            query(&|q| q.under = Some("sub".into())),
            &[("sub/a.rs", 1), ("sub/deep/c.ts", 1)],
        ),
        (query(&|q| q.under = Some("b.log".into())), &[("b.log", 1)]),
        (
            query(&|q| {
                q.under = Some("a.rs".into());
                q.case_insensitive = true;
            }),
            &[("a.rs", 2), ("a.rs", 4)],
        ),
        (query(&|q| q.pattern = "^needle$".into()), &[]),
    ];
    for (query, expected) in cases {
        let found = search(&workspace, &query, 100);
        assert_eq!(places(&found), expected, "{query:?}");
        assert_eq!((found.more, found.unreadable), (false, 0), "{query:?}");
    }
    let found = search(
        &workspace,
        &query(&|q| q.under = Some("latin.txt".into())),
        100,
    );
    assert_eq!(found.matches[0].text, "caf\u{fffd} needle");
}

/// S002-74: the 201st match is one too many, and which 200 come first is always the same.
#[test]
fn grep_stops_in_order() {
    let names: Vec<String> = (0..2_000).map(|i| format!("d{}/f{i:04}", i % 9)).collect();
    let files: Vec<(&str, &[u8])> = names
        .iter()
        .map(|name| (name.as_str(), b"needle\nneedle\n".as_slice()))
        .collect();
    let (_home, workspace) = workspace_with(&files);
    let mut sorted = names.clone();
    sorted.sort();
    let expected: Vec<(&str, u64)> = sorted
        .iter()
        .flat_map(|name| [(name.as_str(), 1), (name.as_str(), 2)])
        .take(201)
        .collect();
    for _ in 0..5 {
        let found = search(&workspace, &needle(), 201);
        assert_eq!(places(&found), expected);
        assert_eq!((found.files, found.more), (101, true));
    }
    let found = search(&workspace, &needle(), 4_000);
    assert_eq!(
        (found.matches.len(), found.files, found.more),
        (4_000, 2_000, false)
    );
    let found = search(&workspace, &needle(), 0);
    assert_eq!((found.matches.len(), found.files, found.more), (0, 0, true));
}

#[test]
fn a_long_line_is_cut_between_characters() {
    let long = format!("needle {}", "ü".repeat(3_000));
    let (_home, workspace) = workspace_with(&[("long", long.as_bytes())]);
    let text = search(&workspace, &needle(), 1).matches[0].text.clone();
    assert!(
        text.ends_with("üü … [4008 bytes more in this line]"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_searched_is_said() {
    let (home, workspace) = tree();
    fs::write(home.path().join("secret"), "needle").unwrap();
    let never = CancellationToken::new();
    let bad = |pattern: &str| {
        let query = GrepQuery {
            pattern: pattern.into(),
            ..GrepQuery::default()
        };
        search_lines(&workspace, &query, 9, &never).unwrap_err()
    };
    for (pattern, position) in [
        ("x(ab", "x(ab\n     ^"),
        ("a**[", "a**[\n       ^"),
        (r"a\nb", "\\n"),
    ] {
        let error = bad(pattern).to_string();
        assert!(error.contains(position), "{error}");
    }
    let error = find_files(&workspace, &GlobQuery::files_matching("a[", 9), &never).unwrap_err();
    assert!(
        matches!(&error, FileError::Pattern { pattern, .. } if pattern == "a["),
        "{error:?}"
    );

    for under in ["none", "..", "a.rs"] {
        let query = GlobQuery {
            under: Some(under),
            ..GlobQuery::files_matching("*", 9)
        };
        let error = find_files(&workspace, &query, &never).unwrap_err();
        assert!(error.to_string().contains(&format!("`{under}`")), "{error}");
    }
    let query = GrepQuery {
        under: Some("../secret".into()),
        ..needle()
    };
    assert!(matches!(
        search_lines(&workspace, &query, 9, &never),
        Err(FileError::Outside { .. })
    ));

    let cancelled = CancellationToken::new();
    cancelled.cancel();
    assert_eq!(
        search_lines(&workspace, &needle(), 9, &cancelled),
        Err(FileError::Cancelled)
    );
    assert_eq!(
        find_files(&workspace, &GlobQuery::files_matching("*", 9), &cancelled),
        Err(FileError::Cancelled)
    );
}

#[cfg(unix)]
#[test]
fn links_are_found_but_never_followed() {
    let (home, workspace) = workspace_with(&[("in/a.txt", b"needle")]);
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("b.txt"), "needle").unwrap();
    std::os::unix::fs::symlink(&outside, workspace.root().join("out")).unwrap();
    std::os::unix::fs::symlink("in", workspace.root().join("inner")).unwrap();
    assert_eq!(
        find(&workspace, "**", None, 9).paths,
        ["in/a.txt", "inner", "out"]
    );
    assert_eq!(places(&search(&workspace, &needle(), 9)), [("in/a.txt", 1)]);
    let through = GrepQuery {
        under: Some("inner".into()),
        ..needle()
    };
    assert_eq!(places(&search(&workspace, &through, 9)), [("in/a.txt", 1)]);
    let out = GrepQuery {
        under: Some("out".into()),
        ..needle()
    };
    let refused = search_lines(&workspace, &out, 9, &CancellationToken::new());
    assert!(
        matches!(refused, Err(FileError::Outside { .. })),
        "{refused:?}"
    );

    let wider = workspace.with_readable(&outside).unwrap();
    let found = search(&wider, &out, 9);
    let real = outside
        .canonicalize()
        .unwrap()
        .join("b.txt")
        .display()
        .to_string();
    assert_eq!(places(&found), [(real.as_str(), 1)]);
}

/// A file is known again by its name, length, and time, wherever it stands; one that differs in any of them is not it.
#[test]
fn a_file_is_found_by_what_is_known_of_it() {
    let (home, workspace) = tree();
    let at = |path: &str| home.path().join("ws").join(path);
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_micros(1_700_000_000_123_456);
    for path in ["a.rs", "sub/a.rs", "target/t.rs"] {
        let file = fs::File::options().write(true).open(at(path)).unwrap();
        file.set_modified(time).unwrap();
    }
    let find = |name, bytes, modified_ms| {
        let wanted = super::FileTraits {
            name,
            bytes,
            modified_ms,
        };
        super::find_same_files(&workspace, &wanted, 10, &CancellationToken::new()).unwrap()
    };
    let length = |path: &str| fs::metadata(at(path)).unwrap().len();
    let modified = 1_700_000_000_123;
    assert_eq!(find("a.rs", length("a.rs"), modified), ["a.rs"]);
    assert_eq!(find("a.rs", length("sub/a.rs"), modified), ["sub/a.rs"]);
    assert_eq!(
        find("t.rs", length("target/t.rs"), modified),
        ["target/t.rs"],
        "an ignored one"
    );
    let none: [&str; 0] = [];
    assert_eq!(find("a.rs", length("a.rs") + 1, modified), none);
    assert_eq!(find("a.rs", length("a.rs"), modified + 1), none);
    assert_eq!(find("sub", 0, modified), none, "a folder");
    assert_eq!(find("../a.rs", length("a.rs"), modified), none);
}
