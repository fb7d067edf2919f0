//! Shell facts beside a real shell: what a command ran must be among what the facts said before.
//!
//! The commands are generated, start nothing but stubs of a temporary folder, and see no other program.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use policy::shell;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Commands that are generated and run, unless `FUZZ_CASES` says how many.
const CASES: u32 = 400;
/// Programs that are really there: they start what their arguments name.
const REAL: [&str; 9] = [
    "bash", "sh", "env", "timeout", "nice", "stdbuf", "xargs", "find", "cat",
];
/// A stub writes its name and its arguments with one write: stubs of a process substitution run beside others.
const STUB: &str =
    "#!/bin/sh\nprintf '%s\\037' \"${0##*/}\" \"$@\" \"$(printf '\\036')\" >>\"$STUB_LOG\"\n";

/// A text as a word that says exactly that.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A word in one of its spellings.
fn spelled(text: &'static str) -> impl Strategy<Value = String> {
    (0..6_usize).prop_map(move |how| {
        let (first, rest) = text.split_at(1);
        match how {
            0 => quoted(text),
            1 => format!("\"{text}\""),
            2 => format!("{first}\"{rest}\""),
            3 => format!("\\{first}{rest}"),
            4 => format!("$'\\x{:02x}'{rest}", first.as_bytes()[0]),
            _ => text.to_owned(),
        }
    })
}

fn argument() -> impl Strategy<Value = String> {
    prop_oneof![
        spelled("x"),
        spelled("s1"),
        spelled("--flag=1"),
        Just("'a b;s2'".to_owned()),
        Just("\"c|d\"".to_owned()),
        Just("e\\ f".to_owned()),
        Just("'$(s3)'".to_owned()),
        Just("\"\\`s3\\`\"".to_owned()),
    ]
}

fn program() -> impl Strategy<Value = String> {
    (0..6_usize).prop_flat_map(|at| spelled(["s0", "s1", "s2", "s3", "s4", "s5"][at]))
}

/// A stub with arguments, and what may stand around them.
fn simple() -> impl Strategy<Value = String> {
    let words = (program(), prop::collection::vec(argument(), 0..3));
    (words, 0..8_usize).prop_map(|((program, arguments), around)| {
        let command = std::iter::once(program)
            .chain(arguments)
            .collect::<Vec<_>>()
            .join(" ");
        match around {
            0 => format!("A=1 {command}"),
            1 => format!("LC_ALL=C {command}"),
            2 => format!("{command} >/dev/null"),
            3 => format!("2>&1 {command}"),
            _ => command,
        }
    })
}

/// Programs that run a stub with their arguments as words of its own.
fn wrapped() -> impl Strategy<Value = String> {
    let ways = prop::sample::select(vec![
        "env",
        "env -u A B=1",
        "env -i PATH=\"$PATH\" STUB_LOG=\"$STUB_LOG\"",
        "timeout 5",
        "timeout -s KILL 5",
        "nice",
        "nice -n 1",
        "stdbuf -oL",
        "command",
        "eval",
        "time",
        "builtin command",
        "xargs",
        "xargs -n 1",
        "nice timeout 5 env",
        "find . -maxdepth 0 -exec",
        "!",
        "command -p --",
        "a=1 eval",
    ]);
    (ways, program(), argument()).prop_map(|(way, program, argument)| match way {
        _ if way.starts_with("find") => format!("{way} {program} {argument} \\;"),
        _ if way.starts_with("xargs") => format!("echo y | {way} {program} {argument}"),
        _ if way.starts_with("command -p") => format!("command {program} {argument}"),
        _ => format!("{way} {program} {argument}"),
    })
}

