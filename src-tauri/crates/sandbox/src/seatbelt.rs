//! Sandboxes on macOS: the profile for Seatbelt, and the arguments that start a command under it.
//!
//! There are no layers and no namespaces on macOS: the command runs in the workspace itself, may change that and one
//! folder for temporary files, and nothing else; it has no network, not even its own, and no socket of this machine.
//! Where two rules of the profile match a path the later one counts, so closed paths come last.
//!
//! **These profiles were never read by a Mac**: they are written from the published knowledge of Seatbelt, and tested
//! as text. Entering a sandbox there shows at once if a rule is not understood: the command does not run then.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::SandboxSpec;

/// The program that starts another one under a profile.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// The profile of every sandbox.
const BASE_PROFILE: &str = r#"(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow mach-lookup
    (global-name "com.apple.system.logger")
    (global-name "com.apple.system.notification_center")
    (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read*)
(allow file-write-data (literal "/dev/null") (literal "/dev/zero"))
(allow file-write* (subpath (param "WORKSPACE")) (subpath (param "TEMPORARY")))
"#;

/// Builds the arguments of [`SANDBOX_EXEC`] for a sandbox whose temporary files lie in `temporary`: the profile, the
/// paths that it names, and the command.
///
/// # Errors
/// The part of the specification that macOS does not support.
pub fn build_arguments(
    spec: &SandboxSpec,
    temporary: &Path,
) -> Result<Vec<OsString>, &'static str> {
    if spec.layers.is_some() {
        return Err("there are no layers on this system");
    }
    if spec.proxy {
        return Err("a sandbox has no network access on this system");
    }
    if spec.input {
        return Err("a program in a sandbox cannot be sent messages on this system");
    }
    let closed = deny_rules(spec);
    let mut words = BASE_PROFILE.to_owned();
    for one in &closed {
        let DenyRule {
            what, which, name, ..
        } = one;
        // Writing to a text does not fail.
        let _ = writeln!(words, "(deny {what} ({which} (param \"{name}\")))");
    }
    let mut arguments: Vec<OsString> = vec!["-p".into(), words.into()];
    // No path is a word itself, whatever is in it.
    let mut give = |name: &str, path: &Path| {
        let mut given = OsString::from(format!("-D{name}="));
        given.push(path);
        arguments.push(given);
    };
    give("WORKSPACE", &spec.workspace);
    give("TEMPORARY", temporary);
    for one in &closed {
        give(&one.name, one.path);
    }
    arguments.push("--".into());
    arguments.extend(spec.command.iter().map(OsString::from));
    Ok(arguments)
}

/// A path that is closed in addition to the defaults.
struct DenyRule<'a> {
    /// The denied operation.
    what: &'static str,
    /// Filter for the path: with everything below it, or alone.
    which: &'static str,
    /// Parameter name of the path in the profile.
    name: String,
    path: &'a Path,
}

