//! Tests of accesses that the system does not permit.

use std::path::PathBuf;

use crate::fs::workspace::tests::*;

/// Root may do everything, so this runs in a process that may not: the test binary itself, started again as `nobody`.
#[test]
fn what_the_system_forbids_is_said() {
    const FOLDER: &str = "RUNTIME_TEST_FORBIDDEN";
    if let Some(folder) = std::env::var_os(FOLDER) {
        return forbidden(&PathBuf::from(folder));
    }
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    for folder in ["ws/closed", "ws/fixed"] {
        fs::create_dir_all(at(folder)).unwrap();
        fs::write(at(folder).join("inner"), "x").unwrap();
    }
    fs::write(at("ws/secret"), "x").unwrap();
    fs::write(at("ws/fixed-file"), "x").unwrap();
    let binary = at("tests");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    let modes = [
        ("", 0o755),
        ("ws", 0o777),
        ("ws/closed", 0o000),
        ("ws/fixed", 0o555),
        ("ws/secret", 0o000),
        ("ws/fixed-file", 0o444),
        ("tests", 0o755),
    ];
    for (path, mode) in modes {
        fs::set_permissions(at(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut again = if rustix::process::geteuid().is_root() {
        let mut again = std::process::Command::new("setpriv");
        again
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&binary);
        again
    } else {
        std::process::Command::new(&binary)
    };
    let ended = again
        .args([
            "--exact",
            "fs::workspace::tests::forbidden::what_the_system_forbids_is_said",
            "--nocapture",
        ])
        .env(FOLDER, at("ws"))
        .current_dir(home.path())
        .output()
        .unwrap();
    fs::set_permissions(at("ws/closed"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(at("ws/fixed"), fs::Permissions::from_mode(0o755)).unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    let said = said + &String::from_utf8_lossy(&ended.stderr);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

/// The part that runs without privileges.
fn forbidden(root: &std::path::Path) {
    use protocol::Plan;
    use protocol::call::plan::{FileChange, Removal};

    let workspace = Workspace::open(root).unwrap();
    let refused = |path: &str| FileError::NoPermission { path: path.into() };
    assert_eq!(workspace.read("secret", 0, 9), Err(refused("secret")));
    assert_eq!(
        workspace.read_whole("closed/inner", 9),
        Err(refused("closed/inner"))
    );
    assert_eq!(
        workspace.path_kind("closed/inner"),
        Err(refused("closed/inner"))
    );
    assert_eq!(
        workspace.list_tree("", TreeLimits::default()),
        Err(refused("closed"))
    );
    let fact = workspace.resolve(&Access::new(Capability::FsRead, "closed/inner"));
    assert!(!fact.inside && fact.unresolved.is_some(), "{fact:?}");

    let write = |path: &str, before: Option<&str>| {
        let change = FileChange {
            path: path.into(),
            before: before.map(Into::into),
            after: Some(b"y".to_vec()),
            from: None,
        };
        crate::apply_plan(&workspace, &Plan::Write(vec![change]))
    };
    assert_eq!(write("fixed-file", Some("x")), Err(refused("fixed-file")));
    assert_eq!(write("fixed/new", None), Err(refused("fixed/new")));
    assert_eq!(write("closed/new", None), Err(refused("closed/new")));
    assert_eq!(write("mine", None), Ok(()));

    for path in ["fixed", "fixed/inner"] {
        let tree = workspace.list_tree(path, TreeLimits::default()).unwrap();
        let removal = Removal {
            path: path.into(),
            listing: tree.digest,
            files: tree.files,
            bytes: tree.bytes,
        };
        assert_eq!(
            crate::apply_plan(&workspace, &Plan::Remove(removal)),
            Err(refused(path))
        );
        assert!(root.join("fixed/inner").exists(), "{path}");
    }
}
