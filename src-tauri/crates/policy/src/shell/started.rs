//! Programs that start another one which an option or an expression names.

use super::unwrap::Inner;

/// `start-stop-daemon --start --exec /bin/rm -- x`
pub(super) fn by_daemon(list: &[String], found: &mut Vec<Inner>) {
    let end = list.iter().position(|word| word == "--");
    let arguments = end.map_or(&[][..], |end| &list[end + 1..]);
    for (at, word) in list.iter().enumerate() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), list.get(at + 1).cloned()),
        };
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
            found.push(Inner::Words([&[program], arguments].concat()));
        }
    }
}

/// `find … -exec rm {} \;`, `fd -x rm`.
pub(super) fn by_find(list: &[String], found: &mut Vec<Inner>) {
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
            found.push(Inner::Words(words));
        }
    }
}

/// `gcc -wrapper rm,x`
pub(super) fn by_compiler(list: &[String], found: &mut Vec<Inner>) {
    let given = list.windows(2).filter(|pair| pair[0] == "-wrapper");
    found.extend(given.map(|pair| Inner::Script(pair[1].replace(',', " "))));
}
