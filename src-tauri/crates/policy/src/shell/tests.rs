//! Facts that are read from commands.

use super::parse_command;

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
        ("[ -f x ] && ls", "[ -f x ] | ls"),
        ("git push -u origin main", "git push -u origin main"),
        ("git config user.name x", "git config user.name x"),
        ("sed -n 1,5p x", "sed -n 1,5p x"),
        ("sed -i 's/a/b/g' x", "sed -i s/a/b/g x"),
        ("awk '{print $1}' x", "awk {print_$1} x"),
        ("python3 -m pytest -c x", "python3 -m pytest -c x"),
        ("python3 x.py -c y", "python3 x.py -c y"),
        ("npx eslint -c x", "npx eslint -c x"),
        ("find . -name '*.rs' -type f", "find . -name *.rs -type f"),
        ("tar -czf x.tgz src", "tar -czf x.tgz src"),
        ("bash scripts/check.sh", "bash scripts/check.sh"),
        ("uv run pytest", "uv run pytest"),
        ("psql -c 'select 1'", "psql -c select_1"),
        ("date +%Y-%m-%d", "date +%Y-%m-%d"),
        ("docker run -it x ls", "docker run -it x ls"),
        ("command -v git", "command -v git"),
        ("env", "env"),
        ("ls >/dev/null -l", "ls -l"),
        ("echo $'a\\tb'", "echo a\tb"),
    ] {
        let facts = parse_command(command);
        assert_eq!(facts.unsure_reasons, Vec::<String>::new(), "{command:?}");
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
        "'./ls'",
        "./l\\s",
        "cd x && ./ls",
        "./ls; cd x",
        "pushd x; bin/ls",
        "/usr/bin/timeout 5 ls",
        "/usr/bin/sudo ls",
        "/bin/sh -c ls",
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
        "git -c core.pager=x log",
        "git log --ext-diff",
        "git rebase -x 'make' main",
        "git config alias.x '!y'",
        "rg --pre x y",
        "sed 'e ls' x",
        "sed 's/a/b/w out' x",
        "sed -f x y",
        "awk 'BEGIN { system(\"ls\") }'",
        "tar --checkpoint-action=exec=ls x",
        "tar --to-com ls x",
        "find . -delete",
        "find . -fprint x",
        "ssh -o ProxyCommand=ls host",
        "python3 -c 'x'",
        "perl -ne 'print' x",
        "node -e x",
        "vim -c :q x",
        "vim +q x",
        "Remove-Item -Recurse x",
        "remove-item x",
        "del /s x",
        "powershell -Command ls",
        "cmd /c dir",
        "dir /s",
        "echo %USERPROFILE%",
        "bash -s",
        "bash -",
        "test -v 'a[$(ls)]'",
        "alias l=ls",
        "ls & pwd",
    ] {
        let facts = parse_command(command);
        assert_eq!(facts.plain(), None, "{command:?}");
        assert!(!facts.unsure_reasons.is_empty(), "{command:?}");
    }
}

