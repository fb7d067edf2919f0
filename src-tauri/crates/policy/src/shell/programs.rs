//! Programs whose arguments are a language of their own: `git`, `sed`, `awk`, and the built-ins that evaluate names.

use super::extent::inner_scripts;
use super::flags::{Found, texts_in_code};
use super::unwrap::Inner;
use super::wrappers::has;

/// Looks at what a program is told to run in its own language.
pub(super) fn look(program: &str, list: &[String], found: &mut Found) {
    runners(program, list, found);
    match program {
        "git" => git(list, found),
        "sed" | "gsed" => sed(list, found),
        "awk" | "gawk" | "mawk" | "nawk" | "busybox-awk" => awk(list, found),
        "make" | "gmake" | "bmake" | "remake" => make(list, found),
        "let" | "declare" | "typeset" | "local" | "export" | "readonly" | "test" | "["
        | "unset" | "read" | "printf" | "wait" | "getopts" => names(program, list, found),
        "vim" | "vi" | "nvim" | "view" | "ex" | "less" | "more" => {
            for word in list[1..].iter().filter(|word| word.starts_with('+')) {
                found.refuse(word);
                found.inner.extend(texts_in_code(word).map(Inner::Script));
            }
        }
        _ => {}
    }
}

/// A name with a subscript is evaluated, and a substitution in it runs even from between single quotes.
fn names(program: &str, list: &[String], found: &mut Found) {
    let compares = |word: &String| has("-v -eq -ne -lt -le -gt -ge", word);
    for (at, word) in list.iter().enumerate().skip(1) {
        let text = match program {
            "let" | "declare" | "typeset" | "local" => word.as_str(),
            "printf" if at != 2 || list[1] != "-v" => continue,
            "test" | "[" if !list.iter().any(compares) => continue,
            _ => word.split('=').next().unwrap_or_default(),
        };
        if text.contains('[') {
            for script in inner_scripts(text) {
                found.refuse("a subscript");
                found.inner.push(Inner::Script(script));
            }
        }
    }
}

/// Programs that run another one after a sub-command, and how many operands stand between: a rule may allow these with
/// what they run, a deny on what they run still holds.
const RUNNERS: &[(&str, &str, usize)] = &[
    (
        "uv poetry pipenv pdm hatch rye conda mamba op nix perf",
        "run tool record stat",
        0,
    ),
    (
        "bundle npm pnpm yarn bun mise asdf rbenv pyenv nix",
        "exec x dlx",
        0,
    ),
    (
        "docker podman nerdctl docker-compose kubectl oc",
        "exec run",
        1,
    ),
    ("direnv", "exec", 1),
    (
        "tmux",
        "new-session new new-window neww split-window splitw respawn-pane respawnp respawn-window respawnw \
         display-popup popup run-shell run if-shell if pipe-pane pipep send-keys send",
        0,
    ),
    ("dotnet cargo go", "exec", 0),
];

/// Whether a program runs another one after one of these sub-commands.
pub(super) fn is_runner(program: &str, rest: &[String]) -> bool {
    RUNNERS.iter().any(|(programs, commands, _)| {
        has(programs, program) && rest.iter().any(|word| has(commands, word))
    })
}

fn runners(program: &str, list: &[String], found: &mut Found) {
    for (_, commands, operands) in RUNNERS
        .iter()
        .filter(|(programs, ..)| has(programs, program))
    {
        let Some(at) = list.iter().position(|word| has(commands, word)) else {
            continue;
        };
        let rest = &list[at + 1..];
        let start = match rest.iter().position(|word| word == "--") {
            Some(end) => end + 1,
            None => {
                rest.iter()
                    .position(|word| !word.starts_with('-'))
                    .unwrap_or(rest.len())
                    + operands
            }
        };
        // An option may have taken the next word: what follows is looked at too.
        for start in start..(start + 2).min(rest.len()) {
            found.inner.push(Inner::Words(rest[start..].to_vec()));
        }
        // It gives each operand to a shell, and its options take values.
        if program == "tmux" {
            let texts = rest.iter().filter(|word| !word.starts_with('-'));
            found.inner.extend(texts.cloned().map(Inner::Script));
        }
    }
}

