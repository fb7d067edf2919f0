//! Where a command can be rehearsed, what is empty there, and what is promised.

use std::fs;

use protocol::view::effects::Assurance;
use runtime::{
    ClosedFiles, DryRunEnvironment, FileError, LayerKind, NetworkClient, ShellCommand, Workspace,
};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Stage, told};
use crate::single_commands::{each_way, furnished};

#[test]
fn what_is_closed_cannot_be_opened_and_what_runs_later_stays() {
    for stage in each_way() {
        let root = stage.root();
        fs::create_dir_all(root.join(".git/hooks")).unwrap();
        fs::write(root.join(".git/config"), "[core]\n").unwrap();
        fs::write(root.join("d/secret.key"), "hidden").unwrap();
        let closed = ClosedFiles::new(|path| path.ends_with(".key"));
        let command = ShellCommand {
        workspace: stage.workspace.with_closed_files(closed),
        ..stage.command(
            "wc -c < d/secret.key || echo closed; stat -c %s d/secret.key; echo x > .git/hooks/pre-commit; echo x >> .git/config; rm d/secret.key; ls -A LAYERS; true",
        )
    };
        let folder = stage.home.path().join("sandboxes");
        let command = ShellCommand {
            line: command
                .line
                .replace("LAYERS", &folder.display().to_string()),
            ..command
        };
        let rehearsed = stage.try_rehearse(&command).unwrap();
        let said = String::from_utf8_lossy(&rehearsed.command.head).into_owned();
        assert!(said.contains("Permission denied\nclosed\n6\n"), "{said}");
        assert!(!said.contains("turn"), "{said}");
        assert_eq!(
            told(&rehearsed.effects.changes),
            ["Changed .git/config"],
            "{said}"
        );
        assert_eq!(
            fs::read_to_string(root.join("d/secret.key")).unwrap(),
            "hidden"
        );
        // Git's settings go to the layer, and not to the workspace.
        let settings = fs::read_to_string(root.join(".git/config")).unwrap();
        assert_eq!(settings, "[core]\n");
    }
}

#[test]
fn a_probe_tells_what_holds_and_why() {
    let Some(stage) = furnished() else { return };
    let probe = stage.block_on(stage.environment.probe(&stage.workspace));
    assert_eq!(
        (probe.assurance, probe.layer),
        (Assurance::Speculative, LayerKind::Disk)
    );
    assert!(probe.net_off && probe.unix_sockets_off && probe.kill_tree);
    // No program: nothing is promised, and nothing runs.
    let home = tempfile::tempdir_in(crate::fixture::DISK).unwrap();
    let none = DryRunEnvironment::open(None, &home.path().join("sandboxes"), Vec::new()).unwrap();
    let probe = stage.block_on(none.probe(&stage.workspace));
    assert_eq!(
        (probe.assurance, probe.layer),
        (Assurance::GateOnly, LayerKind::None)
    );
    assert!(
        probe.reasons[0].contains("countersign-sandbox"),
        "{:?}",
        probe.reasons
    );
    let never = CancellationToken::new();
    let refused = stage.block_on(none.dry_run(
        &stage.command("true"),
        &NetworkClient::offline(),
        |_| {},
        &never,
    ));
    assert!(
        matches!(refused, Err(FileError::SandboxUnavailable { .. })),
        "{refused:?}"
    );
    // A program that does something else.
    let other = DryRunEnvironment::open(
        Some("/bin/true".into()),
        &home.path().join("sandboxes"),
        Vec::new(),
    );
    let probe = stage.block_on(other.unwrap().probe(&stage.workspace));
    assert_eq!(probe.assurance, Assurance::GateOnly, "{probe:?}");
}

/// The layer lies in what it is a layer over.
#[test]
fn a_workspace_around_the_data_folder() {
    let Some(stage) = furnished() else { return };
    let workspace = Workspace::open(stage.home.path()).unwrap();
    fs::write(stage.home.path().join("a"), "a\n").unwrap();
    let probe = stage.block_on(stage.environment.probe(&workspace));
    assert_eq!(probe.assurance, Assurance::Speculative, "{probe:?}");
    let command = ShellCommand {
        workspace: workspace.clone(),
        ..stage.command("echo more >> a; mv a b; rm -rf history; mkdir history; echo x > history/x")
    };
    let rehearsed = stage.try_rehearse(&command).unwrap();
    let changes = told(&rehearsed.effects.changes);
    assert!(
        changes.contains(&"Deleted a".to_owned()) && changes.contains(&"Added b".to_owned()),
        "{changes:?}"
    );
    stage
        .history
        .apply_plan(&workspace, &rehearsed.plan)
        .unwrap();
    assert_eq!(
        fs::read_to_string(stage.home.path().join("b")).unwrap(),
        "a\nmore\n"
    );
}

