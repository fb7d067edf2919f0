//! Single commands whose effects can be told in advance.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use protocol::view::effects::RefusalKind;
use protocol::{CommandExit, ExactName, Plan};
use runtime::{FileError, NetworkClient, ShellCommand};
use rustix::fs::XattrFlags;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Stage, furnish, told};
use crate::tree_snapshot::{picture, same};

/// A furnished stage; none where no command can be rehearsed.
pub fn furnished() -> Option<Stage> {
    let stage = Stage::new();
    if !stage.works() {
        return None;
    }
    furnish(&stage.root());
    Some(stage)
}

/// Furnished stages for what must be the same whatever takes the changes.
pub fn each_way() -> Vec<Stage> {
    let copied = Stage::over_a_copy(Path::new(crate::fixture::DISK));
    let copied = copied.works().then(|| {
        furnish(&copied.root());
        copied
    });
    furnished().into_iter().chain(copied).collect()
}

#[test]
fn effects_as_a_person_reads_them() {
    for stage in each_way() {
        let table: &[(&str, &[&str])] = &[
            ("true", &[]),
            ("cat a > /dev/null", &[]),
            ("chmod 600 b", &[]),
            ("exec 3<>a", &[]),
            ("echo new > n", &["Added n"]),
            ("echo new > n; rm n", &[]),
            ("echo more >> a", &["Changed a"]),
            ("rm a", &["Deleted a"]),
            ("chmod 644 b", &["Mode b"]),
            ("chmod 644 b; echo more >> b", &["Changed b"]),
            ("ln -s a l2", &["Link l2"]),
            ("ln -sfn b link", &["Link link"]),
            ("rm link", &["Deleted link"]),
            ("mkfifo p", &["Special p"]),
            ("mv a 'two\nlines'", &["Renamed a -> twoU+000Alines"]),
            ("rm $'od\\xffd'", &["Deleted od0xFFd"]),
            ("touch a", &["Changed a"]),
            ("chmod 700 .", &["Mode ."]),
            (
                "rm -r d/e",
                &[
                    "Deleted d/e",
                    "Deleted d/e/f",
                    "Deleted d/e/f/deep",
                    "Deleted d/e/z",
                ],
            ),
            (
                "mv d/e h",
                &[
                    "Renamed d/e -> h",
                    "Renamed d/e/f -> h/f",
                    "Renamed d/e/f/deep -> h/f/deep",
                    "Renamed d/e/z -> h/z",
                ],
            ),
            (
                "rm -r d/e; mkdir d/e; echo other > d/e/new",
                &[
                    "Deleted d/e/f",
                    "Deleted d/e/f/deep",
                    "Added d/e/new",
                    "Deleted d/e/z",
                ],
            ),
            (
                "rm -r d/e; mkdir -p d/e/f; echo deep > d/e/f/deep",
                &["Changed d/e/f/deep", "Deleted d/e/z"],
            ),
            (
                "rm -r d/e; echo file > d/e",
                &[
                    "Changed d/e",
                    "Deleted d/e/f",
                    "Deleted d/e/f/deep",
                    "Deleted d/e/z",
                ],
            ),
            ("rm b; mkdir b", &["Changed b"]),
        ];
        let before = picture(&stage.root());
        for (line, expected) in table {
            let rehearsed = stage.rehearse(line);
            assert_eq!(told(&rehearsed.effects.changes), *expected, "{line}");
            assert_eq!(rehearsed.effects.exit_code, Some(0), "{line}");
            let ids: Vec<u32> = rehearsed
                .effects
                .changes
                .iter()
                .map(|effect| effect.id)
                .collect();
            assert_eq!(ids, (0..).take(ids.len()).collect::<Vec<u32>>());
            if expected.is_empty() {
                assert_eq!(rehearsed.plan, Plan::None, "{line}");
                assert!(rehearsed.effects.is_empty(), "{line}");
            }
        }
        same(&picture(&stage.root()), &before, "nothing changed");
        assert_eq!(stage.layers(), Vec::<std::path::PathBuf>::new());
    }
}

/// Names are marked for people; the exact name is beside it, to the byte, where it differs.
#[test]
fn names_are_told_exactly_beside() {
    let text = |text: &str| Some(ExactName::Text(text.to_owned()));
    let base64 = |text: &str| Some(ExactName::Base64(text.to_owned()));
    for stage in each_way() {
        for (line, told, exact) in [
            ("echo new > n", "Added n", [None, None, None]),
            ("touch U+000A", "Added U+000A", [None, None, None]),
            (
                "mv a $'two\nlines'",
                "Renamed a -> twoU+000Alines",
                [text("two\nlines"), None, None],
            ),
            (
                "mv $'g/new\nline' g/plain",
                "Renamed g/newU+000Aline -> g/plain",
                [None, text("g/new\nline"), None],
            ),
            (
                "touch $'gpj.\\xe2\\x80\\xaeexe'",
                "Added gpj.U+202Eexe",
                [text("gpj.\u{202e}exe"), None, None],
            ),
            (
                "mv $'od\\xffd' $'d/\\xfe'",
                "Renamed od0xFFd -> d/0xFE",
                [base64("ZC/+"), base64("b2T/ZA=="), None],
            ),
            (
                "ln -s $'\\e[2J\\xff' l2",
                "Link l2",
                [None, None, base64("G1sySv8=")],
            ),
        ] {
            let rehearsed = stage.rehearse(line);
            let changes = &rehearsed.effects.changes;
            assert_eq!(crate::fixture::told(changes), [told], "{line}");
            let found = changes.iter().map(|effect| {
                let after = effect.after.as_ref();
                let target = after.and_then(|after| after.target_exact.clone());
                [effect.path_exact.clone(), effect.from_exact.clone(), target]
            });
            assert_eq!(found.collect::<Vec<_>>(), [exact], "{line}");
        }
    }
}

