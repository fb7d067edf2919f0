//! Options with which a program that is harmless by itself runs another, or code: the commands that they run are
//! followed for a deny, and no open rule for the program covers them.

use crate::shell::programs::inner_commands::InnerCommand;
use crate::shell::programs::languages;
use crate::shell::tables::{OptionRow, OptionValue, list_has_word, option_rows};
use crate::shell::{short_options, split_option};

use OptionValue::{Code, DatabaseQuery};

/// Whether a program is there to run code of a language of its own.
pub(in crate::shell) fn is_interpreter(program: &str) -> bool {
    option_rows(program).any(|row| row.value == Code)
}

/// Whether the input of a program may hold texts for a shell.
pub(in crate::shell) fn may_read_scripts(program: &str) -> bool {
    option_rows(program).any(|row| matches!(row.value, Code | DatabaseQuery))
}

/// The commands that a program's options run, and the first option for which no rule may allow the program.
#[derive(Debug, Default)]
pub(in crate::shell) struct ProgramRuns {
    pub inner: Vec<InnerCommand>,
    pub refusal: Option<String>,
}

/// Looks at the options of a program.
pub(in crate::shell) fn inspect_options(program: &str, list: &[String]) -> ProgramRuns {
    let mut runs = ProgramRuns::default();
    for row in option_rows(program) {
        let end = operands_start(row, list);
        for option in row.options.iter() {
            for (at, word, value) in find_option_values(option, list) {
                add_option_value(row, at < end, &word, value, &mut runs);
            }
        }
        // A client of a database takes commands of its own as operands too: `.shell rm x`.
        let of_its_own = |word: &&String| word.starts_with('.') && !word.starts_with("./");
        for word in list[1..]
            .iter()
            .filter(|word| row.value == DatabaseQuery && of_its_own(word))
        {
            add_option_value(row, true, "a command of its own", word.clone(), &mut runs);
        }
    }
    for (name, value) in ssh_options(program, list) {
        runs.refuse_allow(&name);
        runs.inner.push(InnerCommand::Script(value));
    }
    languages::inspect_program(program, list, &mut runs);
    runs
}

impl ProgramRuns {
    /// Records the first option for which no rule may allow the program.
    pub fn refuse_allow(&mut self, what: &str) {
        self.refusal.get_or_insert_with(|| what.to_owned());
    }
}

/// Where the operands of a program begin, where its options end there.
fn operands_start(row: &OptionRow, list: &[String]) -> usize {
    if row.values.is_empty() {
        return list.len();
    }
    let mut at = 1;
    while let Some(word) = list.get(at).filter(|word| word.starts_with('-')) {
        // `python -m module` ends the options too: the rest is for the module.
        if word == "-m" {
            return at;
        }
        // Behind an option that is not known its value may stand, which is no operand.
        let is_unknown = word.starts_with("--") && !word.contains('=');
        if row.value == OptionValue::Code && is_unknown && !row.values.contains(word) {
            return list.len();
        }
        at += 1 + usize::from(row.values.contains(word));
    }
    at
}

fn add_option_value(
    row: &OptionRow,
    counts: bool,
    option: &str,
    value: String,
    runs: &mut ProgramRuns,
) {
    if !row.after.is_empty() && !value.contains(&row.after) {
        return;
    }
    let value = match value.split_once(&row.after) {
        Some((_, value)) if !row.after.is_empty() => value.to_owned(),
        _ => value,
    };
    const CLIENT: [&str; 8] = [
        "\\!", "\\o", "\\g", "\\copy", ".", "program", "system", "outfile",
    ];
    let harmless =
        row.value == DatabaseQuery && !CLIENT.iter().any(|way| value.to_lowercase().contains(way));
    if counts && !harmless {
        runs.refuse_allow(option);
    }
    match row.value {
        OptionValue::Script => runs.inner.push(InnerCommand::Script(value)),
        OptionValue::Code | OptionValue::DatabaseQuery => runs
            .inner
            .extend(find_quoted_scripts(&value).map(InnerCommand::Script)),
        OptionValue::Opaque => {}
    }
}

/// Every place where an option is given, with its value. A long option may be cut short, and a letter stand among
/// others.
fn find_option_values(option: &str, list: &[String]) -> Vec<(usize, String, String)> {
    let mut places = Vec::new();
    for (at, word) in list.iter().enumerate().skip(1) {
        let next = || list.get(at + 1).cloned().unwrap_or_default();
        if word == "--" {
            break;
        }
        if let Some(single) = option.strip_prefix('-') {
            // `-exec` of programs with one dash.
            let (name, value) = split_option(word);
            if name.trim_start_matches('-') == single && name.starts_with('-') {
                places.push((at, word.clone(), value.map_or_else(next, str::to_owned)));
            }
        } else if option.len() == 1 {
            if let Some(letters) = short_options(word)
                && let Some((_, rest)) = letters.split_once(option)
            {
                places.push((
                    at,
                    word.clone(),
                    if rest.is_empty() {
                        next()
                    } else {
                        rest.to_owned()
                    },
                ));
            }
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = split_option(long);
            if !name.is_empty() && option.starts_with(name) {
                places.push((
                    at,
                    format!("--{option}"),
                    value.map_or_else(next, str::to_owned),
                ));
            }
        } else if word.strip_prefix('-').is_some_and(|short| short == option) {
            places.push((at, word.clone(), next()));
        }
    }
    places
}

/// `ssh -o ProxyCommand=…` and its like.
fn ssh_options(program: &str, list: &[String]) -> Vec<(String, String)> {
    if !list_has_word("ssh scp sftp slogin autossh sshfs rsync", program) {
        return Vec::new();
    }
    let keys = [
        "proxycommand",
        "localcommand",
        "knownhostscommand",
        "remotecommand",
    ];
    let mut settings = Vec::new();
    for (_, _, option) in find_option_values("o", list) {
        let (key, value) = option.split_once(['=', ' ']).unwrap_or((&option, ""));
        if keys.contains(&key.trim().to_lowercase().as_str()) {
            settings.push((format!("-o {key}"), value.to_owned()));
        }
    }
    settings
}

/// Finds texts in code that the code may give to a shell: those between quotes, if the code names a way to run
/// something.
pub(in crate::shell) fn find_quoted_scripts(code: &str) -> impl Iterator<Item = String> + use<> {
    const WAYS: [&str; 14] = [
        "system", "popen", "exec", "spawn", "run", "call", "check_", "`", "%x", "qx", "shell", "!",
        "|", "open",
    ];
    let mut texts = Vec::new();
    if WAYS.iter().any(|way| code.contains(way)) {
        for quote in ['"', '\'', '`'] {
            texts.extend(code.split(quote).skip(1).step_by(2).map(str::to_owned));
        }
        // A list of words is a command too: `["rm", "x"]`.
        if let Some((_, rest)) = code.split_once('[')
            && let Some((words, _)) = rest.split_once(']')
        {
            texts.push(words.replace([',', '"', '\''], " "));
        }
        // `:!rm x` of an editor, `\! rm x` of a client of a database, `shell rm x` of a
        // debugger, `spawn rm x` of expect.
        for way in ["!", "shell ", ".system ", "spawn "] {
            texts.extend(code.split_once(way).map(|(_, text)| text.to_owned()));
        }
    }
    texts.into_iter()
}