#[test]
fn what_a_command_lets_nobody_read_is_still_captured() {
    for stage in each_way() {
        let rehearsed = stage.rehearse("mkdir shut; echo in > shut/in; chmod 000 shut/in shut b");
        let effects = rehearsed.effects.changes.iter();
        let modes: Vec<_> = effects
            .map(|effect| {
                (
                    effect.path.as_str(),
                    effect.after.as_ref().map(|now| now.mode),
                )
            })
            .collect();
        assert_eq!(
            modes,
            [("b", Some(0)), ("shut", Some(0)), ("shut/in", Some(0))]
        );
    }
}

#[test]
fn keys_in_the_environment_are_in_no_sandbox() {
    const WITHIN: &str = "COUNTERSIGN_WITHIN";
    if std::env::var_os(WITHIN).is_none() {
        // An environment is a process's own from its start.
        let mut within = std::process::Command::new(std::env::current_exe().unwrap());
        within.args([
            "--exact",
            "availability::keys_in_the_environment_are_in_no_sandbox",
        ]);
        within.env(WITHIN, "yes");
        within.env("OPENAI_API_KEY", "held").env("RUST_LOG", "open");
        within.env("NOBODY_KNOWS_IT", "held");
        let ran = within.output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        return;
    }
    let stage = Stage::new();
    if stage.works() {
        let rehearsed =
            stage.rehearse("echo ${OPENAI_API_KEY-none} ${NOBODY_KNOWS_IT-none} $RUST_LOG");
        assert_eq!(rehearsed.command.head, b"none none open\n");
    }
}

/// Homes are those of the password database, too, whatever the environment says.
#[test]
fn credentials_are_closed_wherever_the_environment_says_home_is() {
    const WITHIN: &str = "COUNTERSIGN_WITHIN";
    let Some(way) = std::env::var_os(WITHIN) else {
        for way in ["unset", "", "/nonexistent", "named"] {
            let home = tempfile::tempdir_in(crate::fixture::DISK).unwrap();
            fs::create_dir(home.path().join(".aws")).unwrap();
            fs::write(home.path().join(".aws/credentials"), "secret").unwrap();
            let mut within = std::process::Command::new(std::env::current_exe().unwrap());
            within.args([
                "--exact",
                "availability::credentials_are_closed_wherever_the_environment_says_home_is",
            ]);
            within.env(WITHIN, way);
            match way {
                "unset" => within.env_remove("HOME"),
                "named" => within.env("HOME", home.path()),
                way => within.env("HOME", way),
            };
            let ran = within.output().unwrap();
            assert!(ran.status.success(), "{way}: {ran:?}");
        }
        return;
    };
    let stage = Stage::new();
    if !stage.works() {
        return;
    }
    let line = match way.to_str() {
        Some("named") => "cat ~/.aws/credentials",
        // Everybody has one in the password database; whether anything is in it is not ours to choose.
        _ => "cat /etc/shadow",
    };
    let rehearsed = stage.rehearse(line);
    assert_eq!(
        rehearsed.effects.exit_code,
        Some(1),
        "{:?}",
        rehearsed.effects
    );
    assert!(!String::from_utf8_lossy(&rehearsed.command.head).contains("secret"));
    let home = std::fs::read_to_string("/etc/passwd").unwrap();
    let me = rustix::process::getuid().as_raw().to_string();
    let mut homes = home.lines().filter_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        (fields.get(2) == Some(&me.as_str())).then(|| fields.get(5).copied().unwrap_or_default())
    });
    let ssh = std::path::Path::new(homes.next().unwrap()).join(".ssh");
    if ssh.is_dir() {
        let rehearsed = stage.rehearse(&format!("ls {}", ssh.display()));
        assert_eq!(
            rehearsed.effects.exit_code,
            Some(2),
            "{:?}",
            rehearsed.effects
        );
    }
}

/// A person's additions are closed like credentials, and a sandbox takes no more memory than it may.
#[test]
fn what_a_person_chose_holds_in_sandboxes() {
    let Some(stage) = furnished() else { return };
    let extra = tempfile::tempdir_in(crate::fixture::DISK).unwrap();
    fs::write(extra.path().join("mine"), "secret").unwrap();
    let options = runtime::SandboxOptions::default();
    options.set_choice(vec![extra.path().to_owned()], Some(300 << 20));
    let command = |line: &str| ShellCommand {
        workspace: stage.workspace.with_sandbox_options(options.clone()),
        ..stage.command(line)
    };
    let line = format!("cat {}", extra.path().join("mine").display());
    let rehearsed = stage.try_rehearse(&command(&line)).unwrap();
    assert_eq!(rehearsed.effects.refused_secrets().len(), 1);
    // Each of them takes less than one may, and all of them more.
    let line =
        "for n in 1 2 3 4; do perl -e '$x = \"x\" x 100_000_000; sleep 30' & done; wait; echo done";
    let rehearsed = stage.try_rehearse(&command(line)).unwrap();
    let refused: Vec<_> = rehearsed
        .effects
        .refused
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        refused,
        ["refused limit memory (300 MiB for the whole sandbox)"]
    );
    assert_eq!(rehearsed.effects.exit_code, None);
}
