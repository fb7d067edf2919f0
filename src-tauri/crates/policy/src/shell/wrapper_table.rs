//! The table of the programs that run what their arguments name.

use super::wrappers::{How, Wrapper};

const NONE: Wrapper = Wrapper {
    names: "",
    how: How::Words,
    values: "",
    flags: "",
    scripts: "",
    operands: 0,
    assigns: false,
    seen_through: false,
    runner: false,
};

const fn words(names: &'static str, values: &'static str) -> Wrapper {
    Wrapper {
        names,
        values,
        ..NONE
    }
}

const fn seen(
    names: &'static str,
    values: &'static str,
    flags: &'static str,
    operands: usize,
) -> Wrapper {
    Wrapper {
        names,
        values,
        flags,
        operands,
        seen_through: true,
        ..NONE
    }
}

const fn runner(names: &'static str, values: &'static str) -> Wrapper {
    Wrapper {
        names,
        values,
        runner: true,
        ..NONE
    }
}

/// The table.
pub(super) const WRAPPERS: &[Wrapper] = &[
    seen(
        "timeout gtimeout",
        "k kill-after s signal",
        "foreground preserve-status v verbose f p",
        1,
    ),
    seen("time", "", "p", 0),
    seen("nice gnice", "n adjustment", "", 0),
    seen("nohup", "", "", 0),
    seen("stdbuf gstdbuf", "i o e input output error", "", 0),
    Wrapper {
        names: "env genv",
        values: "u unset C chdir a argv0",
        scripts: "S split-string",
        assigns: true,
        ..NONE
    },
    words(
        "setsid nocache catchsegv fakeroot eatmydata torify torsocks proxychains proxychains4 tsocks unbuffer dbus-run-session caffeinate arch linux32 linux64 i386 x86_64 setarch prlimit busybox toybox aa-exec aoss choom cpulimit distcc ksu logsave multitime pexec setlock softlimit ssh-agent sshpass xdotool run-parts msgfilter tsp batcher chpst envdir setuidgid with-contenv s6-setuidgid",
        "",
    ),
    words("command builtin coproc noglob nocorrect -", ""),
    words("exec", "a"),
    words(
        "xargs gxargs",
        "a arg-file d delimiter E I L max-lines n max-args P max-procs s max-chars process-slot-var J R S",
    ),
    Wrapper {
        names: "sudo",
        values: "u user g group h host p prompt C close-from c D chdir R chroot r role t type T command-timeout U other-user",
        assigns: true,
        ..NONE
    },
    Wrapper {
        names: "doas",
        values: "u C a",
        assigns: true,
        ..NONE
    },
    words("pkexec", "user"),
    words(
        "systemd-run",
        "u unit p property uid gid nice working-directory E setenv H host M machine C capsule description slice service-type timer-property path-property socket-property on-active on-boot on-startup on-unit-active on-unit-inactive on-calendar background job-mode",
    ),
    words(
        "run0",
        "u unit property user g group nice D chdir setenv machine description slice background area",
    ),
    words("ionice", "c class n classdata p pid P pgid u uid"),
    Wrapper {
        names: "chrt taskset",
        values: "p T P D",
        operands: 1,
        ..NONE
    },
    words(
        "setpriv",
        "ruid euid rgid egid reuid regid groups inh-caps ambient-caps bounding-set securebits pdeathsig selinux-label apparmor-profile",
    ),
    Wrapper {
        names: "flock",
        values: "w wait timeout E conflict-exit-code",
        scripts: "c command",
        operands: 1,
        ..NONE
    },
    Wrapper {
        names: "chroot",
        values: "userspec groups",
        operands: 1,
        ..NONE
    },
    words(
        "unshare",
        "S setuid G setgid R root w wd map-user map-group propagation setgroups boottime monotonic",
    ),
    words("nsenter", "t target S setuid G setgid"),
    words(
        "bwrap",
        "bind ro-bind dev-bind proc dev tmpfs chdir setenv unsetenv uid gid hostname symlink dir",
    ),
    words("firejail proot", "r R b w 0"),
    words(
        "strace ltrace truss dtruss",
        "a b e E I o O p P s S u U X n l x A D",
    ),
    words(
        "valgrind rr gdbserver rlwrap xvfb-run catchsegv",
        "n s e f p",
    ),
    words("perf", ""),
    words(
        "numactl",
        "physcpubind C cpunodebind N membind m interleave i preferred p localalloc l",
    ),
    words("cgexec", "g"),
    words("screen", "S t T s h c p e"),
    Wrapper {
        names: "faketime",
        values: "f",
        operands: 1,
        ..NONE
    },
    // What they run stands after `--args` or `--`; by default it is the first operand.
    words(
        "gdb gdbtui cgdb lldb",
        "ex eval-command iex x command ix o one-line O s source S d directory cd tty p pid n attach-name c core symbols exec f file",
    ),
    Wrapper {
        names: "watch",
        how: How::Script,
        values: "n interval q equexit",
        ..NONE
    },
    Wrapper {
        names: "parallel rush sem",
        how: How::Script,
        values: "j jobs a arg-file I n N L S sshlogin d delimiter C colsep joblog results tmpdir delay retries timeout load memfree tagstring workdir wd halt P",
        ..NONE
    },
    Wrapper {
        names: "ssh slogin autossh mosh dbclient",
        how: How::Script,
        values: "b B c D E e F I i J L l m O o p Q R S W w M P",
        operands: 1,
        ..NONE
    },
    Wrapper {
        names: "eval",
        how: How::Script,
        ..NONE
    },
    Wrapper {
        names: "entr watchexec nodemon chronic ts hyperfine",
        how: How::Script,
        values: "w watch e exts i ignore r runs m warmup x",
        runner: true,
        ..NONE
    },
    Wrapper {
        names: "sh bash dash zsh ksh mksh ash fish rbash yash posh tcsh csh elvish nu hush ksh93 pdksh oksh loksh",
        how: How::Shell,
        values: "o O rcfile init-file C init-command",
        scripts: "c command",
        ..NONE
    },
    Wrapper {
        names: "su runuser",
        how: How::Shell,
        values: "g group G supp-group s shell u user w",
        scripts: "c command session-command",
        operands: 1,
        ..NONE
    },
    Wrapper {
        names: "script scriptlive",
        how: How::Shell,
        values: "o E I O B T m",
        scripts: "c command",
        ..NONE
    },
    Wrapper {
        names: "sg",
        how: How::Shell,
        scripts: "c",
        operands: 1,
        ..NONE
    },
    runner(
        "npx bunx pnpx uvx pipx rbenv pyenv direnv dotenv dotenvx mise asdf rtx volta op",
        "p package python with from f e",
    ),
    runner(
        "winpty wine wine64 mono dotnet qemu-x86_64 qemu-aarch64 box64",
        "",
    ),
];
