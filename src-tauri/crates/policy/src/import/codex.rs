//! Prefix rules of Codex: `prefix_rule(pattern = […], decision = "…")`, of which the strictest wins. Only these calls are
//! read; a file that does more is refused.

use protocol::{RuleAction, UserError};

use super::tokens::{Token, tokenize};
use super::translated_pattern::is_plain_word;
use super::{ImportedPermission, TranslatedRule, Translation, parse_error};

const PRODUCT: &str = "Codex";

/// A value of an argument.
#[derive(Debug, Clone)]
enum CodexValue {
    Text(String),
    List(Vec<CodexValue>),
}

/// Reads the rules.
pub(super) fn parse_rules(text: &str) -> Result<Vec<ImportedPermission>, UserError> {
    let mut reader = CodexParser {
        tokens: tokenize(text, PRODUCT)?,
        at: 0,
    };
    let mut all = Vec::new();
    while reader.at < reader.tokens.len() {
        let line = reader.line();
        let name = reader.expect_name()?;
        let arguments = reader.parse_arguments()?;
        all.push(match name.as_str() {
            "prefix_rule" => parse_prefix_rule(&arguments, line)?,
            _ => ImportedPermission {
                written: format!("{name}(…)"),
                line: Some(line),
                action: RuleAction::Deny,
                reading: Translation::Unneeded(
                    "It is not a rule for commands, and is not taken over.".into(),
                ),
            },
        });
    }
    Ok(all)
}

fn parse_prefix_rule(
    arguments: &[(String, CodexValue)],
    line: u32,
) -> Result<ImportedPermission, UserError> {
    let argument = |name: &str| {
        let mut values = arguments.iter().filter(|(argument, _)| argument == name);
        values.next().map(|(_, value)| value)
    };
    let bad = |what: &str| parse_error(PRODUCT, line as usize, what);
    let action = match argument("decision") {
        None => RuleAction::Allow,
        Some(CodexValue::Text(text)) if text == "allow" => RuleAction::Allow,
        Some(CodexValue::Text(text)) if text == "prompt" => RuleAction::Ask,
        Some(CodexValue::Text(text)) if text == "forbidden" => RuleAction::Deny,
        Some(_) => {
            return Err(bad(
                "the decision is neither allow nor prompt nor forbidden",
            ));
        }
    };
    let Some(CodexValue::List(pattern)) = argument("pattern") else {
        return Err(bad("a rule has no list as its pattern"));
    };
    let words = pattern
        .iter()
        .map(word_alternatives)
        .collect::<Option<Vec<_>>>();
    let Some(words) = words.filter(|words| !words.is_empty()) else {
        return Err(bad("a pattern is a list of texts and of lists of them"));
    };
    let reason = match argument("justification") {
        Some(CodexValue::Text(text)) => Some(text.clone()),
        Some(CodexValue::List(_)) | None => None,
    };
    let written: Vec<String> = words.iter().map(|word| word.join("|")).collect();
    Ok(ImportedPermission {
        written: written.join(" "),
        line: Some(line),
        action,
        reading: translate_prefix_rule(&words, reason, argument("match"), argument("not_match")),
    })
}

fn translate_prefix_rule(
    words: &[Vec<String>],
    reason: Option<String>,
    matches: Option<&CodexValue>,
    not_matches: Option<&CodexValue>,
) -> Translation {
    let is_sayable = |word: &String| is_plain_word(word) && !word.is_empty() && !word.contains(',');
    if !words.iter().flatten().all(is_sayable) {
        return Translation::Unsupported {
            about: Some("bash".into()),
            note: "Only plain words can be taken over, and this has others.".into(),
        };
    }
    let words: Vec<String> = words
        .iter()
        .map(|word| match word.as_slice() {
            [one] => one.clone(),
            several => format!("{{{}}}", several.join(",")),
        })
        .collect();
    Translation::Rule {
        rule: TranslatedRule {
            permission: "bash".into(),
            pattern: Some(format!("{} *", words.join(" "))),
            reason,
            matches: example_commands(matches),
            not_matches: example_commands(not_matches),
        },
        note: String::new(),
    }
}

