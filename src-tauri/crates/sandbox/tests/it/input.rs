//! A command that is talked to: it reads what is handed in from outside, and nothing else leads in.

use std::io::{Read as _, Write as _};

use sandbox::{CommandEnd, SandboxConnection, SandboxReport, SandboxSpec, read_report};

use crate::egress::start;
use crate::lifecycle::Place;
use crate::runner::{has_sandbox, run};

fn spec(place: &Place, command: &str) -> SandboxSpec {
    SandboxSpec {
        input: true,
        ..place.spec(command)
    }
}

/// Hands a pipe in, and gives its other end.
fn talk(outside: &SandboxConnection) -> std::io::PipeWriter {
    let (input, writer) = std::io::pipe().unwrap();
    outside.send_input(input.into()).unwrap();
    writer
}

#[test]
fn a_command_reads_what_is_handed_in_as_long_as_somebody_talks() {
    if !has_sandbox() {
        return;
    }
    for proxy in [false, true] {
        let place = Place::new();
        let command = "while read -r line; do echo \"heard $line\"; done; echo over; exit 3";
        let spec = SandboxSpec {
            proxy,
            ..spec(&place, command)
        };
        let (program, mut running, outside) = start(&spec);
        drop(program);
        let mut input = talk(&outside);
        let listener = proxy.then(|| outside.receive_listener().unwrap());
        let mut output = running.stdout.take().unwrap();
        for word in ["one", "two"] {
            writeln!(input, "{word}").unwrap();
            let mut heard = vec![0; "heard one\n".len()];
            output.read_exact(&mut heard).unwrap();
            assert_eq!(
                String::from_utf8(heard).unwrap(),
                format!("heard {word}\n"),
                "the sandbox lasts between two messages"
            );
        }
        drop(input);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "over\n");
        running.wait().unwrap();
        let told = read_report(&spec.told).unwrap();
        assert!(
            matches!(
                told,
                Some(SandboxReport::Ended {
                    end: CommandEnd::Exit(3),
                    ..
                })
            ),
            "{told:?}"
        );
        drop((outside, listener));
    }
}

/// Nothing of what leads in can be used for anything but reading, and no other open file comes with it.
#[test]
fn what_is_handed_in_is_all_that_is_open() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let spec = spec(
        &place,
        "ls /proc/self/fd; readlink /proc/$$/fd/0; echo x >&0",
    );
    let (program, mut running, outside) = start(&spec);
    drop(program);
    let input = talk(&outside);
    let mut said = String::new();
    let mut output = running.stdout.take().unwrap();
    output.read_to_string(&mut said).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    // The fourth is the folder that is listed.
    assert_eq!(lines[..4], ["0", "1", "2", "3"], "{said}");
    assert!(lines[4].starts_with("pipe:["), "{said}");
    assert_eq!(lines.len(), 5, "{said}");
    running.wait().unwrap();
    drop(input);
}

#[test]
fn a_command_that_nobody_hands_its_input_does_not_run() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let spec = SandboxSpec {
        layers: None,
        ..spec(&place, "touch ran")
    };
    let (program, mut running, outside) = start(&spec);
    drop((program, outside));
    running.wait().unwrap();
    assert!(!matches!(
        read_report(&spec.told).unwrap(),
        Some(SandboxReport::Ended { .. })
    ));
    assert!(!place.workspace.join("ran").exists());
}

/// Where nobody may make namespaces, and where the sandbox is asked for through a pipe, there is nothing to be handed
/// in by.
#[test]
fn without_a_way_in_the_sandbox_is_not_entered() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let piped = SandboxSpec {
        layers: None,
        ..spec(&place, "touch ran")
    };
    let bare = SandboxSpec {
        bare: Some(place.state.path().join("work")),
        ..piped.clone()
    };
    for spec in [piped, bare] {
        let told = run(&spec).told;
        assert!(
            matches!(told, Some(SandboxReport::NotEntered { .. })),
            "{told:?}"
        );
        assert!(!place.workspace.join("ran").exists());
    }
}
