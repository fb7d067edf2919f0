//! The commands that a command runs in turn: wrappers removed, texts for other shells found.

use crate::shell::programs::{foreign_shell, launchers, options, stdin_runners};
use crate::shell::tables::{Words, Wrapper, WrapperKind, find_wrapper, list_has_word};
use crate::shell::{program_base_name, short_options, split_option};

/// Something that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::shell) enum InnerCommand {
    /// A program with its arguments.
    Words(Vec<String>),
    /// Values of `$1` and `$@` in the texts that follow.
    Parameters(Vec<String>),
    /// A text for a shell.
    Script(String),
}

/// Whether a program runs what its arguments name.
pub(in crate::shell) fn is_wrapper(program: &str) -> bool {
    find_wrapper(program).is_some() || matches!(program, "find" | "trap" | "git")
}

/// Whether a program runs the files that its words name.
pub(in crate::shell) fn runs_files(program: &str) -> bool {
    matches!(program, "source" | ".")
        || find_wrapper(program).is_some_and(|wrapper| wrapper.kind == WrapperKind::Shell)
}

/// Programs that hand their words on to the one that they run, as they are.
pub(in crate::shell) const PLAIN_RUNNERS: &str = "env timeout time nice nohup stdbuf xargs";

/// Whether a program runs others in the folder that it was started in.
pub(in crate::shell) fn keeps_folder(program: &str, list: &[String]) -> bool {
    let has_option = |is_meant: fn(&str) -> bool| list[1..].iter().any(|word| is_meant(word));
    match program {
        // `-C folder`, among other letters as well, and `--chdir`, cut or not.
        "env" => !has_option(|word| {
            word.starts_with("--c")
                || short_options(word).is_some_and(|letters| letters.contains('C'))
        }),
        "find" => !has_option(|word| matches!(word, "-execdir" | "-okdir")),
        _ => {
            list_has_word("bash sh dash zsh ksh", program) || list_has_word(PLAIN_RUNNERS, program)
        }
    }
}

/// Everything that a command runs in turn, as far as its words and its input say it.
pub(in crate::shell) fn find_inner_commands(
    program: &str,
    list: &[String],
    input: &[String],
) -> Vec<InnerCommand> {
    let mut commands = Vec::new();
    match program {
        "find" | "gfind" | "fd" | "fdfind" => launchers::find_exec_runs(list, &mut commands),
        "trap" => {
            let first = list[1..].iter().find(|word| *word != "--");
            commands.extend(first.map(|text| InnerCommand::Script(text.clone())));
        }
        "alias" => {
            let values = list[1..].iter().filter_map(|word| word.split_once('='));
            commands.extend(values.map(|(_, text)| InnerCommand::Script(text.to_owned())));
        }
        "capsh" => {
            let end = list
                .iter()
                .position(|word| matches!(word.as_str(), "--" | "=="));
            let rest = end.and_then(|end| list.get(end + 1..)).unwrap_or_default();
            commands.push(InnerCommand::Words([&["bash".to_owned()], rest].concat()));
        }
        "start-stop-daemon" => launchers::find_daemon_runs(list, &mut commands),
        "gcc" | "g++" | "cc" | "c++" | "gfortran" | "cpp" => {
            launchers::find_compiler_runs(list, &mut commands)
        }
        "command" if list.get(1).is_some_and(|word| is_command_query(word)) => {}
        _ => {
            if let Some(wrapper) = find_wrapper(program) {
                unwrap_wrapper(wrapper, list, input, &mut commands);
            }
        }
    }
    if program.starts_with("ld-linux") || program.starts_with("ld-musl") || program == "ld.so" {
        let start = list.iter().skip(1).position(|word| !word.starts_with('-'));
        commands.extend(start.map(|start| InnerCommand::Words(list[start + 1..].to_vec())));
    }
    commands.extend(foreign_shell::extract_foreign_script(program, list).map(InnerCommand::Script));
    commands.extend(options::inspect_options(program, list).inner);
    stdin_runners::find_stdin_runs(program, list, input, &mut commands);
    commands
}

/// `command -v` and `command -V` name a program and do not run it.
pub(in crate::shell) fn is_command_query(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|letters| letters.contains(['v', 'V']) && !letters.starts_with('-'))
}

/// The options of a wrapper, read.
struct WrapperOptions {
    /// Index of the first word after the options.
    next: usize,
    /// Texts that options give to a shell.
    scripts: Vec<String>,
    /// Whether there is an option that the table does not know.
    unknown: bool,
}