/// The texts that a place of a pattern may have.
fn word_alternatives(value: &CodexValue) -> Option<Vec<String>> {
    match value {
        CodexValue::Text(text) => Some(vec![text.clone()]),
        CodexValue::List(list) if !list.is_empty() => list.iter().map(single_text).collect(),
        CodexValue::List(_) => None,
    }
}

fn single_text(value: &CodexValue) -> Option<String> {
    match value {
        CodexValue::Text(text) => Some(text.clone()),
        CodexValue::List(_) => None,
    }
}

/// Examples as command lines; one that would have to be quoted is left out.
fn example_commands(value: Option<&CodexValue>) -> Vec<String> {
    let Some(CodexValue::List(list)) = value else {
        return Vec::new();
    };
    list.iter()
        .filter_map(|example| match example {
            CodexValue::Text(text) => Some(text.clone()),
            CodexValue::List(words) => {
                let words: Vec<String> = words.iter().map(single_text).collect::<Option<_>>()?;
                let plain = words
                    .iter()
                    .all(|word| is_plain_word(word) && !word.is_empty());
                plain.then(|| words.join(" "))
            }
        })
        .collect()
}

struct CodexParser {
    tokens: Vec<(u32, Token)>,
    at: usize,
}

impl CodexParser {
    fn line(&self) -> u32 {
        let here = self.tokens.get(self.at).or(self.tokens.last());
        here.map_or(1, |(line, _)| *line)
    }

    fn error_at_line(&self, what: &str) -> UserError {
        parse_error(PRODUCT, self.line() as usize, what)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|(_, token)| token.clone());
        self.at += 1;
        token
    }

    fn skip_sign(&mut self, sign: char) -> bool {
        let is_there = self
            .tokens
            .get(self.at)
            .is_some_and(|(_, token)| *token == Token::Sign(sign));
        self.at += usize::from(is_there);
        is_there
    }

    fn expect_name(&mut self) -> Result<String, UserError> {
        let bad = self.error_at_line("a name is missing");
        match self.next() {
            Some(Token::Name(name)) => Ok(name),
            Some(Token::Text(_) | Token::Sign(_)) | None => Err(bad),
        }
    }

    fn parse_arguments(&mut self) -> Result<Vec<(String, CodexValue)>, UserError> {
        if !self.skip_sign('(') {
            return Err(self.error_at_line("only calls such as `prefix_rule(…)` are read"));
        }
        let mut arguments = Vec::new();
        while !self.skip_sign(')') {
            let name = self.expect_name()?;
            if !self.skip_sign('=') {
                return Err(self.error_at_line("an argument has no `=`"));
            }
            arguments.push((name, self.parse_value(0)?));
            if !self.skip_sign(',')
                && !matches!(self.tokens.get(self.at), Some((_, Token::Sign(')'))))
            {
                return Err(self.error_at_line("a comma or a bracket is missing"));
            }
        }
        Ok(arguments)
    }

    fn parse_value(&mut self, depth: usize) -> Result<CodexValue, UserError> {
        const DEEPEST: usize = 3;
        let bad = self.error_at_line("a value is a text or a list of them");
        match self.next() {
            Some(Token::Text(text)) => Ok(CodexValue::Text(text)),
            Some(Token::Sign('[')) if depth < DEEPEST => {
                let mut list = Vec::new();
                while !self.skip_sign(']') {
                    list.push(self.parse_value(depth + 1)?);
                    if !self.skip_sign(',')
                        && !matches!(self.tokens.get(self.at), Some((_, Token::Sign(']'))))
                    {
                        return Err(self.error_at_line("a comma or a bracket is missing"));
                    }
                }
                Ok(CodexValue::List(list))
            }
            Some(Token::Name(_) | Token::Sign(_)) | None => Err(bad),
        }
    }
}