#[test]
fn spelling_hides_nothing_from_a_deny() {
    let mut missed = Vec::new();
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
        "git -c core.pager='rm x' log",
        "git -c alias.y='!rm x' y",
        "git rebase --exec 'rm x' main",
        "git bisect run rm x",
        "git submodule foreach 'rm x'",
        "git clone ext::'rm x'",
        "git config alias.y '!rm x'",
        "rg --pre 'rm x' y",
        "sed '1e rm x' y",
        "sed -e 's/a/rm x/e' y",
        "awk 'BEGIN { system(\"rm x\") }'",
        "tar --checkpoint=1 --checkpoint-action=exec='rm x' -xf y",
        "tar -I 'rm x' -xf y",
        "ssh -o ProxyCommand='rm x' host",
        "python3 -c 'import os; os.system(\"rm x\")'",
        "python3 -c 'import subprocess; subprocess.run([\"rm\", \"x\"])'",
        "perl -e 'system(\"rm x\")'",
        "vim -c ':!rm x' y",
        "npx -c 'rm x'",
        "uv run rm x",
        "docker exec -it box rm x",
        "kubectl exec pod -- rm x",
        "powershell -Command rm x",
        "cmd /c rm x",
        "rm.exe x",
        "test -v 'a[$(rm x)]'",
        "printf -v 'a[$(rm x)]' y",
        "let 'a[$(rm x)]=1'",
        "find . -name y -execdir rm x \\;",
        "fd y -x rm x",
        "busybox rm x",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
        "flock /tmp/l rm x",
        "flock /tmp/l -c 'rm x'",
        "parallel rm ::: x",
        "parallel 'rm x' ::: y",
        "sh -c '\"$@\"' _ rm x",
        "env -u A -- B=1 rm x",
        "sudo -iu me rm x",
        "strace -f -o y rm x",
        "script -qc 'rm x' y",
        // Commands that both parsers, or our own counting, read wrongly or not at all.
        "echo 'open; 2>&1 rm x",
        "echo 'open; >y rm x",
        "echo 'open; <y rm >z x",
        "echo 'open; v=rm; $v x",
        "echo 'open; for v in rm; do $v x; done",
        "echo 'open; sh -c \"sh -c 'rm x'\"",
        "echo 'open; echo 'rm x' | sh",
        "echo 'open; sh <<< 'rm x'",
        "echo 'open; find . -exec rm x \\;",
        "echo 'open `rm x`",
        "echo $(cat <<E\n`$'\\\\x72'm x`\nE) y",
        "bash <<'E'\necho 'open; 2>&1 rm x\nE",
        "cat <<-E\n\t$(case a in b) A=1 ls;; *) A=1 rm x;; esac)\n\tE",
        "echo $(case a in (b) ls;; c) rm x;; esac)",
        "echo \"$(case a in b) ls;; c) rm x;; esac)\"",
        "echo ${v:-$((env ls '$(rm x)'))}",
        "echo ${v:-$((env rm x) | (cat))}",
        "[[ -n $(v=rm; $v x; cat <<-E\n\tE) ]]",
        "[[ -n $(cat <<-E\n\t$(rm x)\n\tE) ]]",
        "echo $(# it's a ) comment\nrm x\n)",
        "echo $(cat <<E\n)\nE\nrm x\n)",
        "eval \"$(cat <<'E'\nrm x\nE\n)\"",
        "bash <<E\n\\`rm x\\`\nE",
        "bash <<< \"${v:-rm} x\"",
        "v=$(echo rm); $v x",
        "a=r; b=${a}m; $b x",
        "echo \"${v:-'$(rm x)'}\"",
    ] {
        let facts = parse_command(command);
        let hit = facts
            .may_run()
            .iter()
            .any(|words| words.starts_with(&["rm".into(), "x".into()]));
        if !hit {
            missed.push(format!("{command:?}: {:?}", facts.may_run()));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn quoted_text_is_no_command() {
    for command in [
        "echo rm x",
        "git commit -m 'fix; rm x'",
        "git commit -m \"$(cat <<'E'\nfix\nrm x\nE\n)\"",
        "git commit -m \"$(cat <<'E'\ndon't (ever)\nrm x; (\nE\n)\"",
        "echo $(# it's rm x; )\nls)",
        "grep -r 'rm x' .",
        "echo \"a && rm x\"",
        "cat <<'E'\nrm x\nE",
        "xargs grep rm x",
        "git log --grep='; rm x'",
        "[ -f a ] && echo 'y; rm x'",
        "timeout 5 grep rm x",
        "sudo -u rm ls",
        "python3 x.py rm x",
        "echo %a; echo '$(rm x)'",
    ] {
        let facts = parse_command(command);
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
        let facts = parse_command(&command);
        let hit = facts
            .may_run()
            .iter()
            .any(|words| words.starts_with(&["rm".into(), "x".into()]));
        assert!(hit, "{} {:?}", &command[..40], facts.unsure_reasons);
    }
}

#[test]
fn files_and_hosts_that_are_touched() {
    for (command, expected) in [
        ("ls > out", "fs.write out"),
        ("sort < in >> out 2>&1", "fs.read in, fs.write out"),
        ("cat .env a/b", "fs.read .env, fs.read a/b"),
        ("grep -r key src", "fs.read src"),
        ("sed -i s/a/b/ x", "fs.write x"),
        ("rm -rf build", "fs.delete build"),
        ("cp a b", "fs.read a, fs.write b"),
        ("mv a b", "fs.read a, fs.delete a, fs.write b"),
        (
            "ln -s ../x a/b",
            "fs.read a/../x, fs.write a/b, fs.read a/b/../x",
        ),
        (
            "cd a && mkdir b && ln -sf x b/",
            "fs.read a, fs.write a/b, fs.read a/x, fs.write a/b/, fs.read a/b/x",
        ),
        ("ln -s ../x b", "fs.read ../x, fs.write b, fs.read b/../x"),
        (
            "ln -s x y a",
            "fs.read x, fs.read y, fs.write a, fs.read a/x, fs.read a/y",
        ),
        ("ln -s /x a/b", "fs.read /x, fs.write a/b"),
        ("ln -s x /b", "fs.read /x, fs.write /b, fs.read /b/x"),
        ("ln -s ../x", "fs.write ../x"),
        ("ln ../x a/b", "fs.read ../x, fs.write a/b"),
        ("ln -sr ../x a/b", "fs.read ../x, fs.write a/b"),
        ("ln -s ../x a/b -r", "fs.read ../x, fs.write a/b"),
        ("ln -s --rel ../x a/b", "fs.read ../x, fs.write a/b"),
        ("ln -st a ../x b", "fs.read a, fs.read ../x, fs.write b"),
        // As written, and where the variable is empty.
        (
            "ln -s ../x $a/b",
            "fs.read /../x, fs.write /b, fs.read /b/../x, fs.read ../x, fs.write $a/b",
        ),
        // The link may be made where another one leads.
        (
            "ln -s . a && ln -s ../x a/b",
            "fs.read ., fs.write a, fs.read ../x, fs.write a/b",
        ),
        (
            "sh -c 'ln -s ../x a/b'",
            "fs.read ../x, fs.write a/b, fs.read ln -s ../x a/b",
        ),
        (
            "for i in 1 2; do ln -s ../../x a/b/c; done",
            "fs.read ../../x, fs.write a/b/c",
        ),
        (
            "PATH=. mkdir a && ln -s ../x a/b",
            "fs.write a, fs.read ../x, fs.write a/b",
        ),
        ("cp -t dir a", "fs.write dir, fs.read a"),
        ("dd if=a of=b", "fs.read a, fs.write b"),
        ("find src -name x -delete", "fs.delete src"),
        (
            "curl -o x https://a.b/c",
            "fs.write x, net.fetch https://a.b/c",
        ),
        ("curl -d @k https://a.b", "fs.read k, net.fetch https://a.b"),
        ("ssh me@host true", "net.fetch host"),
        ("git clone git@host.a:b/c", "net.fetch host.a"),
        ("cd src && cat x", "fs.read src, fs.read src/x"),
        ("cd src; cat x", "fs.read src, fs.read src/x, fs.read x"),
        ("cd src && ls && cd ..", "fs.read src"),
        ("sudo cat /etc/shadow", "fs.read /etc/shadow"),
        ("echo $(cat k)", "fs.read k"),
        ("chmod 600 k", "fs.write k"),
        ("tee out", "fs.write out"),
        ("cat $x", "fs.read $x"),
        ("echo hello", ""),
    ] {
        let seen: Vec<String> = parse_command(command)
            .accesses()
            .iter()
            .filter(|touch| !touch.is_possible_use)
            .map(|touch| format!("{} {}", touch.capability.as_str(), touch.target))
            .collect();
        assert_eq!(seen.join(", "), expected, "{command}");
    }
}

#[test]
fn programs_that_only_report_are_expected_to_change_nothing() {
    for command in [
        "git status",
        "git -C app --no-pager log -3",
        "ls -la src | head -5",
        "cat *.txt 2>/dev/null",
        "cd app && rg -n needle",
        "find . -name '*.rs' | xargs wc -l",
        "timeout 5 grep -r needle . || true",
        "for f in $(ls); do wc -l $f; done",
        "sed -n 1,5p x",
        "tail -n 5 log",
        "echo done",
    ] {
        assert!(parse_command(command).expects_no_change(), "{command}");
    }
    for command in [
        "",
        "git commit -m x",
        "git -C status add x",
        "ls > listing",
        "cp a b",
        "rm x",
        "sed -i s/a/b/ x",
        "sort -o out x",
        "cat x | tee y",
        "make",
        "cargo test",
        "./report.sh",
        "ls && touch x",
        "bash -c 'touch x'",
        "find . -delete",
        "find . -exec rm {} +",
        "echo begun; sleep 60",
        "tail -f log",
        "tail --follow=name log",
    ] {
        assert!(!parse_command(command).expects_no_change(), "{command}");
    }
}