fn parse_options(wrapper: &Wrapper, list: &[String]) -> WrapperOptions {
    let mut read = WrapperOptions {
        next: 1,
        scripts: Vec::new(),
        unknown: false,
    };
    while let Some(word) = list.get(read.next) {
        let plus = wrapper.kind == WrapperKind::Shell && word.starts_with('+');
        if word == "--" {
            read.next += 1;
            break;
        }
        let Some(letters) = word
            .strip_prefix('-')
            .or_else(|| word.strip_prefix('+').filter(|_| plus))
        else {
            break;
        };
        read.next += 1;
        if letters.is_empty() {
            // `-` alone: `env -` and `su -` take it as an option, a shell as its standard input.
            if wrapper.kind == WrapperKind::Shell && wrapper.operands == 0 {
                break;
            }
            continue;
        }
        match letters.strip_prefix('-') {
            Some(long) => parse_long_option(wrapper, long, list, &mut read),
            None => parse_short_options(wrapper, letters, list, &mut read),
        }
    }
    read
}

fn parse_long_option(wrapper: &Wrapper, long: &str, list: &[String], read: &mut WrapperOptions) {
    let (name, value) = split_option(long);
    let takes = |names: &Words| name.len() > 1 && names.contains(name);
    if takes(&wrapper.values) || takes(&wrapper.scripts) {
        let value = value.map(str::to_owned).or_else(|| {
            read.next += 1;
            list.get(read.next - 1).cloned()
        });
        if takes(&wrapper.scripts) {
            read.scripts.extend(value);
        }
    } else if !takes(&wrapper.flags) {
        read.unknown = true;
    }
}

fn parse_short_options(
    wrapper: &Wrapper,
    letters: &str,
    list: &[String],
    read: &mut WrapperOptions,
) {
    let is_one_of = |names: &Words, letter: char| names.contains(letter.encode_utf8(&mut [0; 4]));
    // `nice -10`
    if letters.bytes().all(|byte| byte.is_ascii_digit()) {
        read.unknown |= !wrapper.values.contains("adjustment");
        return;
    }
    let mut waits_for_script = false;
    for (at, letter) in letters.char_indices() {
        let rest = &letters[at + letter.len_utf8()..];
        if is_one_of(&wrapper.scripts, letter) {
            // A shell reads `-c` among other letters and takes its text from the operands; others take the rest.
            if wrapper.kind == WrapperKind::Shell && wrapper.operands == 0 || rest.is_empty() {
                waits_for_script = true;
                continue;
            }
            read.scripts.push(rest.to_owned());
            break;
        }
        if is_one_of(&wrapper.values, letter) {
            read.next += usize::from(rest.is_empty());
            break;
        }
        read.unknown |= !is_one_of(&wrapper.flags, letter);
    }
    if waits_for_script {
        // Further options may stand before the text: `sh -c -e 'text'`.
        let mut at = read.next;
        while wrapper.kind == WrapperKind::Shell
            && list
                .get(at)
                .is_some_and(|word| word.len() > 1 && word.starts_with(['-', '+']))
        {
            at += if list[at].ends_with(['o', 'O']) { 2 } else { 1 };
        }
        read.scripts.extend(list.get(at).cloned());
        read.next = at + 1;
    }
}

fn unwrap_wrapper(
    wrapper: &Wrapper,
    list: &[String],
    input: &[String],
    commands: &mut Vec<InnerCommand>,
) {
    let mut read = parse_options(wrapper, list);
    // `su me -c text`, `flock file -c text`: the option may stand after the operand.
    if wrapper.operands > 0 && read.scripts.is_empty() && !wrapper.scripts.is_empty() {
        let at = list.iter().position(|word| {
            wrapper.scripts.contains(word.trim_start_matches('-')) && word.starts_with('-')
        });
        read.scripts
            .extend(at.and_then(|at| list.get(at + 1)).cloned());
    }
    let mut start = read.next;
    if wrapper.kind != WrapperKind::Shell {
        start += wrapper.operands;
    }
    while wrapper.assigns && list.get(start).is_some_and(|word| is_assignment(word)) {
        start += 1;
    }
    let rest = list.get(start..).unwrap_or_default();
    let has_script = !read.scripts.is_empty();
    if has_script && wrapper.kind == WrapperKind::Shell {
        // The first word behind the text is its name.
        commands.push(InnerCommand::Parameters(
            rest.get(1..).unwrap_or_default().to_vec(),
        ));
    }
    for script in &read.scripts {
        // The words after a text are its parameters, and may be what it runs.
        if script.contains("$@")
            || script.contains("$*")
            || script.contains('$') && wrapper.kind == WrapperKind::Shell
        {
            for at in 0..rest.len().min(2) {
                commands.push(InnerCommand::Words(rest[at..].to_vec()));
            }
        }
        commands.push(InnerCommand::Script(match wrapper.names.contains("env") {
            true => [std::slice::from_ref(script), rest].concat().join(" "),
            false => script.clone(),
        }));
    }
    match wrapper.kind {
        WrapperKind::Words if has_script => {}
        WrapperKind::Words => {
            if !rest.is_empty() {
                commands.push(InnerCommand::Words(append_input(wrapper, rest, input)));
            }
            if read.unknown {
                // Some word after an unknown option is its value, and nobody knows which.
                for at in start + 1..list.len().min(start + 3) {
                    commands.push(InnerCommand::Words(list[at..].to_vec()));
                }
            }
        }
        WrapperKind::Script => {
            if !rest.is_empty() {
                // `parallel rm ::: x y` runs `rm x` and `rm y`; without a command it runs what follows.
                let is_mark = |word: &&String| word.starts_with(":::");
                let text: Vec<String> =
                    rest.iter().filter(|word| !is_mark(word)).cloned().collect();
                if rest.first().is_some_and(|word| is_mark(&word)) {
                    commands.extend(text.iter().cloned().map(InnerCommand::Script));
                }
                commands.push(InnerCommand::Script(text.join(" ")));
            }
            if read.unknown {
                for at in start + 1..list.len().min(start + 3) {
                    commands.push(InnerCommand::Script(list[at..].join(" ")));
                }
            }
        }
        WrapperKind::Shell if has_script => {}
        WrapperKind::Shell => {
            commands.extend(input.iter().cloned().map(InnerCommand::Script));
            // `runuser -u me -- rm x`, `sg group 'rm x'`: without a text, what follows runs.
            let operands = match program_base_name(&list[0]) {
                "runuser" => Some(0),
                "sg" => Some(1),
                _ => None,
            };
            let rest = operands.and_then(|operands| list.get(read.next + operands..));
            if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
                commands.push(InnerCommand::Words(rest.to_vec()));
                commands.push(InnerCommand::Script(rest.join(" ")));
            }
        }
    }
}

