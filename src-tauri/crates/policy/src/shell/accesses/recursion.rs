//! Commands that read everything below a folder that they name: `grep -r`, `rg`, `cp -r`, `tar c`.

use crate::shell::facts::ShellWord;
use crate::shell::tables::list_has_word;
use crate::shell::{program_base_name, short_options};

/// Which folders a command reads below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum RecursiveRead {
    /// The folders that the command names.
    Named,
    /// The folder that the command runs in, because it names no other.
    CurrentFolder,
}

const GREP_PROGRAMS: &str = "grep egrep fgrep zgrep bzgrep xzgrep rgrep";
const SEARCH_PROGRAMS: &str = "rg ag ack ack-grep ugrep ug pt sift ripgrep";

/// Options of searchers whose value is the next word: it is no folder.
const SEARCH_VALUE_OPTIONS: &str = "-A -B -C -E -M -T -d -e -f -g -j -m -r -t -D --after-context --before-context --context \
                      --color --colors --context-separator --dfa-size-limit --encoding --engine --exclude \
                      --exclude-dir --exclude-from --field-context-separator --field-match-separator --file --glob \
                      --hyperlink-format --iglob --ignore-file --include --label --max-columns --max-count \
                      --max-depth --max-filesize --path-separator --pre --pre-glob --regex-size-limit --regexp \
                      --replace --sort --sortr --threads --type --type-add --type-clear --type-not";

/// Returns how a command reads below its folders; none if it reads only the files that it names. `piped` says that its
/// input comes from another command.
pub(in crate::shell) fn detect_recursive_read(
    words: &[ShellWord],
    piped: bool,
) -> Option<RecursiveRead> {
    let program = program_base_name(words.first()?.text());
    let options = CommandOptions::new(words);
    let reads = match program {
        "rgrep" => true,
        _ if list_has_word(GREP_PROGRAMS, program) => {
            // The value of another option may hold this too; that does no harm.
            let is_recurse_option = |word: &ShellWord| word.text().ends_with("recurse");
            words.iter().any(is_recurse_option)
                || options.has_short("rR")
                || options.has_long(&["--recursive", "--dereference-recursive"])
        }
        _ if list_has_word(SEARCH_PROGRAMS, program) => true,
        "cp" | "gcp" => options.has_short("rRa") || options.has_long(&["--recursive", "--archive"]),
        "rsync" => options.has_short("ra") || options.has_long(&["--recursive", "--archive"]),
        "scp" | "gzip" => options.has_short("r") || options.has_long(&["--recursive"]),
        "ditto" => true,
        "diff" => options.has_short("r") || options.has_long(&["--recursive"]),
        "tar" | "gtar" | "bsdtar" => {
            let bundle = words.get(1).map_or("", ShellWord::text);
            let old = !bundle.starts_with('-') && bundle.contains(['c', 'r', 'u']);
            old || options.has_short("cru")
                || options.has_long(&["--create", "--append", "--update", "--catenate"])
        }
        "zip" => {
            options.has_short("rR") || options.has_long(&["--recurse-paths", "--recurse-patterns"])
        }
        "7z" | "7za" | "7zz" => words
            .get(1)
            .is_some_and(|word| list_has_word("a u", word.text())),
        "git" => {
            let searches = words
                .iter()
                .any(|word| list_has_word("grep diff", word.text()));
            searches && options.has_long(&["--no-index", "--untracked"])
        }
        _ => false,
    };
    if !reads {
        return None;
    }
    // A searcher that is given its input looks there, but for those that were told to go through folders.
    let here = match program {
        "git" => true,
        _ if list_has_word(GREP_PROGRAMS, program) => !options.names_search_path(program),
        _ if list_has_word(SEARCH_PROGRAMS, program) => {
            !piped && !options.names_search_path(program)
        }
        _ => false,
    };
    Some(match here {
        true => RecursiveRead::CurrentFolder,
        false => RecursiveRead::Named,
    })
}

/// The words of a command as options and what they are given.
struct CommandOptions<'a>(&'a [ShellWord]);

