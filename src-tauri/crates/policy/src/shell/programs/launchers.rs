//! Programs that start another one which an option or an expression names.

use crate::shell::programs::inner_commands::InnerCommand;
use crate::shell::split_option;

/// `start-stop-daemon --start --exec /bin/rm -- x`
pub(in crate::shell) fn find_daemon_runs(list: &[String], commands: &mut Vec<InnerCommand>) {
    let end = list.iter().position(|word| word == "--");
    let arguments = end.map_or(&[][..], |end| &list[end + 1..]);
    for (at, word) in list.iter().enumerate() {
        let (name, value) = split_option(word);
        let value = value
            .map(str::to_owned)
            .or_else(|| list.get(at + 1).cloned());
        let is_cut = name.len() > 2
            && ["--exec", "--startas"]
                .iter()
                .any(|one| one.starts_with(name));
        let value = match name.strip_prefix("-x").or_else(|| name.strip_prefix("-a")) {
            Some(attached) if !attached.is_empty() => Some(attached.to_owned()),
            Some(_) => value,
            None if is_cut => value,
            None => None,
        };
        if let Some(program) = value {
            commands.push(InnerCommand::Words([&[program], arguments].concat()));
        }
    }
}

/// `find … -exec rm {} \;`, `fd -x rm`.
pub(in crate::shell) fn find_exec_runs(list: &[String], commands: &mut Vec<InnerCommand>) {
    for (at, word) in list.iter().enumerate() {
        if !matches!(
            word.as_str(),
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        ) {
            continue;
        }
        let words: Vec<String> = list[at + 1..]
            .iter()
            .take_while(|word| !matches!(word.as_str(), ";" | "+"))
            .cloned()
            .collect();
        if !words.is_empty() {
            commands.push(InnerCommand::Words(words));
        }
    }
}

/// `gcc -wrapper rm,x`
pub(in crate::shell) fn find_compiler_runs(list: &[String], commands: &mut Vec<InnerCommand>) {
    let wrappers = list.windows(2).filter(|pair| pair[0] == "-wrapper");
    commands.extend(wrappers.map(|pair| InnerCommand::Script(pair[1].replace(',', " "))));
}