/// Settings of git whose value it runs.
fn git_runs(key: &str) -> bool {
    let key = key.to_lowercase();
    let last = key.rsplit('.').next().unwrap_or_default();
    key.starts_with("alias.")
        || key.starts_with("pager.")
        || has(
            "pager editor sshcommand fsmonitor hookspath askpass gitproxy external textconv command clean smudge \
             process cmd path helper program driver uploadpack receivepack attributesfile worktree sshvariant \
             sequence.editor browser update vcs allow templatedir",
            last,
        )
}

fn git(list: &[String], found: &mut Found) {
    let mut at = 1;
    // Options before the sub-command.
    while let Some(word) = list.get(at).filter(|word| word.starts_with('-')) {
        at += 1;
        if word == "-c" || word == "--config-env" {
            if let Some(setting) = list.get(at) {
                found.refuse(word);
                setting_runs(setting.split_once('='), found);
            }
            at += 1;
        } else if let Some(setting) = word.strip_prefix("-c").filter(|_| !word.starts_with("--")) {
            found.refuse(word);
            setting_runs(setting.split_once('='), found);
        } else if word.starts_with("--exec-path=") || word.starts_with("--config-env=") {
            found.refuse(word);
        } else if has(
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
        let (name, value) = word
            .split_once('=')
            .map_or((word.as_str(), None), |(n, v)| (n, Some(v)));
        let takes = match command {
            "rebase" => has("-x --exec", name),
            "difftool" | "mergetool" => has("-x --extcmd", name),
            "clone" | "fetch" | "pull" | "ls-remote" | "push" | "fetch-pack" | "archive"
            | "send-pack" => {
                has("-u --upload-pack --receive-pack --exec", name)
                    && (name != "-u" || command == "clone")
            }
            "filter-branch" => name.ends_with("-filter"),
            "grep" => name.starts_with("-O") || name == "--open-files-in-pager",
            "send-email" => has("--sendmail-cmd --to-cmd --cc-cmd --header-cmd", name),
            _ => false,
        };
        if takes {
            found.refuse(name);
            let value = match (
                value,
                name.strip_prefix("-O").filter(|rest| !rest.is_empty()),
            ) {
                (Some(value), _) => Some(value.to_owned()),
                (None, Some(rest)) => Some(rest.to_owned()),
                (None, None) => next.cloned(),
            };
            found.inner.extend(value.map(Inner::Script));
        }
        if word == "--ext-diff" || word == "--textconv" && command != "grep" {
            found.refuse(word);
        }
        if let Some((_, text)) = word.split_once("ext::") {
            found.refuse("ext::");
            found.inner.push(Inner::Script(text.to_owned()));
        }
        if matches!(command, "clone" | "init" | "submodule")
            && matches!(word.as_str(), "-c" | "--config")
        {
            found.refuse(word);
            setting_runs(next.and_then(|setting| setting.split_once('=')), found);
        }
    }
    let words = |from: usize| rest.get(from..).unwrap_or_default().to_vec();
    match (command, rest.first().map(String::as_str)) {
        ("bisect", Some("run")) => found.run_words("bisect run", words(1)),
        ("submodule", Some("foreach")) => {
            let skip = 1 + usize::from(rest.get(1).is_some_and(|word| word == "--recursive"));
            found.refuse("submodule foreach");
            found.inner.push(Inner::Script(words(skip).join(" ")));
        }
        ("config", _) => {
            let operands: Vec<&String> =
                rest.iter().filter(|word| !word.starts_with('-')).collect();
            let operands = match operands.first().map(|word| word.as_str()) {
                Some("set" | "add") => &operands[1..],
                _ => &operands[..],
            };
            if let [key, value, ..] = operands
                && git_runs(key)
            {
                found.refuse(key);
                setting_runs(Some((key, value)), found);
            }
        }
        _ => {}
    }
}

fn setting_runs(setting: Option<(&str, &str)>, found: &mut Found) {
    let Some((key, value)) = setting else {
        return;
    };
    if git_runs(key) {
        let text = value.strip_prefix('!').unwrap_or(value);
        found.inner.push(Inner::Script(text.to_owned()));
        if key.to_lowercase().starts_with("alias.") && !value.starts_with('!') {
            found.inner.push(Inner::Script(format!("git {value}")));
        }
    }
}

impl Found {
    fn run_words(&mut self, what: &str, words: Vec<String>) {
        self.refuse(what);
        if !words.is_empty() {
            self.inner.push(Inner::Words(words));
        }
    }
}

/// `make` runs its recipes by what `SHELL` names, and evaluates `$(shell …)` in the value of any variable.
fn make(list: &[String], found: &mut Found) {
    for word in &list[1..] {
        let Some((name, value)) = word.split_once('=').filter(|_| !word.starts_with('-')) else {
            continue;
        };
        let name = name.trim_end_matches([':', '?', '+', ' ']);
        if name == "SHELL" || name.ends_with('!') {
            found.refuse(name);
            found.inner.push(Inner::Script(value.to_owned()));
        } else if value.contains("$(") || value.contains("${") {
            found.refuse("a variable that is evaluated");
            let text = value.trim_end_matches([')', '}']);
            found.inner.extend(texts_in_code(text).map(Inner::Script));
        }
    }
}

/// `sed` runs what its `e` says and writes what its `w` names.
fn sed(list: &[String], found: &mut Found) {
    let mut scripts = Vec::new();
    let mut has_option = false;
    let mut operand = None;
    let mut at = 1;
    while let Some(word) = list.get(at) {
        at += 1;
        match word.as_str() {
            "-e" | "--expression" => {
                scripts.extend(list.get(at).cloned());
                has_option = true;
                at += 1;
            }
            "-f" | "--file" => {
                found.refuse(word);
                has_option = true;
                at += 1;
            }
            _ if word.starts_with("--expression=") || word.starts_with("--file=") => {
                let text = word.split_once('=').map_or("", |(_, text)| text);
                match word.starts_with("--file") {
                    true => found.refuse("--file"),
                    false => scripts.push(text.to_owned()),
                }
                has_option = true;
            }
            _ if word.starts_with("--") => {}
            _ if word.starts_with('-') && word.len() > 1 => {
                // `-ne 's/a/b/'`, `-i.bak`: letters after `i` are its ending.
                let letters = word[1..].split('i').next().unwrap_or_default();
                if letters.contains('f') {
                    found.refuse(word);
                    has_option = true;
                } else if let Some((_, text)) = letters.split_once('e') {
                    has_option = true;
                    if text.is_empty() {
                        scripts.extend(list.get(at).cloned());
                        at += 1;
                    } else {
                        scripts.push(word.split_once('e').map_or("", |(_, text)| text).to_owned());
                    }
                }
            }
            _ => drop(operand.get_or_insert(word.clone())),
        }
    }
    if !has_option {
        scripts.extend(operand);
    }
    for script in scripts {
        if let Some(runs) = super::sed::executes(&script) {
            found.refuse("the command `e` or `w` of sed");
            found.inner.extend(runs.into_iter().map(Inner::Script));
        }
    }
}

/// `awk` runs what it gives to `system`, or reads from or writes to through a pipe or a file.
fn awk(list: &[String], found: &mut Found) {
    for word in &list[1..] {
        let takes_file =
            word.starts_with("-f") || word.starts_with("--file") || word.starts_with("-l");
        let ways = [
            "system", "|", "getline", "@load", "@include", "print >", "printf >", ">",
        ];
        let is_program = word.contains(['{', '(']);
        if takes_file {
            found.refuse("a file of awk commands");
        } else if is_program && ways.iter().any(|way| word.contains(way)) {
            let runs = ["system", "|", "getline", "@load", "@include"]
                .iter()
                .any(|way| word.contains(way));
            // A `>` may only compare: what it writes to begins with a quote.
            let writes = word
                .split('>')
                .skip(1)
                .any(|after| after.trim_start().starts_with(['"', '(', '>']));
            if runs || writes {
                found.refuse("what awk runs or writes");
            }
            found.inner.extend(texts_in_code(word).map(Inner::Script));
        }
    }
}