/// `xargs` adds what it reads to the words.
fn append_input(wrapper: &Wrapper, rest: &[String], input: &[String]) -> Vec<String> {
    let mut words = rest.to_vec();
    if wrapper.names.contains("xargs") {
        words.extend(
            input
                .iter()
                .flat_map(|text| text.split_whitespace())
                .map(str::to_owned),
        );
    }
    words
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Returns where the command that an allow looks at begins: after `timeout 5`, `nice -n 3` and their like. The error is
/// the reason why no rule may allow the command, as a sentence.
pub(in crate::shell) fn skip_transparent_wrappers(list: &[String]) -> Result<usize, String> {
    let mut start = 0;
    loop {
        let program = &list[start];
        let Some(wrapper) = find_wrapper(program).filter(|wrapper| wrapper.is_transparent) else {
            break;
        };
        let read = parse_options(wrapper, &list[start..]);
        if read.unknown {
            return Err(format!("`{program}` has an option that is not known."));
        }
        let next = start + read.next + wrapper.operands;
        if next >= list.len() {
            break;
        }
        start = next;
    }
    let program = program_base_name(&list[start]);
    if let Some(reason) = foreign_shell::detect_foreign_shell(program, &list[start..]) {
        return Err(reason);
    }
    if let Some(what) = options::inspect_options(program, &list[start..]).refusal {
        return Err(format!(
            "`{program}` may run or write something with {what}."
        ));
    }
    let runs = !find_inner_commands(program, &list[start..], &[]).is_empty();
    let refused = match find_wrapper(program) {
        // By a path it was not seen through, so it says nothing of what it runs.
        Some(wrapper) if wrapper.is_transparent => list[start].contains('/'),
        Some(wrapper) if wrapper.is_runner => false,
        Some(wrapper) => runs || reads_commands_from_input(wrapper, &list[start..]),
        // Commands that an option runs are refused above; a runner may be allowed with the command that it runs.
        None => {
            matches!(
                program,
                "capsh"
                    | "find"
                    | "gfind"
                    | "fd"
                    | "fdfind"
                    | "trap"
                    | "alias"
                    | "start-stop-daemon"
                    | "gcc"
                    | "g++"
                    | "cc"
                    | "c++"
                    | "gfortran"
                    | "cpp"
            ) && runs
                || program.starts_with("ld-")
        }
    };
    match refused {
        true => Err(format!("`{program}` runs what its arguments say.")),
        false => Ok(start),
    }
}

/// Whether a program runs commands from its input: a shell without a file does; with another person's rights, or on
/// another machine, it is not known what runs.
fn reads_commands_from_input(wrapper: &Wrapper, list: &[String]) -> bool {
    let program = list[0].as_str();
    if list_has_word(
        "sudo doas su pkexec runuser run0 xargs exec builtin ssh slogin autossh mosh",
        program,
    ) {
        return true;
    }
    wrapper.kind == WrapperKind::Shell && {
        let read = parse_options(wrapper, list);
        let names_file = list
            .get(read.next)
            .is_some_and(|word| !word.starts_with('-') && word != "/dev/stdin");
        !names_file || read.unknown
    }
}
