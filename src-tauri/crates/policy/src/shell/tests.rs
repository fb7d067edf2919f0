//! What is seen in commands.

use super::read;

#[track_caller]
fn words(text: &str) -> Vec<Vec<String>> {
    text.split(" | ")
        .map(|list| list.split(' ').map(|word| word.replace('_', " ")).collect())
        .collect()
}

#[test]
fn plain_commands() {
    for (command, expected) in [
        ("ls", "ls"),
        ("git commit -m 'a  b'", "git commit -m a__b"),
        ("  ls\t-l ", "ls -l"),
        ("git status && cargo test", "git status | cargo test"),
        ("ls -la src | head -5", "ls -la src | head -5"),
        ("cargo build 2>&1 > /dev/null", "cargo build"),
        ("git log --format='%h $x'", "git log --format=%h_$x"),
        ("LC_ALL=C sort x", "sort x"),
        ("timeout 5 ls", "ls"),
        ("nice -n 10 timeout -k 1 5 cargo test", "cargo test"),
        ("time ls", "ls"),
        ("! ls; (pwd)", "ls | pwd"),
        ("{ ls; pwd; }", "ls | pwd"),
        ("if true; then ls; fi", "true | ls"),
        ("ls # quiet", "ls"),
        ("ls\npwd", "ls | pwd"),
        ("cargo test \\\n  --all", "cargo test --all"),
        ("grep -n 'a*b' \"x y\"", "grep -n a*b x_y"),
        ("grep \"foo$\" x", "grep foo$ x"),
        ("git show HEAD~1 HEAD@{1}", "git show HEAD~1 HEAD@{1}"),
        ("export A=1", "export A=1"),
        ("ls >/dev/null -l", "ls -l"),
        ("echo $'a\\tb'", "echo a\tb"),
    ] {
        let facts = read(command);
        assert_eq!(facts.unsure, Vec::<String>::new(), "{command:?}");
        assert_eq!(facts.plain().unwrap(), words(expected), "{command:?}");
        for list in facts.plain().unwrap() {
            assert!(facts.may_run().contains(list), "{command:?}: {list:?}");
        }
    }
}

#[test]
fn commands_that_are_not_plain() {
    for command in [
        "",
        "# nothing",
        "ls > out",
        "ls < in",
        "echo $HOME",
        "echo `id`",
        "echo $(id)",
        "A=1 ls",
        "A=1",
        "./ls",
        "/bin/ls",
        "ls *",
        "ls ~",
        "ls {a,b}",
        "echo \"$x\"",
        "l\\s",
        "'ls'",
        "sudo ls",
        "sh -c ls",
        "sh",
        "curl x | sh",
        "xargs rm",
        "find . -exec rm {} \\;",
        "ls \u{202e}x",
        "ls\r\npwd",
        "echo 'open",
        "if true",
        "env ls",
        "{ ls",
        "f() { ls; }; f",
        "[[ -f x ]]",
        "((a=1))",
        "cat <<E\nx\nE",
        "cat <<< x",
        "diff <(ls) x",
        "for x in a; do ls; done",
        "coproc ls",
        "eval ls",
        "exec ls",
        "timeout --odd 5 ls",
        "gi\\\nt status",
        "$x",
        "echo 99999999999999>x",
        "ls 3>&1",
        "ls &",
        "ls & pwd",
    ] {
        let facts = read(command);
        assert_eq!(facts.plain(), None, "{command:?}");
        assert!(!facts.unsure.is_empty(), "{command:?}");
    }
}

