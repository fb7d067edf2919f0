//! Which words of a command may name a file, whatever its program is, and whether that file may be written.
//!
//! A program that is not known may read and write whatever it is given. A table can only say that a program writes
//! nothing, or that one word is a pattern or a message.

use std::collections::HashSet;

use protocol::Capability::{self, FsRead, FsWrite};

use crate::shell::accesses::path_pieces::{find_quoted_pieces, split_path_pieces};
use crate::shell::expand::unknown_text::UNKNOWN_TEXT;
use crate::shell::facts::ShellWord;
use crate::shell::programs::inner_commands::PLAIN_RUNNERS;
use crate::shell::programs::options;
use crate::shell::programs::sed;
use crate::shell::tables::{WordRow, Words, list_has_word, program_table};
use crate::shell::{program_base_name, short_options, split_option};

/// A word, or a part of one, that may be the path of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::shell) struct FileUse {
    /// The path.
    pub word: ShellWord,
    /// Whether the program may write the file.
    pub is_written: bool,
}

impl FileUse {
    fn read_only(word: &ShellWord) -> Self {
        Self {
            word: word.clone(),
            is_written: false,
        }
    }

    /// Capabilities that the file may be used with.
    pub fn capabilities(&self) -> &'static [Capability] {
        match self.is_written {
            true => &[FsRead, FsWrite],
            false => &[FsRead],
        }
    }
}

/// Programs that go into the folder that they are given.
pub(in crate::shell) const FOLDER_CHANGERS: &str = "cd pushd chdir";

/// Everything that a command may use as a file.
pub(in crate::shell) fn find_file_uses(program: &str, words: &[ShellWord]) -> Vec<FileUse> {
    if program_table().printing.contains(program) {
        // The root itself is asked about wherever it is named.
        let roots = words.iter().skip(1).filter(|word| word.text() == "/");
        let roots = roots.filter(|_| list_has_word("echo printf print", program));
        return roots.map(FileUse::read_only).collect();
    }
    let writes = may_write(program, words);
    let script = script_position(program, words);
    let no_files = non_file_positions(program, words);
    let is_code = options::is_interpreter(program)
        || list_has_word("awk gawk mawk nawk jq sqlite3 psql", program);
    let is_remote = is_remote_copy(program, words);
    let reads_sentences = !is_code && !is_known_program(program);
    let mut uses = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text();
        if is_code {
            uses.extend(find_quoted_pieces(text).map(|path| FileUse {
                word: word.with_text(path),
                is_written: true,
            }));
        }
        if no_files.contains(&at) {
            continue;
        }
        let is_written = writes && script != Some(at);
        let is_sentence = reads_sentences && text.contains(char::is_whitespace);
        // What ends a command ends a word, too: `frob "make > /dev/null; ls"`.
        let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|');
        let sentence = text.split(ends).filter(|_| is_sentence);
        let words_within = sentence.flat_map(|word| split_path_pieces(word, !is_remote));
        for path in split_path_pieces(text, !is_remote)
            .into_iter()
            .chain(words_within)
        {
            // A word that begins with what only the shell knows names nothing yet.
            if !word.is_literal()
                && path.starts_with(['$', '`', '"', '\''])
                && !names_home_folder(path)
            {
                continue;
            }
            uses.push(FileUse {
                word: word.with_text(path),
                is_written,
            });
        }
    }
    uses
}

/// Finds the uses in the word lists that a verdict keeps, each once, and only words that are plain names: without a
/// dot, a slash, a blank or anything that the shell completes. None where a command goes into a folder: the word lists do
/// not tell which of the others run there.
pub(in crate::shell) fn find_bare_uses(lists: &[Vec<String>]) -> Vec<(Capability, String)> {
    let mut programs = lists.iter().filter_map(|list| list.first());
    if programs.any(|word| list_has_word(FOLDER_CHANGERS, program_base_name(word))) {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    let mut uses = Vec::new();
    for list in lists {
        let words: Vec<ShellWord> = list.iter().cloned().map(ShellWord::Literal).collect();
        let Some(program) = list.first().map(|word| program_base_name(word)) else {
            continue;
        };
        for one in find_file_uses(program, &words) {
            let text = one.word.text();
            if !is_bare_name(text) {
                continue;
            }
            for capability in one.capabilities() {
                let named = (*capability, text.to_owned());
                if seen.insert(named.clone()) {
                    uses.push(named);
                }
            }
        }
    }
    uses
}

fn is_bare_name(text: &str) -> bool {
    let is_more = |c: char| c.is_whitespace() || "./\\~$`*?[]{}'\"".contains(c);
    !text.is_empty() && !text.contains(is_more)
}

/// The folders that options send a command to, as `git -C folder` and `env --chdir=folder` do.
pub(in crate::shell) fn option_folders(words: &[ShellWord]) -> Vec<String> {
    const LONG: &str = "--directory --chdir --work-tree --cwd --prefix --dir --working-directory --project-directory";
    let mut folders: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text();
        let (name, value) = split_option(text);
        let next = || words.get(at + 1).map(ShellWord::text);
        let folder = match text.strip_prefix("-C") {
            Some("") => next(),
            Some(attached) => Some(attached),
            None if list_has_word(LONG, name) => value.or_else(next),
            None => None,
        };
        let Some(folder) = folder.filter(|folder| !folder.is_empty()) else {
            continue;
        };
        // Each further one begins where the one before led.
        let begins_anew = folder.starts_with(['/', '~', UNKNOWN_TEXT]);
        let from = folders.last().filter(|_| !begins_anew);
        let folder = from.map_or_else(|| folder.to_owned(), |from| format!("{from}/{folder}"));
        folders.push(folder);
    }
    folders
}