fn command() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![4 => simple(), 2 => wrapped()];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| format!("{a}; {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} && {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} || {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} | {b}")),
            two.clone().prop_map(|(a, b)| format!("{a}\n{b}")),
            two.clone()
                .prop_map(|(a, b)| format!("if {a}; then {b}; fi")),
            two.clone()
                .prop_map(|(a, b)| format!("f() {{ {a}; }}; f; {b}")),
            two.prop_map(|(a, b)| format!("case a in b) {a};; *) {b};; esac")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("{{ {a}; }}")),
            inner
                .clone()
                .prop_map(|a| format!("for v in 1 2; do {a}; done")),
            inner.clone().prop_map(|a| format!("s0 $({a})")),
            inner.clone().prop_map(|a| format!("s0 \"p $({a}) q\"")),
            inner.clone().prop_map(|a| format!("s0 ${{v:-$({a})}}")),
            inner.clone().prop_map(|a| format!("v=$({a})")),
            inner.clone().prop_map(|a| format!("s1 <({a})")),
            inner.clone().prop_map(|a| format!("[[ -n $({a}) ]]")),
            inner.clone().prop_map(|a| format!("s0 $(( 1 $({a}) ))")),
            inner.clone().prop_map(|a| format!("eval {}", quoted(&a))),
            // To a POSIX shell `$'…'` is a dollar and a quote; facts are those of bash.
            inner.clone().prop_map(|a| {
                let shell = if a.contains("$'") { "bash" } else { "sh" };
                format!("{shell} -c {}", quoted(&a))
            }),
            inner
                .clone()
                .prop_map(|a| format!("bash -ec {}", quoted(&a))),
            inner
                .clone()
                .prop_map(|a| format!("trap {} EXIT", quoted(&a))),
            inner.clone().prop_map(|a| format!("bash <<'E'\n{a}\nE")),
            inner.clone().prop_map(|a| format!("cat <<E\n$({a})\nE")),
            inner
                .clone()
                .prop_map(|a| format!("cat <<-E\n\t$({a})\n\tE")),
            inner
                .clone()
                .prop_map(|a| format!("printf '%s' {} | bash", quoted(&a))),
            inner
                .clone()
                .prop_map(|a| format!("bash <<< {}", quoted(&a))),
            inner
                .clone()
                .prop_map(|a| format!("while {a}; do break; done")),
            inner.clone().prop_map(|a| format!("v=s2; $v y; {a}")),
            inner.clone().prop_map(|a| {
                let escaped = a.replace('\\', "\\\\").replace('`', "\\`");
                format!("s0 `{escaped}`")
            }),
            inner.clone().prop_map(|a| format!("bash <<E\n{a}\nE")),
            inner
                .clone()
                .prop_map(|a| format!("s0 \"$(cat <<'E'\n{a}\nE\n)\"")),
            inner
                .clone()
                .prop_map(|a| format!("eval \"$(cat <<'E'\n{a}\nE\n)\"")),
            inner
                .clone()
                .prop_map(|a| format!("s0 \"${{v:-'$({a})'}}\"")),
            inner
                .clone()
                .prop_map(|a| format!("# it's a ) comment\n{a}")),
            inner
                .clone()
                .prop_map(|a| format!("s0 $(\n# it's a ) comment\n{a}\n)")),
            inner
                .clone()
                .prop_map(|a| format!("until {a}; ! false; do :; done")),
            inner
                .clone()
                .prop_map(|a| format!("function g {{ {a}; }}; g")),
            inner
                .clone()
                .prop_map(|a| format!("a=(x $({a})); s0 \"${{a[@]}}\"")),
            inner.clone().prop_map(|a| format!("{a} & wait")),
            inner.prop_map(|a| format!(">/dev/null {{ {a}; }} 2>&1")),
        ]
    })
}

/// A folder with stubs and nothing else.
fn stubs(folder: &Path) {
    for at in 0..6 {
        let stub = folder.join(format!("s{at}"));
        fs::write(&stub, STUB).unwrap();
        fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for real in REAL {
        let found = ["/usr/bin", "/bin"]
            .map(|place| Path::new(place).join(real))
            .into_iter()
            .find(|path| path.exists());
        symlink(found.unwrap(), folder.join(real)).unwrap();
    }
}

/// The word lists that a command really ran.
fn ran(command: &str, programs: &Path, folder: &Path) -> Vec<Vec<String>> {
    // A process substitution may end after its command: it must not write into the next one's log.
    let log = tempfile::Builder::new().tempfile_in(folder).unwrap();
    let status = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", command])
        .current_dir(folder)
        .env_clear()
        .env("PATH", programs)
        .env("STUB_LOG", log.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap();
    let text = fs::read_to_string(log.path()).unwrap();
    text.split_terminator("\x1e\x1f")
        .map(|record| record.split_terminator('\x1f').map(str::to_owned).collect())
        .collect()
}

#[test]
fn what_bash_runs_is_among_the_facts() {
    let programs = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    stubs(programs.path());
    let cases = std::env::var("FUZZ_CASES").map_or(CASES, |many| many.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let total = Cell::new(0);
    let tried = TestRunner::new(config).run(&command(), |command| {
        let facts = shell::parse_command(&command);
        let ran = ran(&command, programs.path(), folder.path());
        total.set(total.get() + ran.len());
        for words in &ran {
            // Expansions that are only known when it runs may add words; the program and the words before them are known.
            let told = facts.may_run().iter().any(|list| {
                list[0] == words[0]
                    && (list == words
                        || list.iter().any(|word| word.contains(['$', '`', '<']))
                        || words.starts_with(list))
            });
            prop_assert!(
                told,
                "{words:?} ran and was not told: {:?}",
                facts.may_run()
            );
            if let Some(plain) = facts.plain() {
                prop_assert!(
                    plain.contains(words),
                    "{words:?} ran and is not plain: {plain:?}"
                );
            }
        }
        Ok(())
    });
    tried.unwrap_or_else(|failed| panic!("{failed}"));
    assert!(total.get() > 100, "only {} stubs ran", total.get());
}

#[test]
fn a_spelling_changes_no_fact_of_a_deny() {
    let config = Config {
        cases: 500,
        failure_persistence: None,
        ..Config::default()
    };
    let words = prop::collection::vec(argument(), 0..4);
    let tried = TestRunner::new(config).run(&(program(), words), |(program, arguments)| {
        let command = format!("{program} {}", arguments.join(" "));
        let facts = shell::parse_command(&command);
        let literal: Vec<&str> = facts.commands[0]
            .words
            .iter()
            .map(shell::ShellWord::text)
            .collect();
        prop_assert!(
            facts.commands[0]
                .words
                .iter()
                .all(shell::ShellWord::is_literal)
        );
        prop_assert!(
            facts.may_run().iter().any(|list| list == &literal),
            "{command}"
        );
        Ok(())
    });
    tried.unwrap_or_else(|failed| panic!("{failed}"));
}
