//! The commands that `git` runs and the files that it writes because of its arguments.

use crate::shell::programs::inner_commands::InnerCommand;
use crate::shell::programs::options::ProgramRuns;
use crate::shell::tables::list_has_word;
use crate::shell::{short_options, split_option};

/// Settings of git whose value it runs.
fn is_executing_setting(key: &str) -> bool {
    let key = key.to_lowercase();
    let last = key.rsplit('.').next().unwrap_or_default();
    key.starts_with("alias.")
        || key.starts_with("pager.")
        || list_has_word(
            "pager editor sshcommand fsmonitor hookspath askpass gitproxy external textconv command clean smudge \
             process cmd path helper program driver uploadpack receivepack attributesfile worktree sshvariant \
             sequence.editor browser update vcs allow templatedir",
            last,
        )
}

/// Finds the commands that `git` is told to run and the files that it is told to write.
pub(in crate::shell) fn inspect_git(list: &[String], runs: &mut ProgramRuns) {
    let mut at = 1;
    // Options before the sub-command.
    while let Some(word) = list.get(at).filter(|word| word.starts_with('-')) {
        at += 1;
        if word == "-c" || word == "--config-env" {
            if let Some(setting) = list.get(at) {
                runs.refuse_allow(word);
                inspect_assignment(setting, runs);
            }
            at += 1;
        } else if let Some(setting) = word.strip_prefix("-c").filter(|_| !word.starts_with("--")) {
            runs.refuse_allow(word);
            inspect_assignment(setting, runs);
        } else if word.starts_with("--exec-path=") || word.starts_with("--config-env=") {
            runs.refuse_allow(word);
        } else if list_has_word(
            "-C --git-dir --work-tree --namespace --super-prefix --attr-source",
            word,
        ) {
            at += 1;
        }
    }
    let command = list.get(at).map_or("", String::as_str);
    let rest = list.get(at + 1..).unwrap_or_default();
    for (place, word) in rest.iter().enumerate() {
        let next = rest.get(place + 1);
        let (name, value) = split_option(word);
        // A long option may be cut short.
        let is = |wholes: &str| {
            name.len() > 2
                && name.starts_with("--")
                && wholes.split(' ').any(|one| one.starts_with(name))
        };
        let takes = match command {
            "rebase" => name.starts_with("-x") || is("--exec"),
            "difftool" | "mergetool" => name.starts_with("-x") || is("--extcmd"),
            "clone" | "fetch" | "pull" | "ls-remote" | "push" | "fetch-pack" | "archive"
            | "send-pack" => {
                is("--upload-pack --receive-pack --exec") || name == "-u" && command == "clone"
            }
            "filter-branch" => name.ends_with("-filter"),
            "grep" => is_pager_option(name) || is("--open-files-in-pager"),
            "send-email" => is("--sendmail-cmd --to-cmd --cc-cmd --header-cmd"),
            _ => false,
        };
        if takes {
            runs.refuse_allow(name);
            let value = value.or_else(|| attached_value(command, name));
            let value = value.map(str::to_owned).or_else(|| next.cloned());
            runs.inner.extend(value.map(InnerCommand::Script));
        }
        if is("--ext-diff") || is("--textconv") && command != "grep" {
            runs.refuse_allow(word);
        }
        // It reads otherwise, and overwrites that file.
        if is("--output") && list_has_word(SHOW_COMMANDS, command) {
            runs.refuse_allow("--output");
        }
        if let Some((_, text)) = word.split_once("ext::") {
            runs.refuse_allow("ext::");
            runs.inner.push(InnerCommand::Script(text.to_owned()));
        }
        if matches!(command, "clone" | "init" | "submodule")
            && matches!(word.as_str(), "-c" | "--config")
        {
            runs.refuse_allow(word);
            if let Some(setting) = next {
                inspect_assignment(setting, runs);
            }
        }
    }
    let words = |from: usize| rest.get(from..).unwrap_or_default().to_vec();
    match (command, rest.first().map(String::as_str)) {
        ("bisect", Some("run")) => runs.add_run("bisect run", words(1)),
        ("submodule", Some("foreach")) => {
            let skip = 1 + usize::from(rest.get(1).is_some_and(|word| word == "--recursive"));
            runs.refuse_allow("submodule foreach");
            runs.inner.push(InnerCommand::Script(words(skip).join(" ")));
        }
        ("config", _) => {
            let operands: Vec<&String> =
                rest.iter().filter(|word| !word.starts_with('-')).collect();
            let operands = match operands.first().map(|word| word.as_str()) {
                Some("set" | "add") => &operands[1..],
                _ => &operands[..],
            };
            if let [key, value, ..] = operands
                && is_executing_setting(key)
            {
                runs.refuse_allow(key);
                inspect_setting(key, value, runs);
            }
        }
        _ => {}
    }
}

/// Sub-commands that show something, or write it to a file that `--output` names.
const SHOW_COMMANDS: &str = "log diff show whatchanged diff-tree diff-index diff-files range-diff reflog stash blame shortlog";

/// `-O`, alone or among other letters.
fn is_pager_option(name: &str) -> bool {
    // Letters behind one that takes a value belong to that.
    let flags = short_options(name)
        .and_then(|letters| letters.split(['e', 'f', 'A', 'B', 'C', 'm']).next());
    flags.is_some_and(|flags| flags.contains('O'))
}

/// Returns the value attached to the letter of an option that runs something.
fn attached_value<'n>(command: &str, name: &'n str) -> Option<&'n str> {
    let letter = match command {
        "grep" => 'O',
        _ => 'x',
    };
    let (_, rest) = short_options(name)?.split_once(letter)?;
    Some(rest).filter(|rest| !rest.is_empty())
}

/// Looks at a setting as `-c` takes it: `key=value`.
fn inspect_assignment(setting: &str, runs: &mut ProgramRuns) {
    if let Some((key, value)) = setting.split_once('=') {
        inspect_setting(key, value, runs);
    }
}

fn inspect_setting(key: &str, value: &str, runs: &mut ProgramRuns) {
    if is_executing_setting(key) {
        let text = value.strip_prefix('!').unwrap_or(value);
        runs.inner.push(InnerCommand::Script(text.to_owned()));
        if key.to_lowercase().starts_with("alias.") && !value.starts_with('!') {
            runs.inner
                .push(InnerCommand::Script(format!("git {value}")));
        }
    }
}

impl ProgramRuns {
    fn add_run(&mut self, what: &str, words: Vec<String>) {
        self.refuse_allow(what);
        if !words.is_empty() {
            self.inner.push(InnerCommand::Words(words));
        }
    }
}