fn names_home_folder(text: &str) -> bool {
    ["$HOME", "${HOME}", "\"$HOME", "\"${HOME}"]
        .iter()
        .any(|home| text.starts_with(home))
}

/// Whether the use that a program makes of its words is known, or is that of another one. Any other program may take a text with blanks for words
/// of its own, as `frob "cat .env"` may.
fn is_known_program(program: &str) -> bool {
    let table = program_table();
    let mut option_rows = table.write_option.iter().chain(&table.text_option);
    program == "git"
        || list_has_word(PLAIN_RUNNERS, program)
        || table.read_only.contains(program)
        || table.second_operand_writers.contains(program)
        || table.code_interpreters.contains(program)
        || option_rows.any(|row| row.programs.contains(program))
}

/// Whether a program may write a file that it is given.
fn may_write(program: &str, words: &[ShellWord]) -> bool {
    if program == "git" {
        return git_may_write(words);
    }
    let table = program_table();
    if table.read_only.contains(program) {
        return false;
    }
    if table.second_operand_writers.contains(program) {
        let operands = words[1..]
            .iter()
            .filter(|word| !word.text().starts_with('-') || word.text() == "-");
        return operands.count() > 1;
    }
    let mut rows = table.write_option.iter();
    let row = rows.find(|row| row.programs.contains(program));
    row.is_none_or(|row| {
        let mut arguments = words[1..].iter();
        arguments.any(|word| may_give_option(word.text(), row))
    })
}

/// Whether a word may give one of these options, in any way they can be spelled: among other letters, cut short, or
/// with its value attached. A word that only the shell can expand may be any of them.
fn may_give_option(text: &str, options: &WordRow) -> bool {
    if text.starts_with(['$', '`', '"', '\'', '{']) {
        return true;
    }
    let Some(bare) = text.strip_prefix('-') else {
        return false;
    };
    let name = bare.trim_start_matches('-');
    let name = name.split('=').next().unwrap_or_default();
    let is_cut = !name.is_empty() && options.words.iter().any(|long| long.starts_with(name));
    is_cut || !bare.starts_with('-') && bare.contains(|letter| options.letters.contains(letter))
}

fn git_may_write(words: &[ShellWord]) -> bool {
    let reads = words[1..]
        .iter()
        .any(|word| program_table().git_read_commands.contains(word.text()));
    let outputs = words[1..].iter().any(|word| {
        let name = word.text().split('=').next().unwrap_or_default();
        name.len() > 3 && "--output".starts_with(name) || name.starts_with("--output")
    });
    !reads || outputs || words.iter().any(|word| word.text() == "config")
}

/// Returns the position of the file that an interpreter runs.
fn script_position(program: &str, words: &[ShellWord]) -> Option<usize> {
    let is_interpreter = program_table().code_interpreters.contains(program);
    let first = words[1..]
        .iter()
        .position(|word| !word.text().starts_with('-'))?;
    // Behind an option it may be the value of that.
    is_interpreter.then_some(first + 1).filter(|at| *at == 1)
}

/// Words that copy from another machine name paths of that one behind a colon.
fn is_remote_copy(program: &str, words: &[ShellWord]) -> bool {
    list_has_word("scp rsync sftp ssh mosh", program)
        || list_has_word("docker podman nerdctl kubectl oc", program)
            && words.get(1).is_some_and(|word| word.text() == "cp")
}

/// The places of words that are patterns or messages.
fn non_file_positions(program: &str, words: &[ShellWord]) -> Vec<usize> {
    let mut positions: Vec<usize> = pattern_position(program, words).into_iter().collect();
    if list_has_word("sed gsed", program) {
        let list: Vec<String> = words.iter().map(|word| word.text().to_owned()).collect();
        positions.extend(sed::find_sed_scripts(&list).script_positions);
    }
    let rows = || {
        let rows = program_table().text_option.iter();
        rows.filter(|row| row.programs.contains(program))
    };
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text();
        for row in rows() {
            if row.words.contains(text) {
                positions.push(at + 1);
            } else if has_attached_value(&row.words, text) {
                positions.push(at);
            }
        }
    }
    if program == "git" {
        positions.extend(git_message_positions(words));
    }
    positions
}