fn deny_rules(spec: &SandboxSpec) -> Vec<DenyRule<'_>> {
    let masked: Vec<&Path> = spec.masked.iter().map(PathBuf::as_path).collect();
    let read_only: Vec<&Path> = spec.read_only.iter().map(PathBuf::as_path).collect();
    // Under another name of a folder above them, they would be open.
    let above: BTreeSet<&Path> = masked
        .iter()
        .chain(&read_only)
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|above| above.starts_with(&spec.workspace))
        .collect();
    let mut closed = Vec::new();
    for (what, which, name, paths) in [
        ("file-write*", "subpath", "READ_ONLY", read_only),
        (
            "file-write-unlink",
            "literal",
            "ABOVE",
            above.into_iter().collect(),
        ),
        ("file-read* file-write*", "subpath", "MASKED", masked),
    ] {
        closed.extend(
            paths
                .into_iter()
                .enumerate()
                .map(|(number, path)| DenyRule {
                    what,
                    which,
                    name: format!("{name}_{number}"),
                    path,
                }),
        );
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SandboxLimits, WatchedReads, WorkspaceLayers};

    fn sample_spec() -> SandboxSpec {
        SandboxSpec {
            workspace: "/Users/me/a (b) \"c\"".into(),
            folder: "/Users/me/a (b) \"c\"".into(),
            layers: None,
            bare: None,
            private: Vec::new(),
            read_only: vec!["/Users/me/a (b) \"c\"/.git/hooks".into()],
            masked: vec![
                "/Users/me/.ssh".into(),
                "/Users/me/a (b) \"c\"/keys/secret".into(),
            ],
            readable_by_git: Vec::new(),
            watched_reads: WatchedReads::default(),
            limits: SandboxLimits::default(),
            proxy: false,
            input: false,
            command: vec!["/bin/bash".into(), "-c".into(), "echo $HOME".into()],
            environment: Vec::new(),
            told: "/Users/me/state/told".into(),
        }
    }

    /// No path stands in the profile itself, so none can close its rules and open others.
    #[test]
    fn what_is_closed_comes_last_and_paths_are_no_words() {
        let arguments = build_arguments(&sample_spec(), Path::new("/private/tmp/x")).unwrap();
        let words = format!(
            "{BASE_PROFILE}\
             (deny file-write* (subpath (param \"READ_ONLY_0\")))\n\
             (deny file-write-unlink (literal (param \"ABOVE_0\")))\n\
             (deny file-write-unlink (literal (param \"ABOVE_1\")))\n\
             (deny file-write-unlink (literal (param \"ABOVE_2\")))\n\
             (deny file-read* file-write* (subpath (param \"MASKED_0\")))\n\
             (deny file-read* file-write* (subpath (param \"MASKED_1\")))\n"
        );
        let expected = [
            "-p",
            &words,
            "-DWORKSPACE=/Users/me/a (b) \"c\"",
            "-DTEMPORARY=/private/tmp/x",
            "-DREAD_ONLY_0=/Users/me/a (b) \"c\"/.git/hooks",
            "-DABOVE_0=/Users/me/a (b) \"c\"",
            "-DABOVE_1=/Users/me/a (b) \"c\"/.git",
            "-DABOVE_2=/Users/me/a (b) \"c\"/keys",
            "-DMASKED_0=/Users/me/.ssh",
            "-DMASKED_1=/Users/me/a (b) \"c\"/keys/secret",
            "--",
            "/bin/bash",
            "-c",
            "echo $HOME",
        ];
        assert_eq!(arguments, expected.map(OsString::from));
    }

    /// Everything that is not allowed is denied: the network and sockets above all.
    #[test]
    fn everything_is_denied_that_is_not_named() {
        assert!(BASE_PROFILE.starts_with("(version 1)\n(deny default)\n"));
        for open in [
            "network",
            "iokit",
            "mach-register",
            "appleevent",
            "allow default",
        ] {
            assert!(!BASE_PROFILE.contains(open), "{open}");
        }
        let (open, close) = (
            BASE_PROFILE.matches('(').count(),
            BASE_PROFILE.matches(')').count(),
        );
        assert_eq!(open, close);
    }

    #[test]
    fn what_there_is_nothing_for_is_an_error() {
        let layers = WorkspaceLayers {
            upper: "/upper".into(),
            work: None,
        };
        for (spec, why) in [
            (
                SandboxSpec {
                    layers: Some(layers),
                    ..sample_spec()
                },
                "there are no layers on this system",
            ),
            (
                SandboxSpec {
                    proxy: true,
                    ..sample_spec()
                },
                "a sandbox has no network access on this system",
            ),
            (
                SandboxSpec {
                    input: true,
                    ..sample_spec()
                },
                "a program in a sandbox cannot be sent messages on this system",
            ),
        ] {
            assert_eq!(build_arguments(&spec, Path::new("/tmp")), Err(why));
        }
    }
}