/// Before and after it is longer than what is looked at; it is looked at all the same, since it is one file.
#[test]
fn a_large_file_that_is_renamed_counts_once() {
    let Some(stage) = furnished() else { return };
    let sparse = fs::File::create(stage.root().join("sparse")).unwrap();
    sparse.set_len(5 << 30).unwrap();
    let renamed = stage.rehearse("mv sparse moved");
    assert_eq!(told(&renamed.effects.changes), ["Renamed sparse -> moved"]);
    assert_eq!(
        fs::metadata(stage.root().join("sparse")).unwrap().len(),
        5 << 30
    );
}

#[test]
fn the_same_command_has_the_same_digest() {
    let Some(stage) = furnished() else { return };
    let digest = |line: &str| {
        let rehearsed = stage.rehearse(line);
        assert_eq!(
            rehearsed.plan.digest() == rehearsed.effects.digest,
            line != "true"
        );
        rehearsed.effects.digest
    };
    assert_eq!(digest("echo x > n"), digest("sleep 0.01; echo x > n"));
    assert_ne!(digest("echo x > n"), digest("echo y > n"));
    assert_ne!(digest("echo x > n"), digest("true"));
}

#[test]
fn how_it_ended_and_what_it_said() {
    let Some(stage) = furnished() else { return };
    let effects = |line: &str| stage.rehearse(line).effects;
    let seven = effects("echo said; echo more >&2; exit 7");
    assert_eq!((seven.exit_code, seven.ended.as_str()), (Some(7), ""));
    let said: String = seven.output.iter().map(|span| span.text.as_str()).collect();
    assert_eq!((said.as_str(), seven.output_bytes), ("said\nmore\n", 10));
    let killed = effects("echo x > n; kill -9 $$");
    assert_eq!(
        (killed.exit_code, killed.ended.as_str()),
        (None, "signal 9")
    );
    assert_eq!(told(&killed.changes), ["Added n"]);
    let slow = ShellCommand {
        timeout_ms: 700,
        ..stage.command("echo x > n; (trap '' TERM; setsid sleep 1000) & sleep 1000")
    };
    let slow = stage.try_rehearse(&slow).unwrap();
    assert_eq!(
        (slow.command.exit, slow.effects.ended.as_str()),
        (CommandExit::TimedOut, "time limit")
    );
    assert_eq!(told(&slow.effects.changes), ["Added n"]);
    assert!(
        slow.effects
            .refused
            .iter()
            .any(|one| one.kind == RefusalKind::Limit)
    );
}

