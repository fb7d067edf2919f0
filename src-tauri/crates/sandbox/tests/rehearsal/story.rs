//! Single commands whose effects can be told in advance.

use protocol::Plan;

use crate::stage::{Stage, furnish, told};

#[test]
fn effects_as_a_person_reads_them() {
    let stage = Stage::new();
    if !stage.works() {
        return;
    }
    furnish(&stage.root());
    let table: &[(&str, &[&str])] = &[
        ("true", &[]),
        ("cat a > /dev/null", &[]),
        ("echo new > n", &["Added n"]),
        ("echo more >> a", &["Changed a"]),
        ("rm a", &["Deleted a"]),
        ("chmod 644 b", &["Mode b"]),
        ("ln -s a l2", &["Link l2"]),
        ("mkfifo p", &["Special p"]),
        ("mv a 'two\nlines'", &["Renamed a -> twoU+000Alines"]),
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
        ("touch a", &["Changed a"]),
        ("chmod 700 .", &["Mode ."]),
    ];
    for (line, expected) in table {
        let rehearsed = stage.rehearse(line);
        assert_eq!(
            told(&rehearsed.effects.changes),
            *expected,
            "{line} {rehearsed:?}"
        );
        assert_eq!(rehearsed.effects.exit_code, Some(0), "{line}");
        if expected.is_empty() {
            assert_eq!(rehearsed.plan, Plan::None);
            assert!(rehearsed.effects.is_nothing());
        }
    }
}
