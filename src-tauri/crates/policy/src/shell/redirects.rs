//! Where the streams of a command lead, and which of them touch nothing.

use brush_parser::ast::{
    IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect, RedirectList,
};

use super::facts::{Redirect, RedirectKind, SimpleCommand, Via, Word};
use super::script::{Place, Reader};
use super::spell;
use super::word::decode;

/// Most texts that one here-document or here-string may become.
const FILLED_MAX: usize = 4;

impl Reader<'_> {
    /// Redirects of a construct, which belong to no simple command.
    pub fn loose_redirects(&mut self, list: Option<&RedirectList>, place: Place<'_>) {
        let Some(list) = list else {
            return;
        };
        let mut input = Vec::new();
        let redirects: Vec<Redirect> = list
            .0
            .iter()
            .map(|redirect| self.redirect(redirect, &mut input, place))
            .collect();
        for redirect in redirects.iter().filter(|redirect| !redirect.neutral) {
            self.unsure(reason(redirect));
        }
        self.push(SimpleCommand {
            words: Vec::new(),
            assignments: Vec::new(),
            redirects,
            via: place.via.clone(),
        });
    }

    /// One redirect. What it brings to standard input is added to `input`.
    pub fn redirect(
        &mut self,
        redirect: &IoRedirect,
        input: &mut Vec<String>,
        place: Place<'_>,
    ) -> Redirect {
        match redirect {
            IoRedirect::File(from, kind, target) => self.file(*from, kind, target, input, place),
            IoRedirect::OutputAndError(target, append) => {
                let kind = match append {
                    true => RedirectKind::Append,
                    false => RedirectKind::Write,
                };
                self.of_file(kind, &target.value, place)
            }
            IoRedirect::HereString(_, word) => {
                let read = self.word(&word.value, place);
                let filled = spell::values(&word.value, &self.known);
                input.extend(filled.into_iter().take(FILLED_MAX));
                Redirect {
                    kind: RedirectKind::HereString,
                    target: decode(&word.value, &read),
                    neutral: false,
                }
            }
            IoRedirect::HereDocument(_, document) => {
                let text = &document.doc.value;
                if document.requires_expansion {
                    self.document(text, place);
                    let filled = spell::documents(text, &self.known).into_iter();
                    input.extend(filled.filter(|said| said != text).take(FILLED_MAX));
                }
                input.push(text.clone());
                Redirect {
                    kind: RedirectKind::HereDoc,
                    target: match document.requires_expansion {
                        true => Word::Dynamic(text.clone()),
                        false => Word::Literal(text.clone()),
                    },
                    neutral: false,
                }
            }
        }
    }

    fn file(
        &mut self,
        from: Option<i32>,
        kind: &Kind,
        target: &Target,
        input: &mut Vec<String>,
        place: Place<'_>,
    ) -> Redirect {
        let how = match kind {
            Kind::Read => RedirectKind::Read,
            Kind::Write | Kind::Clobber => RedirectKind::Write,
            Kind::Append => RedirectKind::Append,
            Kind::ReadAndWrite => RedirectKind::ReadWrite,
            Kind::DuplicateInput | Kind::DuplicateOutput => RedirectKind::Duplicate,
        };
        let known_stream = from.is_none_or(|stream| (0..=2).contains(&stream));
        match target {
            Target::Filename(word) => self.of_file(how, &word.value, place),
            Target::Fd(stream) => Redirect {
                kind: RedirectKind::Duplicate,
                target: Word::Literal(stream.to_string()),
                neutral: known_stream && (0..=2).contains(stream),
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
                    return Redirect {
                        kind: RedirectKind::Duplicate,
                        target: Word::Literal(word.value.clone()),
                        neutral: is_stream && known_stream,
                    };
                }
                // `>&file` is `&>file`.
                let how = match kind {
                    Kind::DuplicateInput => RedirectKind::Read,
                    Kind::DuplicateOutput
                    | Kind::Read
                    | Kind::Write
                    | Kind::Append
                    | Kind::ReadAndWrite
                    | Kind::Clobber => RedirectKind::Write,
                };
                self.of_file(how, &word.value, place)
            }
            Target::ProcessSubstitution(_, shell) => {
                let said = self.said.len();
                let within = Place {
                    via: &Via::Substitution,
                    ..place
                };
                self.list(&shell.list, within);
                input.extend_from_slice(&self.said[said..]);
                Redirect {
                    kind: how,
                    target: Word::Dynamic("<(…)".to_owned()),
                    neutral: false,
                }
            }
        }
    }

    fn of_file(&mut self, kind: RedirectKind, raw: &str, place: Place<'_>) -> Redirect {
        let read = self.word(raw, place);
        let target = decode(raw, &read);
        let neutral = target == Word::Literal("/dev/null".to_owned());
        Redirect {
            kind,
            target,
            neutral,
        }
    }
}

/// Why a redirect is in the way of an allow.
pub(super) fn reason(redirect: &Redirect) -> String {
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
