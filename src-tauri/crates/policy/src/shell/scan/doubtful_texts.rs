//! Searches the texts that the parsers cannot be trusted with for commands that they may run.
//!
//! The search is done last, when all facts from the parsers are known.

use protocol::text::display_text::is_hidden;

use crate::shell::facts::{
    CommandOrigin, RedirectKind, ShellAssignment, ShellRedirect, ShellWord, SimpleCommand,
};
use crate::shell::matching::command_names;
use crate::shell::parse::reader::{CommandContext, ShellReader};
use crate::shell::parse::word;
use crate::shell::parse::word::{parse_shell_word, parse_shell_words};
use crate::shell::program_base_name;
use crate::shell::programs::inner_commands;
use crate::shell::scan::command_starts::{CommandStart, find_command_starts};
use crate::shell::scan::unquoted;

/// Most words of all tails of one word list together.
const TAIL_WORDS_MAX: usize = 1_000_000;
/// Most bytes that commands of one text are given to read, all together.
const INPUT_BYTES_MAX: usize = 1024 * 1024;

impl ShellReader<'_> {
    /// Queues a text that the parsers cannot be trusted with: it will be searched for commands that it may run.
    pub fn queue_doubtful_text(&mut self, text: &str, depth: usize, reason: impl Into<String>) {
        self.add_unsure_reason(reason);
        if self.queued_texts.insert(text.to_owned()) {
            self.doubtful_texts.push_back((text.to_owned(), depth));
        }
    }

    /// Searches every queued text, and the texts that are found in these.
    pub fn search_doubtful_texts(&mut self) {
        while let Some((text, depth)) = self.doubtful_texts.pop_front() {
            self.search_command_starts(&text, depth);
            for words in unquoted::scan_unquoted(&text) {
                self.follow_unquoted(words);
            }
        }
    }

    fn search_command_starts(&mut self, text: &str, depth: usize) {
        let place = CommandContext {
            origin: &CommandOrigin::Plain,
            depth,
            wrapper_depth: 0,
            input: &[],
            text,
        };
        // Characters that cannot be seen hide nothing.
        let seen: String = text.chars().filter(|c| !is_hidden(*c)).collect();
        let starts = find_command_starts(&seen, &mut self.search_left);
        let set = starts.iter().flat_map(|start| &start.assignments);
        for (name, raw) in set {
            self.known_values.set_variable(name, raw);
        }
        let mut inputs: String = starts
            .iter()
            .flat_map(|start| &start.input)
            .map(|printed_before| format!("{printed_before}\n"))
            .collect();
        let commands: Vec<SimpleCommand> = starts.iter().map(command_from_start).collect();
        let printed_before = self.printed.len();
        // Between back quotes every backslash is read once more than elsewhere.
        let quoted = starts.iter().flat_map(|start| &start.words);
        for raw in quoted.filter(|raw| raw.contains('`') && raw.contains('\\')) {
            self.follow_substitutions(word::parse_word(raw).scripts(), place);
        }
        for command in &commands {
            self.follow_variables(command, place);
            self.run(&command.words, place, &[]);
            self.record_redirect_accesses(&command.redirects);
            self.record_word_accesses(&command.words);
        }
        // The output of one command may be the input of any other.
        for printed_before in self.printed.split_off(printed_before) {
            inputs += &printed_before;
            inputs.push('\n');
        }
        if inputs.is_empty() {
            return;
        }
        let readers: Vec<&SimpleCommand> = commands.iter().filter(|one| reads_input(one)).collect();
        inputs.truncate(inputs.floor_char_boundary(INPUT_BYTES_MAX / readers.len().max(1)));
        for command in readers {
            self.run(&command.words, place, std::slice::from_ref(&inputs));
        }
    }

    /// Follows a word list whose quotes were not read: whatever a wrapper in it may run is in its tail.
    fn follow_unquoted(&mut self, list: Vec<String>) {
        let Some(program) = list.first().map(|word| program_base_name(word).to_owned()) else {
            return;
        };
        if inner_commands::is_wrapper(&program) {
            // A pattern looks at the first words: long tails of a long list would take its length squared.
            let words_max = (TAIL_WORDS_MAX / list.len()).clamp(4, 64);
            for at in 1..list.len() {
                let mut tail = list[at..list.len().min(at + words_max)].to_vec();
                tail[0] = program_base_name(&tail[0]).to_owned();
                self.add_denied(tail);
            }
        }
        for words in command_names::list_command_names(&list, &program) {
            self.add_denied(words);
        }
    }
}

fn command_from_start(start: &CommandStart) -> SimpleCommand {
    let assignments = start.assignments.iter().map(|(name, raw)| ShellAssignment {
        name: name.clone(),
        value: parse_shell_word(raw),
    });
    let redirects = start.redirects.iter().map(|(kind, raw)| {
        let target = parse_shell_word(raw);
        let is_stream = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
        };
        ShellRedirect {
            // `>&file` is `&>file`.
            kind: match kind {
                RedirectKind::Duplicate if !is_stream(target.text()) => RedirectKind::Write,
                kind => *kind,
            },
            is_neutral: target == ShellWord::Literal("/dev/null".to_owned()),
            target,
        }
    });
    SimpleCommand {
        words: parse_shell_words(&start.words),
        assignments: assignments.collect(),
        redirects: redirects.collect(),
        via: CommandOrigin::Plain,
    }
}

/// Whether a command may run its input.
fn reads_input(command: &SimpleCommand) -> bool {
    command.words.first().is_some_and(|word| {
        let program = program_base_name(word.text());
        !word.is_literal()
            || inner_commands::is_wrapper(program)
            || matches!(program, "source" | ".")
    })
}