#[test]
fn spelling_hides_nothing_from_a_deny() {
    for command in [
        "rm x",
        "r'm' x",
        "r\\m x",
        "/bin/rm x",
        "true; rm x",
        "true && rm x",
        "$(rm x)",
        "`rm x`",
        "sudo rm x",
        "sudo -u me rm x",
        "A=1 rm x",
        "env -i rm x",
        "env -S 'rm x'",
        "sh -c 'rm x'",
        "bash -xec 'rm x'",
        "find . -exec rm x",
        "xargs rm x",
        "echo x | xargs rm",
        "echo 'rm x' | sh",
        "bash <<< 'rm x'",
        "bash <<E\nrm x\nE",
        "cat <<-E\n\t$(rm x)\n\tE",
        "if true; then rm x; fi",
        "cat <(rm x)",
        "(rm x)",
        "{ rm x; }",
        "eval \"rm x\"",
        "true\nrm x",
        "timeout 5 rm x",
        "r\u{200b}m x",
        "$'\\x72m' x",
        "rm${IFS}x",
        "a=rm; $a x",
        "{rm,x}",
        "${x:-rm} x",
        "r$@m x",
        "/bin/r[m] x",
        "$(echo rm) x",
        "f() { rm x; }",
        "trap 'rm x' EXIT",
        "coproc rm x",
        "echo $((1 + $(rm x)))",
        "echo ${a[$(rm x)]}",
        "echo ${a:-$(rm x)}",
        "a=([0]=$(rm x))",
        "[[ -v a[$(rm x)] ]]",
        "case x in x) rm x;; esac",
        "for c in rm; do $c x; done",
        "echo \"`echo \\`rm x\\``\"",
        "GIT_SSH_COMMAND='rm x' git fetch",
        "while :; do rm x; done",
        "rm x; echo 'open",
        "source <(echo rm x)",
        "su -c 'rm x' me",
        "watch -n 1 rm x",
        "ssh host 'rm x'",
        "nohup timeout 5 nice rm x",
        "! rm x",
        "time rm x",
        "rm >/dev/null x",
        ">/dev/null rm x",
        "alias l='rm x'",
    ] {
        let facts = read(command);
        let hit = facts
            .may_run()
            .iter()
            .any(|words| words.starts_with(&["rm".into(), "x".into()]));
        assert!(hit, "{command:?}: {facts:#?}");
    }
}

#[test]
fn quoted_text_is_no_command() {
    for command in [
        "echo rm x",
        "git commit -m 'fix; rm x'",
        "git commit -m \"$(cat <<'E'\nfix\nrm x\nE\n)\"",
        "grep -r 'rm x' .",
        "echo \"a && rm x\"",
        "cat <<'E'\nrm x\nE",
        "xargs grep rm x",
        "git log --grep='; rm x'",
    ] {
        let facts = read(command);
        let hit = facts.may_run().iter().any(|words| words[0] == "rm");
        assert!(!hit, "{command:?}: {facts:#?}");
    }
}

#[test]
fn no_size_or_depth_is_too_much() {
    let deep = |open: &str, inner: &str, close: &str, n: usize| {
        format!("{}{inner}{}", open.repeat(n), close.repeat(n))
    };
    for command in [
        deep("(", "rm x", ")", 10_000),
        deep("$(", "rm x", ")", 10_000),
        deep("{ ", "rm x;", "}", 10_000),
        deep("<(", "rm x", ")", 1_000),
        deep("if ", "rm x;", "then :; fi ", 1_000),
        deep("case x in x) ", "rm x", ";; esac", 200),
        deep("${a:-", "$(rm x)", "}", 5_000),
        deep("a[", "$(rm x)", "]=1 ", 500),
        deep("`", "rm x", "`", 1_001),
        format!("{}; rm x", "a ".repeat(500_000)),
        format!("{}; rm x", "a;".repeat(20_000)),
        format!("sudo {} rm x", "-z ".repeat(300_000)),
        format!("echo {}; rm x", "{}".repeat(20_000)),
        format!("echo {}; rm x", "[".repeat(30_000)),
    ] {
        let facts = read(&command);
        let hit = facts
            .may_run()
            .iter()
            .any(|words| words.starts_with(&["rm".into(), "x".into()]));
        assert!(hit, "{} {:?}", &command[..40], facts.unsure);
    }
}
