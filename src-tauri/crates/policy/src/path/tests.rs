//! Paths of three systems, as properties; the table of single paths is `tests/cases/paths.toml`.

use proptest::prelude::*;

use super::*;

fn at(os: Os, target: &str) -> PathFact {
    let workspace = match os {
        Os::Linux => "/home/me/project",
        Os::Macos => "/Users/me/project",
        Os::Windows => r"C:\Users\me\project",
    };
    let roots = Roots {
        workspace,
        readable: &[],
    };
    resolve_path(os, &roots, "", target)
}

#[test]
fn a_readable_folder_may_be_read_and_nothing_else() {
    let readable = ["/var/spill".to_owned()];
    let roots = Roots {
        workspace: "/work",
        readable: &readable,
    };
    let fact = resolve_path(Os::Linux, &roots, "src", "/var/spill/a");
    assert!(fact.inside && fact.read_only && fact.real == "/var/spill/a");
    let below = resolve_path(Os::Linux, &roots, "src", "a/../b");
    assert_eq!(
        (below.real.as_str(), below.inside, below.read_only),
        ("src/b", true, false)
    );
}

fn any_os() -> impl Strategy<Value = Os> {
    prop_oneof![Just(Os::Linux), Just(Os::Macos), Just(Os::Windows)]
}

proptest! {
    /// A path that is said to be inside has no `..` left in it and no drive.
    #[test]
    fn inside_is_inside(os in any_os(), target in "[a-c./\\\\~: C]{0,24}") {
        let fact = at(os, &target);
        if fact.inside {
            prop_assert!(fact.unresolved.is_none());
            prop_assert!(!fact.real.starts_with('/'));
            prop_assert!(fact.real.split('/').all(|name| name != ".." && name != "."));
            if os == Os::Windows {
                prop_assert!(!fact.real.contains(['\\', ':']));
            }
        }
    }

    /// Any text at all is read without a panic, and one that cannot be seen is never without a doubt.
    #[test]
    fn nothing_unseen_is_trusted(os in any_os(), target in any::<String>()) {
        let fact = at(os, &target);
        let unseen = target.chars().any(|c| is_hidden(c) || c.is_control());
        prop_assert!(!unseen || fact.doubt.is_some() || fact.unresolved.is_some() || !fact.inside);
    }

    /// Case does not change where a path leads where case does not count.
    #[test]
    fn case_does_not_lead_outside(target in "[a-z]{1,6}(/[a-z]{1,6}){0,3}") {
        for os in [Os::Macos, Os::Windows] {
            let (lower, upper) = (at(os, &target), at(os, &target.to_uppercase()));
            prop_assert_eq!(lower.inside, upper.inside);
            prop_assert_eq!(CaseFolded::new(os, &lower.real), CaseFolded::new(os, &upper.real));
        }
    }

    /// An ASCII name, which is folded by itself, is folded as within a longer one.
    #[test]
    fn ascii_is_folded_as_all_text(name in "[\\x00-\\x7f]{0,12}") {
        for os in [Os::Linux, Os::Macos, Os::Windows] {
            let folded = |text: &str| CaseFolded::new(os, text).as_str().to_owned();
            prop_assert_eq!(folded(&name) + &folded("É"), folded(&format!("{name}É")));
        }
    }
}
