//! The table of the programs that run the commands in their arguments.

use crate::shell::tables::wrapper::{Wrapper, WrapperKind};

const DEFAULT_WRAPPER: Wrapper = Wrapper {
    names: "",
    kind: WrapperKind::Words,
    values: "",
    flags: "",
    scripts: "",
    operands: 0,
    assigns: false,
    is_transparent: false,
    is_runner: false,
};

const fn word_wrapper(names: &'static str, values: &'static str) -> Wrapper {
    Wrapper {
        names,
        values,
        ..DEFAULT_WRAPPER
    }
}

const fn transparent_wrapper(
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
        is_transparent: true,
        ..DEFAULT_WRAPPER
    }
}

const fn runner_wrapper(names: &'static str, values: &'static str) -> Wrapper {
    Wrapper {
        names,
        values,
        is_runner: true,
        ..DEFAULT_WRAPPER
    }
}

/// The table.
pub(in crate::shell) const WRAPPER_TABLE: &[Wrapper] = &[
    transparent_wrapper(
        "timeout gtimeout",
        "k kill-after s signal",
        "foreground preserve-status v verbose f p",
        1,
    ),
    transparent_wrapper("time", "", "p", 0),
    transparent_wrapper("nice gnice", "n adjustment", "", 0),
    transparent_wrapper("nohup", "", "", 0),
    transparent_wrapper("stdbuf gstdbuf", "i o e input output error", "", 0),
    Wrapper {
        names: "env genv",
        values: "u unset C chdir a argv0",
        scripts: "S split-string",
        assigns: true,
        ..DEFAULT_WRAPPER
    },
    word_wrapper(
        "setsid nocache catchsegv fakeroot eatmydata torify torsocks proxychains proxychains4 tsocks unbuffer dbus-run-session caffeinate arch linux32 linux64 i386 x86_64 setarch prlimit busybox toybox aa-exec aoss choom cpulimit distcc ksu logsave multitime pexec setlock softlimit ssh-agent sshpass xdotool run-parts msgfilter tsp batcher chpst envdir setuidgid with-contenv s6-setuidgid",
        "",
    ),
    word_wrapper("command builtin coproc noglob nocorrect -", ""),
    word_wrapper("exec", "a"),
    word_wrapper(
        "xargs gxargs",
        "a arg-file d delimiter E I L max-lines n max-args P max-procs s max-chars process-slot-var J R S",
    ),
    Wrapper {
        names: "sudo",
        values: "u user g group h host p prompt C close-from c D chdir R chroot r role t type T command-timeout U other-user",
        assigns: true,
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "doas",
        values: "u C a",
        assigns: true,
        ..DEFAULT_WRAPPER
    },
    word_wrapper("pkexec", "user"),
    word_wrapper(
        "systemd-run",
        "u unit p property uid gid nice working-directory E setenv H host M machine C capsule description slice service-type timer-property path-property socket-property on-active on-boot on-startup on-unit-active on-unit-inactive on-calendar background job-mode",
    ),
    word_wrapper(
        "run0",
        "u unit property user g group nice D chdir setenv machine description slice background area",
    ),
    word_wrapper("ionice", "c class n classdata p pid P pgid u uid"),
    Wrapper {
        names: "chrt taskset",
        values: "p T P D",
        operands: 1,
        ..DEFAULT_WRAPPER
    },
    word_wrapper(
        "setpriv",
        "ruid euid rgid egid reuid regid groups inh-caps ambient-caps bounding-set securebits pdeathsig selinux-label apparmor-profile",
    ),
    Wrapper {
        names: "flock",
        values: "w wait timeout E conflict-exit-code",
        scripts: "c command",
        operands: 1,
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "chroot",
        values: "userspec groups",
        operands: 1,
        ..DEFAULT_WRAPPER
    },
    word_wrapper(
        "unshare",
        "S setuid G setgid R root w wd map-user map-group propagation setgroups boottime monotonic",
    ),
    word_wrapper("nsenter", "t target S setuid G setgid"),
    word_wrapper(
        "bwrap",
        "bind ro-bind dev-bind proc dev tmpfs chdir setenv unsetenv uid gid hostname symlink dir",
    ),
    word_wrapper("firejail proot", "r R b w 0"),
    word_wrapper(
        "strace ltrace truss dtruss",
        "a b e E I o O p P s S u U X n l x A D",
    ),
    word_wrapper(
        "valgrind rr gdbserver rlwrap xvfb-run catchsegv",
        "n s e f p",
    ),
    word_wrapper("perf", ""),
    word_wrapper(
        "numactl",
        "physcpubind C cpunodebind N membind m interleave i preferred p localalloc l",
    ),
    word_wrapper("cgexec", "g"),
    word_wrapper("screen", "S t T s h c p e"),
    Wrapper {
        names: "faketime",
        values: "f",
        operands: 1,
        ..DEFAULT_WRAPPER
    },
    // The program that a debugger runs stands after `--args` or `--`; by default it is the first operand.
    word_wrapper(
        "gdb gdbtui cgdb lldb",
        "ex eval-command iex x command ix o one-line O s source S d directory cd tty p pid n attach-name c core symbols exec f file",
    ),
    Wrapper {
        names: "watch",
        kind: WrapperKind::Script,
        values: "n interval q equexit",
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "parallel rush sem",
        kind: WrapperKind::Script,
        values: "j jobs a arg-file I n N L S sshlogin d delimiter C colsep joblog results tmpdir delay retries timeout load memfree tagstring workdir wd halt P",
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "ssh slogin autossh mosh dbclient",
        kind: WrapperKind::Script,
        values: "b B c D E e F I i J L l m O o p Q R S W w M P",
        operands: 1,
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "eval",
        kind: WrapperKind::Script,
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "entr watchexec nodemon chronic ts hyperfine",
        kind: WrapperKind::Script,
        values: "w watch e exts i ignore r runs m warmup x",
        is_runner: true,
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "sh bash dash zsh ksh mksh ash fish rbash yash posh tcsh csh elvish nu hush ksh93 pdksh oksh loksh",
        kind: WrapperKind::Shell,
        values: "o O rcfile init-file C init-command",
        scripts: "c command",
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "su runuser",
        kind: WrapperKind::Shell,
        values: "g group G supp-group s shell u user w",
        scripts: "c command session-command",
        operands: 1,
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "script scriptlive",
        kind: WrapperKind::Shell,
        values: "o E I O B T m",
        scripts: "c command",
        ..DEFAULT_WRAPPER
    },
    Wrapper {
        names: "sg",
        kind: WrapperKind::Shell,
        scripts: "c",
        operands: 1,
        ..DEFAULT_WRAPPER
    },
    runner_wrapper(
        "npx bunx pnpx uvx pipx rbenv pyenv direnv dotenv dotenvx mise asdf rtx volta op",
        "p package python with from f e",
    ),
    runner_wrapper(
        "winpty wine wine64 mono dotnet qemu-x86_64 qemu-aarch64 box64",
        "",
    ),
];
