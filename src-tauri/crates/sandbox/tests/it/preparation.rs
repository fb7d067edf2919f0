//! Preparation before a sandbox is specified, and remains after its end: neither changes what the sandbox masks.

use std::fs::{self, read_link};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};
use sandbox::{SandboxConnection, SandboxLimits, SandboxSpec, WorkspaceLayers};

use crate::egress::start;
use crate::lifecycle::{Place, refused};
use crate::runner::{has_sandbox, run};

/// Every open file that the program handed over.
fn held(outside: &SandboxConnection) -> Vec<OwnedFd> {
    let mut held = Vec::new();
    loop {
        let mut words = [0; 64];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut with = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [IoSliceMut::new(&mut words)];
        let got = recvmsg(outside, into, &mut with, RecvFlags::CMSG_CLOEXEC).unwrap();
        for message in with.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                held.extend(files);
            }
        }
        assert!(!got.flags.contains(ReturnFlags::CTRUNC));
        if got.bytes == 0 {
            return held;
        }
    }
}

fn is_mounts(file: &OwnedFd) -> bool {
    let name = read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
    let own = read_link("/proc/self/ns/mnt").unwrap();
    name.to_str().unwrap().starts_with("mnt:[") && name != own
}

/// The program ends when its sandbox does, and whoever asked for it takes down what was mounted. The layer is at rest
/// by then: what was written is there, and can be removed.
#[test]
fn whoever_asked_for_a_sandbox_holds_what_is_mounted_in_it() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let spec = place.spec("echo new > n; (sleep 1000; echo late > late) & echo more >> a");
    let (_program, mut running, outside) = start(&spec);
    running.wait().unwrap();
    let held = held(&outside);
    assert_eq!(held.iter().filter(|file| is_mounts(file)).count(), 1);
    let upper = place.state.path().join("upper");
    let text = |name: &str| fs::read_to_string(upper.join(name)).unwrap();
    assert_eq!((text("n"), text("a")), ("new\n".into(), "a\nmore\n".into()));
    fs::remove_dir_all(&upper).unwrap();
    drop((held, outside));
    assert!(!upper.exists());
}

/// A sandbox whose place for temporary files is not as large as most.
#[test]
fn what_was_made_ahead_and_does_not_fit_is_made_anew() {
    if !has_sandbox() {
        return;
    }
    for (tmp_bytes, blocks) in [
        (SandboxLimits::default().tmp_bytes, "524288\n"),
        (8_192, "2\n"),
    ] {
        let place = Place::new();
        let limits = SandboxLimits {
            tmp_bytes,
            ..SandboxLimits::default()
        };
        let spec = SandboxSpec {
            limits,
            ..place.spec("stat -f -c %b /tmp")
        };
        assert_eq!(run(&spec).said, blocks);
    }
}

/// More than a pipe takes at once.
#[test]
fn a_sandbox_of_many_words_is_heard_whole() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let mut spec = place.spec("echo ${#A} ${#B} ${#C} ${#D}");
    for (name, length) in [("A", 100_000), ("B", 99_999), ("C", 50_000), ("D", 7)] {
        spec.environment.push((name.into(), "x".repeat(length)));
    }
    assert_eq!(run(&spec).said, "100000 99999 50000 7\n");
}

/// Where a secret lies says which of them are there in the sandbox at all.
#[test]
fn secrets_are_masked_wherever_they_lie() {
    if !has_sandbox() {
        return;
    }
    let place = Place::new();
    let hidden = tempfile::tempdir_in("/tmp").unwrap();
    let outside = place.folder.path().join("outside");
    for folder in [
        &outside.join("keys/below"),
        &place.workspace.join("deep/keys"),
    ] {
        fs::create_dir_all(folder).unwrap();
    }
    let secrets: Vec<PathBuf> = vec![
        hidden.path().join("key"),
        outside.join("keys"),
        outside.join("keys/below"),
        outside.join("keys/below/key"),
        outside.join("missing"),
        place.workspace.join("deep/keys"),
        place.workspace.join("folder/b"),
    ];
    for secret in &secrets {
        if !secret.exists() && !secret.ends_with("missing") {
            fs::write(secret, "secret\n").unwrap();
        }
    }
    let layers = [
        None,
        Some(WorkspaceLayers {
            upper: place.state.path().join("upper"),
            work: Some(place.state.path().join("work")),
        }),
    ];
    for layers in layers {
        let list = |path: &Path| format!("ls -A {0} 2> /dev/null; echo $?; ", path.display());
        let command = format!(
            "{}{}{}cat folder/b 2> /dev/null; echo $?; test -e {}; echo $?; touch deep/keys/x 2> /dev/null; echo $?",
            list(hidden.path().parent().unwrap()),
            list(&outside.join("keys")),
            list(&place.workspace.join("deep/keys")),
            hidden.path().display(),
        );
        let spec = SandboxSpec {
            masked: secrets.clone(),
            layers,
            ..place.spec(&command)
        };
        let ran = run(&spec);
        assert_eq!(ran.said, "0\n2\n2\n1\n1\n1\n");
        assert_ne!(ran.told, refused(0, &[]), "looking is told");
    }
}