impl<'a> CommandOptions<'a> {
    fn new(words: &'a [ShellWord]) -> Self {
        Self(words.get(1..).unwrap_or_default())
    }

    /// Whether a cluster of short options holds one of these letters.
    fn has_short(&self, letters: &str) -> bool {
        self.0.iter().any(|word| {
            short_options(word.text())
                .is_some_and(|options| options.contains(|c| letters.contains(c)))
        })
    }

    /// Whether one of these long options is there, shortened or not.
    fn has_long(&self, names: &[&str]) -> bool {
        self.0.iter().any(|word| {
            let name = word.text().split('=').next().unwrap_or_default();
            name.len() > 2
                && name.starts_with("--")
                && names.iter().any(|known| known.starts_with(name))
        })
    }

    /// Whether the command names a file or folder to search, beside the pattern.
    fn names_search_path(&self, program: &str) -> bool {
        let mut operands = 0;
        let mut ended = false;
        let mut is_value = false;
        for word in self.0 {
            let text = word.text();
            match () {
                () if is_value => is_value = false,
                () if ended || !text.starts_with('-') || text == "-" => operands += 1,
                () if text == "--" => ended = true,
                () => {
                    is_value = list_has_word(SEARCH_VALUE_OPTIONS, text)
                        && !(list_has_word(GREP_PROGRAMS, program) && text == "-r")
                }
            }
        }
        let has_pattern = self.0.iter().any(|word| {
            let text = word.text();
            list_has_word(
                "--regexp --file --files",
                text.split('=').next().unwrap_or_default(),
            ) || text.starts_with("-e")
                || text.starts_with("-f")
        });
        operands > usize::from(!has_pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: &str, piped: bool) -> Option<RecursiveRead> {
        let words: Vec<ShellWord> = command
            .split(' ')
            .map(|word| ShellWord::Literal(word.to_owned()))
            .collect();
        detect_recursive_read(&words, piped)
    }

    #[test]
    fn what_reads_below() {
        let (named, here) = (
            Some(RecursiveRead::Named),
            Some(RecursiveRead::CurrentFolder),
        );
        for (command, expected) in [
            ("grep x file", None),
            ("grep -n x file", None),
            ("grep -r x .", named),
            ("grep -r x", here),
            ("grep -rn x", here),
            ("grep -Rin x src", named),
            ("grep --recur x", here),
            ("grep -d recurse x", here),
            ("grep --directories=recurse x src", named),
            ("grep -e x -r", here),
            ("grep -re x", here),
            ("grep -r x --include=*.rs .", named),
            ("grep -r --include *.rs --include=*.ts x .", named),
            ("grep -r --include=a/b x .", named),
            ("rgrep x", here),
            ("rg x", here),
            ("rg x src", named),
            ("rg -A 3 x", here),
            ("rg -e x", here),
            ("rg -e x src", named),
            ("rg x -g *.rs", here),
            ("rg x -g !*.rs", here),
            ("rg x -g *.rs -g !b.rs", here),
            ("rg --sort path x", here),
            ("/usr/bin/rg x", here),
            ("cp a b", None),
            ("cp -r a b", named),
            ("cp -vR a b", named),
            ("cp --arch a b", named),
            ("tar c .", named),
            ("tar xf a.tar", None),
            ("tar -czf a.tgz .", named),
            ("tar --create -f a .", named),
            ("tar tf a.tar", None),
            ("zip a.zip b", None),
            ("zip -r a.zip b", named),
            ("7z a x.7z .", named),
            ("7z x x.7z", None),
            ("diff a b", None),
            ("diff -ur a b", named),
            ("rsync -av a b", named),
            ("git grep x", None),
            ("git grep --no-index x", here),
            ("cat a", None),
        ] {
            assert_eq!(read(command, false), expected, "{command}");
        }
        assert_eq!(read("rg x", true), named);
        assert_eq!(read("grep -r x", true), here);
        assert_eq!(detect_recursive_read(&[], false), None);
    }
}
