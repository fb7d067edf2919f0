//! Programs whose arguments are a language of their own: `git`, `sed`, `awk`, and the built-ins that evaluate names.

use super::extent::inner_scripts;
use super::flags::{Found, texts_in_code};
use super::unwrap::Inner;
use super::wrappers::has;

/// Looks at what a program is told to run in its own language.
pub(super) fn look(program: &str, list: &[String], found: &mut Found) {
    runners(program, list, found);
    for (_, commands) in SHELLS.iter().filter(|(programs, _)| has(programs, program)) {
        if let Some(command) = list[1..].iter().find(|word| has(commands, word)) {
            found.refuse(command);
        }
    }
    match program {
        "service" | "socat" => names_program(list, found),
        "git" => super::git::look(list, found),
        "sed" | "gsed" => sed(list, found),
        "awk" | "gawk" | "mawk" | "nawk" | "busybox-awk" => super::awk::look(list, found),
        "make" | "gmake" | "bmake" | "remake" => make(list, found),
        "tar" | "gtar" | "bsdtar" => tar_bundle(list, found),
        "uniq" | "guniq" | "xxd" => second_operand(list, found),
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
            "printf" if at > 2 || !list[1].starts_with("-v") => continue,
            "printf" => word.strip_prefix("-v").unwrap_or(word),
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
    ("direnv ip", "exec", 1),
    (
        "tmux",
        "new-session new new-window neww split-window splitw respawn-pane respawnp respawn-window respawnw \
         display-popup popup run-shell run if-shell if pipe-pane pipep send-keys send",
        0,
    ),
    ("dotnet cargo go", "exec", 0),
];

/// Sub-commands that run what follows them, and nobody needs with whatever follows.
const SHELLS: &[(&str, &str)] = &[
    ("ansible-test cdist", "shell"),
    ("csvtool", "call"),
    ("task", "execute exec"),
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

/// `make` runs its recipes by what `SHELL` names, and evaluates `$(shell …)` in the value of any variable.
fn make(list: &[String], found: &mut Found) {
    for word in &list[1..] {
        let Some((name, value)) = word.split_once('=').filter(|_| !word.starts_with('-')) else {
            continue;
        };
        let name = name.trim_end_matches([':', '?', '+', ' ']);
        if has("SHELL MAKEFLAGS GNUMAKEFLAGS MAKEFILES", name) || name.ends_with('!') {
            found.refuse(name);
            found.inner.push(Inner::Script(value.to_owned()));
        } else if value.contains("$(") || value.contains("${") {
            found.refuse("a variable that is evaluated");
            let text = value.trim_end_matches([')', '}']);
            found.inner.extend(texts_in_code(text).map(Inner::Script));
        }
    }
}

/// `service ../../x`, `socat - exec:./x`: a word that names a program where a name is expected.
fn names_program(list: &[String], found: &mut Found) {
    let starts = ["exec:", "system:", "shell:"];
    for word in &list[1..] {
        let lower = word.to_lowercase();
        if let Some(start) = starts.iter().find(|start| lower.starts_with(**start)) {
            found.refuse(start);
            found
                .inner
                .push(Inner::Script(word[start.len()..].to_owned()));
        } else if list[0] == "service" && word.contains('/') {
            found.refuse(word);
        }
    }
}

/// `tar cIf ./x y.tar z`: letters without a dash, whose values follow one another.
fn tar_bundle(list: &[String], found: &mut Found) {
    let Some(letters) = list.get(1).filter(|word| !word.starts_with('-')) else {
        return;
    };
    let mut values = list.iter().skip(2);
    for letter in letters
        .chars()
        .filter(|letter| "bCfFgHIKLNTVX".contains(*letter))
    {
        let value = values.next();
        if matches!(letter, 'I' | 'F') {
            found.refuse(letters);
            found.inner.extend(value.cloned().map(Inner::Script));
        }
    }
}

/// A program that reads its first operand and writes its second.
fn second_operand(list: &[String], found: &mut Found) {
    let operands = list[1..]
        .iter()
        .filter(|word| !word.starts_with('-') || *word == "-");
    if operands.count() > 1 {
        found.refuse("a second operand");
    }
}

/// `sed` runs what its `e` says and writes what its `w` names.
fn sed(list: &[String], found: &mut Found) {
    let scripts = super::sed::scripts(list);
    if let Some(option) = scripts.file {
        found.refuse(&option);
    }
    for script in scripts.texts {
        if let Some(runs) = super::sed::executes(&script) {
            found.refuse("the command `e` or `w` of sed");
            found.inner.extend(runs.into_iter().map(Inner::Script));
        }
    }
}
