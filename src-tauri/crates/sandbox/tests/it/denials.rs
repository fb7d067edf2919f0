//! Reported denials of a command: each once, and nothing that was not refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use sandbox::DenialKind::{self, Network, Secret, Socket, Write};
use sandbox::SandboxSpec;

use crate::lifecycle::{Place, path, refused};
use crate::runner::{has_sandbox, run};

/// A command, how it ends, and what it is refused: `WS` is the workspace, `OUT` a folder outside.
type Case = (&'static str, i32, &'static [(DenialKind, &'static str)]);

/// A command that speaks to a path or name.
macro_rules! SPEAKS {
    ($kind:literal, $to:literal) => {
        concat!(
            "perl -MSocket=:all -e 'socket(S, AF_UNIX, SOCK_",
            $kind,
            ", 0) or die; exit !connect(S, pack_sockaddr_un(\"",
            $to,
            "\"))'"
        )
    };
}

const WRITES: &[Case] = &[
    ("echo x > $OUT/new", 1, &[(Write, "OUT/new")]),
    ("echo x > $OUT/file", 1, &[(Write, "OUT/file")]),
    (
        "echo x >> $OUT/file; echo y >> $OUT/file",
        1,
        &[(Write, "OUT/file")],
    ),
    ("echo x > out/file", 1, &[(Write, "OUT/file")]),
    ("cd out && echo x > ./file", 1, &[(Write, "OUT/file")]),
    (
        "echo x > ../outside/folder/../file",
        1,
        &[(Write, "OUT/file")],
    ),
    (
        "echo x > /proc/self/root/$OUT/file",
        1,
        &[(Write, "OUT/file")],
    ),
    (
        "echo x > /proc/self/cwd/../outside/file",
        1,
        &[(Write, "OUT/file")],
    ),
    (
        "exec 8< $OUT; echo x > /dev/fd/8/file",
        1,
        &[(Write, "OUT/file")],
    ),
    ("rm $OUT/file", 1, &[(Write, "OUT/file")]),
    ("rmdir $OUT/folder/", 1, &[(Write, "OUT/folder")]),
    ("mkdir $OUT/new/", 1, &[(Write, "OUT/new")]),
    ("mkfifo $OUT/new", 1, &[(Write, "OUT/new")]),
    ("ln -s x $OUT/new", 1, &[(Write, "OUT/new")]),
    (
        "perl -e 'exit !link \"$ENV{OUT}/file\", \"$ENV{OUT}/new\"'",
        1,
        &[(Write, "OUT/new")],
    ),
    (
        "perl -e 'exit !rename \"$ENV{OUT}/file\", \"$ENV{OUT}/new\"'",
        1,
        &[(Write, "OUT/file"), (Write, "OUT/new")],
    ),
    ("chmod 700 $OUT/file", 1, &[(Write, "OUT/file")]),
    ("touch -d 2001-01-01 $OUT/file", 1, &[(Write, "OUT/file")]),
    ("touch -h -d 2001-01-01 out", 0, &[]),
    (
        "perl -e 'exit !truncate \"$ENV{OUT}/file\", 0'",
        1,
        &[(Write, "OUT/file")],
    ),
    ("cd /; rm -r $OUT/folder", 1, &[(Write, "OUT/folder/in it")]),
    ("printf x > $OUT/$'a\\nb'", 1, &[(Write, "OUT/a\\x0ab")]),
    // Read-only paths, masked paths, and the workspace itself.
    ("echo x > kept/file", 1, &[(Write, "WS/kept/file")]),
    ("echo x > kept/new", 1, &[(Write, "WS/kept/new")]),
    ("mv kept elsewhere", 1, &[(Write, "WS/kept")]),
    ("rm secret", 1, &[(Secret, "WS/secret")]),
    ("rmdir $PWD", 1, &[(Write, "WS")]),
    // None of this is refused by the sandbox.
    (
        "echo x > a; echo x > new; rm a; mkdir -p b/c; mv b d; ln -s x y; chmod 600 new",
        0,
        &[],
    ),
    (
        "cat $OUT/file > /dev/null; ls -lR $OUT > /dev/stdout",
        0,
        &[],
    ),
    ("echo x > /tmp/x; echo x > /dev/shm/x; rm /tmp/x", 0, &[]),
    ("mkdir -p $OUT/folder; rm -f $OUT/nothing", 0, &[]),
    ("echo x > $OUT/nowhere/file", 1, &[]),
    ("echo x > /proc/self/oom_score_adj", 1, &[]),
];

const SECRETS: &[Case] = &[
    ("cat secret", 1, &[(Secret, "WS/secret")]),
    ("cat < secret", 1, &[(Secret, "WS/secret")]),
    ("ln -s secret s; cat s", 1, &[(Secret, "WS/secret")]),
    ("ls keys", 2, &[(Secret, "WS/keys")]),
    ("cat keys/one", 1, &[(Secret, "WS/keys")]),
    (
        "cd /; cat $PWD/proc/self/root$OLDPWD/secret",
        1,
        &[(Secret, "WS/secret")],
    ),
    (
        "exec 7< .; cat /proc/self/fd/7/secret",
        1,
        &[(Secret, "WS/secret")],
    ),
    (
        "perl -e 'opendir my $d, \".\"; chdir $d; exit !open my $f, \"<\", \"secret\"'",
        1,
        &[(Secret, "WS/secret")],
    ),
    (
        "grep -r x keys secret; true",
        0,
        &[(Secret, "WS/keys"), (Secret, "WS/secret")],
    ),
    ("cp secret copy", 1, &[(Secret, "WS/secret")]),
    ("cp -a secret copy", 1, &[(Secret, "WS/secret")]),
    ("ln secret name", 1, &[(Secret, "WS/secret")]),
    ("tar cf archive secret", 2, &[(Secret, "WS/secret")]),
    ("sed -i s/x/y/ secret", 2, &[(Secret, "WS/secret")]),
    // Whether it can be read is not what it is outside.
    ("test -r secret", 1, &[(Secret, "WS/secret")]),
    ("echo x > secret", 1, &[(Secret, "WS/secret")]),
    ("echo x >> secret", 1, &[(Secret, "WS/secret")]),
    ("truncate -s 0 secret", 1, &[(Secret, "WS/secret")]),
    ("mv secret elsewhere", 1, &[(Secret, "WS/secret")]),
    (
        "echo x > new; mv -f new secret",
        1,
        &[(Secret, "WS/secret")],
    ),
    ("chmod 600 secret", 1, &[(Secret, "WS/secret")]),
    ("chmod -R 777 keys", 1, &[(Secret, "WS/keys")]),
    ("echo x > keys/new", 1, &[(Secret, "WS/keys")]),
    ("rm keys/one", 1, &[(Secret, "WS/keys")]),
    ("rm -rf keys", 1, &[(Secret, "WS/keys")]),
    // That it is there is no secret, nor how long it is.
    (
        "ls -l . ; test -f secret -a -d keys -a -s secret && test $(stat -c %s secret) = 2",
        0,
        &[],
    ),
];

const NAMES: &[Case] = &[
    (
        "getent ahosts Registry.example.org",
        2,
        &[(Network, "registry.example.org")],
    ),
    (
        "getent ahosts example.org; getent ahosts example.org.",
        2,
        &[(Network, "example.org")],
    ),
    (
        "perl -e 'for (@ARGV) { gethostbyname $_ or die }' localhost a.localhost $(uname -n)",
        0,
        &[],
    ),
    // Nobody waits for the answer.
    (
        r"printf '\1\2\1\0\0\1\0\0\0\0\0\0\4last\0\0\1\0\1' > /dev/udp/127.0.0.1/53",
        0,
        &[(Network, "last")],
    ),
    // Words that are no question are not answered, and stop nobody from being answered.
    (
        "exec 3<>/dev/udp/127.0.0.1/53; for i in 1 2 3; do head -c 100 /dev/urandom >&3; printf '' >&3; done; getent ahosts example.org",
        2,
        &[(Network, "example.org")],
    ),
];

const SPEECH: &[Case] = &[
    (
        "echo x > /dev/tcp/192.0.2.1/443",
        1,
        &[(Network, "192.0.2.1:443")],
    ),
    (
        "echo x > /dev/udp/192.0.2.1/53",
        1,
        &[(Network, "192.0.2.1:53")],
    ),
    (
        "echo x > /dev/tcp/2001:db8::1/80",
        1,
        &[(Network, "[2001:db8::1]:80")],
    ),
    (
        "perl -MSocket=:all -e 'socket(S, AF_INET6, SOCK_STREAM, 0); \
         connect(S, pack_sockaddr_in6(7, inet_pton(AF_INET6, \"::ffff:192.0.2.1\")))'",
        0,
        &[(Network, "192.0.2.1:7")],
    ),
    (
        "perl -MSocket=:all -e 'socket(S, AF_INET, SOCK_DGRAM, 0); \
         send(S, \"x\", 0, pack_sockaddr_in(9, inet_aton(\"192.0.2.1\")))'",
        0,
        &[(Network, "192.0.2.1:9")],
    ),
    // The sandbox's own.
    (
        "exec 3<>/dev/udp/127.0.0.1/9; exec 4<>/dev/udp/::1/9",
        0,
        &[],
    ),
    ("echo x > /dev/tcp/127.1.2.3/9", 1, &[]),
];

/// Sockets of programs on this machine: one listens at `OUT/heard`.
const SOCKETS: &[Case] = &[
    (
        SPEAKS!("STREAM", "$ENV{OUT}/heard"),
        1,
        &[(Socket, "OUT/heard")],
    ),
    (SPEAKS!("DGRAM", "out/heard"), 1, &[(Socket, "OUT/heard")]),
    (SPEAKS!("SEQPACKET", "\\0name"), 1, &[(Socket, "@name")]),
    (
        "perl -MSocket=:all -e 'socket(S, AF_UNIX, SOCK_DGRAM, 0) or die; \
         exit !send(S, \"x\", 0, pack_sockaddr_un(\"$ENV{OUT}/heard\"))'",
        1,
        &[(Socket, "OUT/heard")],
    ),
    // A pair whose ends were made for each other leads nowhere else.
    (
        "perl -MSocket=:all -e 'socketpair(S, T, AF_UNIX, SOCK_STREAM, 0) or die; \
         exit !connect(S, pack_sockaddr_un(\"$ENV{OUT}/heard\"))'",
        1,
        &[(Socket, "OUT/heard")],
    ),
    (
        "perl -MSocket=:all -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die; \
         exit !bind(S, pack_sockaddr_un(\"own\"))'",
        1,
        &[(Socket, "own")],
    ),
    (
        "perl -e 'exit !socket(S, 40, 1, 0)'; perl -e 'exit !socket(S, 40, 1, 0)'",
        1,
        &[(Socket, "AF_VSOCK")],
    ),
    // Nobody listens there, so nobody was refused.
    (SPEAKS!("STREAM", "/run/nobody"), 1, &[]),
    (SPEAKS!("STREAM", "$ENV{OUT}/file"), 1, &[]),
    ("ls -l > /dev/null; id > /dev/null", 0, &[]),
];

#[test]
fn what_a_command_is_refused_is_told() {
    if !has_sandbox() {
        return;
    }
    for (command, code, told) in [WRITES, SECRETS, NAMES, SPEECH, SOCKETS].concat() {
        let place = Place::new();
        let out = place.folder.path().join("outside");
        fs::create_dir_all(out.join("folder")).unwrap();
        fs::create_dir(place.workspace.join("kept")).unwrap();
        fs::create_dir(place.workspace.join("keys")).unwrap();
        for file in [
            out.join("file"),
            out.join("folder/in it"),
            place.workspace.join("kept/file"),
            place.workspace.join("keys/one"),
            place.workspace.join("secret"),
        ] {
            fs::write(file, "x\n").unwrap();
        }
        let _heard = UnixListener::bind(out.join("heard")).unwrap();
        symlink(&out, place.workspace.join("out")).unwrap();
        let mut spec = SandboxSpec {
            read_only: vec![place.workspace.join("kept")],
            masked: ["secret", "keys", "missing"]
                .map(|name| place.workspace.join(name))
                .into(),
            ..place.spec(command)
        };
        spec.environment.push(("OUT".into(), path(&out).into()));
        let told: Vec<_> = told
            .iter()
            .map(|(kind, target)| {
                let begins = |name, folder: &Path| {
                    Some((target.strip_prefix(name)?, path(folder).to_owned()))
                };
                let place = begins("OUT", &out).or_else(|| begins("WS", &place.workspace));
                let whole = place.map(|(rest, folder)| format!("{folder}{rest}"));
                (*kind, whole.unwrap_or_else(|| (*target).to_owned()))
            })
            .collect();
        let told: Vec<_> = told
            .iter()
            .map(|(kind, target)| (*kind, target.as_str()))
            .collect();
        assert_eq!(run(&spec).told, refused(code, &told), "{command}");
    }
}

#[test]
fn in_a_read_only_workspace_every_attempt_to_change_it_is_told() {
    if !has_sandbox() {
        return;
    }
    for (command, code, told) in [
        ("cat a folder/b >/dev/null; ls; test -r a", 0, None),
        ("echo x > a", 1, Some("/a")),
        ("touch new 2>/dev/null", 1, Some("/new")),
        ("test -w a", 1, Some("/a")),
        ("test -w folder", 1, Some("/folder")),
        // It is not writable outside of the sandbox either.
        ("test -w /usr/bin/env", 1, None),
        ("echo x > /tmp/x; cat /tmp/x", 0, None),
    ] {
        let place = Place::new();
        let spec = SandboxSpec {
            layers: None,
            read_only: vec![place.workspace.clone()],
            ..place.spec(command)
        };
        let told = told.map(|target| format!("{}{target}", path(&place.workspace)));
        let told: Vec<_> = told
            .iter()
            .map(|target| (DenialKind::Write, target.as_str()))
            .collect();
        assert_eq!(run(&spec).told, refused(code, &told), "{command}");
        assert_eq!(fs::read(place.workspace.join("a")).unwrap(), b"a\n");
    }
}
