//! Where the streams of a command lead, and which of them touch nothing.

use brush_parser::ast::{
    IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect, RedirectList,
};

use crate::shell::expand::spellings;
use crate::shell::facts::{RedirectKind, ShellRedirect, ShellWord, SimpleCommand};
use crate::shell::parse::reader::{CommandContext, ShellReader};
use crate::shell::parse::word::to_shell_word;

/// Most texts that one here-document or here-string may become.
const INPUT_VARIANTS_MAX: usize = 4;

/// A redirect from or to one target, such as `2>file`, as the parser gives its parts.
#[derive(Clone, Copy)]
struct FileRedirect<'a> {
    /// The stream that is redirected; none if the operator's own is meant.
    stream: Option<i32>,
    operator: &'a Kind,
    target: &'a Target,
}

impl ShellReader<'_> {
    /// Redirects of a construct, which belong to no simple command.
    pub fn read_loose_redirects(&mut self, list: Option<&RedirectList>, place: CommandContext<'_>) {
        let Some(list) = list else {
            return;
        };
        let mut input = Vec::new();
        let redirects: Vec<ShellRedirect> = list
            .0
            .iter()
            .map(|redirect| self.read_redirect(redirect, &mut input, place))
            .collect();
        for redirect in redirects.iter().filter(|redirect| !redirect.is_neutral) {
            self.add_unsure_reason(redirect_reason(redirect));
        }
        self.push_command(SimpleCommand {
            words: Vec::new(),
            assignments: Vec::new(),
            redirects,
            via: place.origin.clone(),
        });
    }

    /// Reads one redirect. Text that it gives to standard input is added to `input`.
    pub fn read_redirect(
        &mut self,
        redirect: &IoRedirect,
        input: &mut Vec<String>,
        place: CommandContext<'_>,
    ) -> ShellRedirect {
        match redirect {
            IoRedirect::File(stream, operator, target) => {
                let redirect = FileRedirect {
                    stream: *stream,
                    operator,
                    target,
                };
                self.read_file_redirect(redirect, input, place)
            }
            IoRedirect::OutputAndError(target, append) => {
                let kind = match append {
                    true => RedirectKind::Append,
                    false => RedirectKind::Write,
                };
                self.build_file_redirect(kind, &target.value, place)
            }
            IoRedirect::HereString(_, word) => {
                let read = self.read_word(&word.value, place);
                let filled = spellings::expand_value(&word.value, &self.known_values);
                input.extend(filled.into_iter().take(INPUT_VARIANTS_MAX));
                ShellRedirect {
                    kind: RedirectKind::HereString,
                    target: to_shell_word(&word.value, &read),
                    is_neutral: false,
                }
            }
            IoRedirect::HereDocument(_, document) => {
                let text = &document.doc.value;
                if document.requires_expansion {
                    self.read_document(text, place);
                    let filled = spellings::expand_document(text, &self.known_values).into_iter();
                    input.extend(
                        filled
                            .filter(|variant| variant != text)
                            .take(INPUT_VARIANTS_MAX),
                    );
                }
                input.push(text.clone());
                ShellRedirect {
                    kind: RedirectKind::HereDoc,
                    target: match document.requires_expansion {
                        true => ShellWord::Dynamic(text.clone()),
                        false => ShellWord::Literal(text.clone()),
                    },
                    is_neutral: false,
                }
            }
        }
    }

    fn read_file_redirect(
        &mut self,
        redirect: FileRedirect<'_>,
        input: &mut Vec<String>,
        place: CommandContext<'_>,
    ) -> ShellRedirect {
        let how = match redirect.operator {
            Kind::Read => RedirectKind::Read,
            Kind::Write | Kind::Clobber => RedirectKind::Write,
            Kind::Append => RedirectKind::Append,
            Kind::ReadAndWrite => RedirectKind::ReadWrite,
            Kind::DuplicateInput | Kind::DuplicateOutput => RedirectKind::Duplicate,
        };
        let known_stream = redirect
            .stream
            .is_none_or(|stream| (0..=2).contains(&stream));
        match redirect.target {
            Target::Filename(word) => self.build_file_redirect(how, &word.value, place),
            Target::Fd(stream) => ShellRedirect {
                kind: RedirectKind::Duplicate,
                target: ShellWord::Literal(stream.to_string()),
                is_neutral: known_stream && (0..=2).contains(stream),
            },
            Target::Duplicate(word) => {
                let is_stream = matches!(word.value.as_str(), "0" | "1" | "2");
                let is_number = word
                    .value
                    .strip_suffix('-')
                    .unwrap_or(&word.value)
                    .bytes()
                    .all(|byte| byte.is_ascii_digit());
                if is_number {
                    return ShellRedirect {
                        kind: RedirectKind::Duplicate,
                        target: ShellWord::Literal(word.value.clone()),
                        is_neutral: is_stream && known_stream,
                    };
                }
                // `>&file` is `&>file`.
                let how = match redirect.operator {
                    Kind::DuplicateInput => RedirectKind::Read,
                    Kind::DuplicateOutput
                    | Kind::Read
                    | Kind::Write
                    | Kind::Append
                    | Kind::ReadAndWrite
                    | Kind::Clobber => RedirectKind::Write,
                };
                self.build_file_redirect(how, &word.value, place)
            }
            Target::ProcessSubstitution(_, shell) => {
                input.extend_from_slice(self.walk_substitution(&shell.list, place));
                ShellRedirect {
                    kind: how,
                    target: ShellWord::Dynamic("<(…)".to_owned()),
                    is_neutral: false,
                }
            }
        }
    }

    fn build_file_redirect(
        &mut self,
        kind: RedirectKind,
        raw: &str,
        place: CommandContext<'_>,
    ) -> ShellRedirect {
        let read = self.read_word(raw, place);
        let target = to_shell_word(raw, &read);
        let neutral = target == ShellWord::Literal("/dev/null".to_owned());
        ShellRedirect {
            kind,
            target,
            is_neutral: neutral,
        }
    }
}

/// Why a redirect is in the way of an allow.
pub(in crate::shell) fn redirect_reason(redirect: &ShellRedirect) -> String {
    match redirect.kind {
        RedirectKind::Read => format!("It reads from `{}`.", redirect.target.text()),
        RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => {
            format!("It writes to `{}`.", redirect.target.text())
        }
        RedirectKind::Duplicate => "It changes its streams.".to_owned(),
        RedirectKind::HereDoc => "It is given a here-document.".to_owned(),
        RedirectKind::HereString => "It is given a here-string.".to_owned(),
    }
}
