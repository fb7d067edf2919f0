//! The names under which a rule may know a command: options between a program and its sub-command hide nothing.

use crate::shell::programs::foreign_shell::strip_executable_ending;
use crate::shell::tables::wrapper::list_has_word;

/// Programs with sub-commands, and the options before these that take the next word.
const SUBCOMMAND_PROGRAMS: &[(&str, &str)] = &[
    (
        "git",
        "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source",
    ),
    (
        "docker podman nerdctl docker-compose",
        "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name --url --connection",
    ),
    (
        "kubectl oc helm k9s",
        "-n --namespace --context --cluster --kubeconfig -s --server --user --token --as --kube-context",
    ),
    (
        "cargo rustup cross",
        "--config -C --color -Z --target-dir --manifest-path",
    ),
    (
        "npm pnpm yarn bun npx",
        "--prefix -C --dir --cwd -w --workspace --filter -F --loglevel --registry",
    ),
    ("gh glab hub", "-R --repo --hostname"),
    (
        "systemctl service loginctl journalctl",
        "-H --host -M --machine -t --type -p --property -o --output -n --root",
    ),
    (
        "apt apt-get dnf yum zypper pacman brew apk pip pip3 uv poetry gem bundle conda mamba",
        "-o -c -t --config-file --target-release --python --log --proxy --directory --project -C",
    ),
    (
        "make gmake ninja cmake just task",
        "-C -f --file --directory -j --jobs -o -W --include-dir -I -d --working-directory --justfile",
    ),
    (
        "terraform tofu aws gcloud az fly heroku vercel",
        "--profile --region --output --endpoint-url --project --account --subscription -g --app -a",
    ),
    (
        "go svn hg jj bzr",
        "-C -R --repository --cwd --config --config-file",
    ),
    ("tmux screen", "-L -S -f -c"),
];

/// The word list under every name, the first with the program's base name.
pub(in crate::shell) fn list_command_names(list: &[String], program: &str) -> Vec<Vec<String>> {
    let with = |name: &str| {
        let mut words = list.to_vec();
        words[0] = name.to_owned();
        words
    };
    let mut lists = vec![with(program)];
    let short = strip_executable_ending(program);
    for name in [list[0].as_str(), short] {
        if name != program {
            lists.push(with(name));
        }
    }
    if let Some(words) = strip_global_options(list, short) {
        lists.push(words);
    }
    lists
}

/// `git -C x --no-pager push` as `git push`.
fn strip_global_options(list: &[String], program: &str) -> Option<Vec<String>> {
    let (_, values) = SUBCOMMAND_PROGRAMS
        .iter()
        .find(|(programs, _)| list_has_word(programs, program))?;
    let mut at = 1;
    while let Some(word) = list.get(at) {
        let is_toolchain = word.starts_with('+') && matches!(program, "cargo" | "rustup");
        if !word.starts_with('-') && !is_toolchain {
            break;
        }
        at += 1 + usize::from(list_has_word(values, word));
    }
    if at == 1 || at >= list.len() {
        return None;
    }
    let mut words = vec![program.to_owned()];
    words.extend_from_slice(&list[at..]);
    Some(words)
}