#[test]
fn stopped_it_leaves_nothing() {
    let Some(stage) = furnished() else { return };
    let (stop, command) = (
        CancellationToken::new(),
        stage.command("echo begun; sleep 1000"),
    );
    let stopping = stop.clone();
    let told = move |_: &str| stopping.cancel();
    let stopped = stage.block_on(stage.environment.dry_run(
        &command,
        &NetworkClient::offline(),
        told,
        &stop,
    ));
    assert_eq!(stopped.map(drop), Err(FileError::Cancelled));
    assert_eq!(stage.layers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn it_starts_in_its_folder_with_its_variables() {
    let Some(stage) = furnished() else { return };
    let command = ShellCommand {
        folder: "d/e".into(),
        env: vec![("EXTRA".into(), "more".into())],
        ..stage.command("pwd; echo $PWD $EXTRA $TMPDIR; echo x > n")
    };
    let rehearsed = stage.try_rehearse(&command).unwrap();
    let folder = stage.root().join("d/e");
    let folder = folder.display();
    assert_eq!(
        String::from_utf8(rehearsed.command.head.clone()).unwrap(),
        format!("{folder}\n{folder} more /tmp\n")
    );
    assert_eq!(told(&rehearsed.effects.changes), ["Added d/e/n"]);
    let outside = ShellCommand {
        folder: "..".into(),
        ..stage.command("true")
    };
    let outside = stage.try_rehearse(&outside).map(drop);
    assert!(
        matches!(outside, Err(FileError::Outside { .. })),
        "{outside:?}"
    );
}

#[test]
fn pipes_are_told_of_and_stay() {
    for mut stage in each_way() {
        fs::create_dir(stage.root().join("q")).unwrap();
        fs::write(stage.root().join("q/file"), "file").unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(stage.root().join("q/pipe"))
                .status()
                .unwrap()
                .success()
        );
        let rehearsed = stage.rehearse("mkfifo new; rm -r q; rm a; mkfifo a");
        assert_eq!(
            told(&rehearsed.effects.changes),
            [
                "Special a",
                "Special new",
                "Deleted q",
                "Deleted q/file",
                "Special q/pipe"
            ]
        );
        assert_eq!(
            rehearsed.effects.notes.len(),
            4,
            "{:?}",
            rehearsed.effects.notes
        );
        let mut expected = picture(&stage.root());
        expected.remove(Path::new("q/file")).unwrap();
        stage.commit(&rehearsed.plan);
        same(&picture(&stage.root()), &expected, "only the file went");
    }
}

#[test]
fn the_right_to_run_as_its_owner_is_not_given() {
    for mut stage in each_way() {
        let rehearsed = stage.rehearse("cp /bin/true mine; chmod 6755 mine run.sh; chmod 4600 b");
        assert_eq!(told(&rehearsed.effects.changes), ["Added mine"]);
        assert_eq!(
            rehearsed.effects.notes.len(),
            3,
            "{:?}",
            rehearsed.effects.notes
        );
        stage.commit(&rehearsed.plan);
        let mode = |path: &str| fs::metadata(stage.root().join(path)).unwrap().mode() & 0o7777;
        assert_eq!(
            (mode("mine"), mode("run.sh"), mode("b")),
            (0o755, 0o755, 0o600)
        );
    }
}

#[test]
fn other_names_of_a_file_are_told_of() {
    for mut stage in each_way() {
        fs::hard_link(stage.root().join("a"), stage.root().join("other")).unwrap();
        let rehearsed = stage.rehearse("echo more >> a");
        assert_eq!(told(&rehearsed.effects.changes), ["Changed a"]);
        assert!(
            rehearsed.effects.notes[0].contains("other names"),
            "{:?}",
            rehearsed.effects.notes
        );
        stage.commit(&rehearsed.plan);
        assert_eq!(
            fs::read_to_string(stage.root().join("other")).unwrap(),
            "first\nsecond\n"
        );
    }
}

/// A change of extended attributes alone is no step: it is told, and the file stays as it was.
#[test]
fn attributes_alone_are_told_of() {
    for mut stage in each_way() {
        let file = stage.root().join("a");
        let set =
            |value: &[u8]| rustix::fs::setxattr(&file, "user.note", value, XattrFlags::empty());
        if set(b"before").is_err() {
            println!("skipped: this file system has no extended attributes");
            continue;
        }
        let line = "python3 -c 'import os; os.setxattr(\"a\", \"user.note\", b\"after\")'";
        let rehearsed = stage.rehearse(line);
        assert_eq!(rehearsed.effects.exit_code, Some(0), "{rehearsed:?}");
        assert_eq!(told(&rehearsed.effects.changes), [] as [&str; 0]);
        let told = "The command changed extended attributes alone of `a`. That is not committed.";
        assert_eq!(rehearsed.effects.notes, [told]);
        stage.commit(&rehearsed.plan);
        let mut value = [0; 6];
        let length = rustix::fs::getxattr(&file, "user.note", &mut value);
        assert_eq!((length, &value), (Ok(6), b"before"));
    }
}

/// A change of somebody else, while it runs or before it is approved, is not overwritten.
#[test]
fn a_person_who_edits_meanwhile_is_not_overrun() {
    for stage in each_way() {
        let edited = stage.root().join("a");
        let hears = |text: &'static str| {
            let path = edited.clone();
            move |_: &str| fs::write(&path, text).unwrap()
        };
        let command = stage.command("echo begun; sleep 0.3; echo more >> a");
        let never = CancellationToken::new();
        let during = stage.block_on(stage.environment.dry_run(
            &command,
            &NetworkClient::offline(),
            hears("mine"),
            &never,
        ));
        assert_eq!(
            during.map(drop),
            Err(FileError::Changed { path: "a".into() })
        );
        let rehearsed = stage.rehearse("echo more >> a; rm b");
        fs::write(&edited, "mine again").unwrap();
        let before = picture(&stage.root());
        let applied = stage.history.apply_plan(&stage.workspace, &rehearsed.plan);
        assert_eq!(applied, Err(FileError::Changed { path: "a".into() }));
        same(&picture(&stage.root()), &before, "nothing was touched");
        // The rest can still be had.
        let Plan::Effects(captured) = &rehearsed.plan else {
            panic!("no effects")
        };
        let rest = captured.select_effects(&BTreeSet::from([1]));
        let rest = Plan::Effects(rest.into());
        stage.history.apply_plan(&stage.workspace, &rest).unwrap();
        assert!(!stage.root().join("b").exists());
    }
}