/// Whether a word is one of these options with its value attached: `-d/`, `--delimiter=/`.
fn has_attached_value(options: &Words, text: &str) -> bool {
    let mut letters = options.iter().filter(|option| option.len() == 2);
    let named = text.split_once('=').map(|(name, _)| name);
    letters.any(|option| text.len() > 2 && text.starts_with(option))
        || named.is_some_and(|name| name.starts_with("--") && options.contains(name))
}

/// `git commit -m message`, `git tag -am message`, `git commit --message=message`.
fn git_message_positions(words: &[ShellWord]) -> Vec<usize> {
    let takes = words[1..]
        .iter()
        .any(|word| list_has_word("commit tag merge stash notes", word.text()));
    let mut positions = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1).filter(|_| takes) {
        let text = word.text();
        // Letters that take no value may stand before it.
        let is_last =
            short_options(text).is_some_and(|letters| list_has_word("m am sm asm", letters));
        if is_last || text == "--message" {
            positions.push(at + 1);
        } else if text.starts_with("--message=") {
            positions.push(at);
        }
    }
    positions
}

/// Where a searcher's pattern or the filter of `jq` stands, where it is certain that the word is no option's value.
fn pattern_position(program: &str, words: &[ShellWord]) -> Option<usize> {
    // Letters that take a value, or that give the pattern themselves.
    let takes = match program {
        "grep" | "egrep" | "fgrep" | "rgrep" | "zgrep" => "ABCDXdefm",
        "rg" | "ripgrep" => "ABCEMTdefgjmrt",
        "jq" => "fL",
        _ => return None,
    };
    const FLAGS: &str = "--recursive --line-number --ignore-case --files-with-matches --count --word-regexp --hidden \
                         --no-ignore --fixed-strings --extended-regexp --raw-output --compact-output --slurp \
                         --null-input --sort-keys --exit-status";
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text();
        let Some(letters) = text.strip_prefix('-').filter(|_| word.is_literal()) else {
            return Some(at);
        };
        let is_flag = match letters.starts_with('-') {
            true => list_has_word(FLAGS, text) || text.starts_with("--color="),
            false => !letters.is_empty() && !letters.contains(|c| takes.contains(c)),
        };
        if !is_flag {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: &str) -> String {
        let words: Vec<ShellWord> = command
            .split(' ')
            .map(|word| ShellWord::Literal(word.replace('_', " ")))
            .collect();
        let found = find_file_uses(words[0].text(), &words);
        let mut shown: Vec<String> = found
            .iter()
            .map(|one| match one.is_written {
                true => format!("{}+w", one.word.text()),
                false => one.word.text().to_owned(),
            })
            .collect();
        shown.dedup();
        shown.join(" ")
    }

    #[test]
    fn what_may_name_a_file() {
        for (command, expected) in [
            ("cat a", "a"),
            ("frob a", "a+w"),
            ("frob --file=a", "a+w"),
            ("date -f a", "a"),
            ("frob -fa", "a+w"),
            ("git show HEAD:.env", "show HEAD:.env .env HEAD"),
            ("git log --output=a", "log+w a+w"),
            ("git log --outp a", "log+w a+w"),
            ("git log --oneline a", "log a"),
            ("sort a", "a"),
            ("sort -uo a b", "o+w a+w b+w"),
            ("sort --out a", "a+w"),
            ("uniq a", "a"),
            ("uniq a b", "a+w b+w"),
            ("sed s/a/b/ c", "c"),
            ("sed -n p c", "c"),
            ("sed -i p c", "c+w"),
            ("grep -rn .env src", "n src"),
            ("grep -f .env x", ".env x"),
            ("rg --pre .env x", ".env x"),
            ("jq .key a", "a"),
            ("find . -name .env", ". ame me e"),
            ("tar --exclude=.env c", "c+w"),
            ("git commit -m .env", "commit"),
            ("git commit -F .env", "commit .env"),
            ("echo .env", ""),
            ("echo /", "/"),
            ("tr / _", ""),
            ("cut -d/ -f1 a", "1 a"),
            ("awk -F/ 1 a", "1 a"),
            ("bash a b", "a b+w"),
            ("scp host:a .", "host:a+w .+w"),
            ("frob https://a.b/c", ""),
            ("frob file:///a", "file:///a+w ///a+w file+w"),
            ("frob cat_.env", "cat .env+w cat+w .env+w"),
            ("frob -x_a=.env", " a=.env+w .env+w a=.env+w .env+w a+w"),
            ("gh pr create -b see_.env", "pr+w create+w"),
            ("gh pr create -F .env", "pr+w create+w .env+w"),
            ("frob a,b", "a,b+w b+w a+w"),
            ("frob a_>b;c", "a >b;c+w a+w >b+w b+w c+w"),
        ] {
            let seen = read(command);
            assert_eq!(seen, expected, "{command}");
        }
    }
}
