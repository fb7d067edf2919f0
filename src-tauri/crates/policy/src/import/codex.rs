//! Prefix rules of Codex: `prefix_rule(pattern = […], decision = "…")`, of which the strictest wins. Only these calls are
//! read; a file that does more is refused.

use protocol::{Action, Fault};

use super::spell::is_plain;
use super::tokens::{Token, tokens};
use super::{Form, Reading, Said, wrong};

const NAME: &str = "Codex";

/// A value of an argument.
#[derive(Debug, Clone)]
enum Value {
    Text(String),
    List(Vec<Value>),
}

/// Reads the rules.
pub(super) fn read(text: &str) -> Result<Vec<Said>, Fault> {
    let mut reader = Reader {
        tokens: tokens(text, NAME)?,
        at: 0,
    };
    let mut all = Vec::new();
    while reader.at < reader.tokens.len() {
        let line = reader.line();
        let name = reader.name()?;
        let arguments = reader.arguments()?;
        all.push(match name.as_str() {
            "prefix_rule" => prefix_rule(&arguments, line)?,
            _ => Said {
                written: format!("{name}(…)"),
                line: Some(line),
                action: Action::Deny,
                reading: Reading::Needless(
                    "It is no rule for commands, and is not taken over.".into(),
                ),
            },
        });
    }
    Ok(all)
}

fn prefix_rule(arguments: &[(String, Value)], line: u32) -> Result<Said, Fault> {
    let given = |name: &str| {
        let mut found = arguments.iter().filter(|(given, _)| given == name);
        found.next().map(|(_, value)| value)
    };
    let bad = |what: &str| wrong(NAME, line as usize, what);
    let action = match given("decision") {
        None => Action::Allow,
        Some(Value::Text(text)) if text == "allow" => Action::Allow,
        Some(Value::Text(text)) if text == "prompt" => Action::Ask,
        Some(Value::Text(text)) if text == "forbidden" => Action::Deny,
        Some(_) => {
            return Err(bad(
                "the decision is neither allow nor prompt nor forbidden",
            ));
        }
    };
    let Some(Value::List(pattern)) = given("pattern") else {
        return Err(bad("a rule has no list as its pattern"));
    };
    let words = pattern.iter().map(alternatives).collect::<Option<Vec<_>>>();
    let Some(words) = words.filter(|words| !words.is_empty()) else {
        return Err(bad("a pattern is a list of texts and of lists of them"));
    };
    let reason = match given("justification") {
        Some(Value::Text(text)) => Some(text.clone()),
        Some(Value::List(_)) | None => None,
    };
    let written: Vec<String> = words.iter().map(|word| word.join("|")).collect();
    Ok(Said {
        written: written.join(" "),
        line: Some(line),
        action,
        reading: reading(&words, reason, given("match"), given("not_match")),
    })
}

fn reading(
    words: &[Vec<String>],
    reason: Option<String>,
    matches: Option<&Value>,
    not_matches: Option<&Value>,
) -> Reading {
    let is_sayable = |word: &String| is_plain(word) && !word.is_empty() && !word.contains(',');
    if !words.iter().flatten().all(is_sayable) {
        return Reading::Unsayable {
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
    Reading::Rule {
        rule: Form {
            permission: "bash".into(),
            pattern: Some(format!("{} *", words.join(" "))),
            reason,
            matches: examples(matches),
            not_matches: examples(not_matches),
        },
        note: String::new(),
    }
}

/// The texts that a place of a pattern may have.
fn alternatives(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Text(text) => Some(vec![text.clone()]),
        Value::List(list) if !list.is_empty() => list.iter().map(text).collect(),
        Value::List(_) => None,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::List(_) => None,
    }
}

/// Examples as command lines; one that would have to be quoted is left out.
fn examples(value: Option<&Value>) -> Vec<String> {
    let Some(Value::List(list)) = value else {
        return Vec::new();
    };
    list.iter()
        .filter_map(|example| match example {
            Value::Text(text) => Some(text.clone()),
            Value::List(words) => {
                let words: Vec<String> = words.iter().map(text).collect::<Option<_>>()?;
                let plain = words.iter().all(|word| is_plain(word) && !word.is_empty());
                plain.then(|| words.join(" "))
            }
        })
        .collect()
}

struct Reader {
    tokens: Vec<(u32, Token)>,
    at: usize,
}

impl Reader {
    fn line(&self) -> u32 {
        let here = self.tokens.get(self.at).or(self.tokens.last());
        here.map_or(1, |(line, _)| *line)
    }

    fn bad(&self, what: &str) -> Fault {
        wrong(NAME, self.line() as usize, what)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|(_, token)| token.clone());
        self.at += 1;
        token
    }

    fn skips(&mut self, sign: char) -> bool {
        let is_there = self
            .tokens
            .get(self.at)
            .is_some_and(|(_, token)| *token == Token::Sign(sign));
        self.at += usize::from(is_there);
        is_there
    }

    fn name(&mut self) -> Result<String, Fault> {
        let bad = self.bad("a name is missing");
        match self.next() {
            Some(Token::Name(name)) => Ok(name),
            Some(Token::Text(_) | Token::Sign(_)) | None => Err(bad),
        }
    }

    fn arguments(&mut self) -> Result<Vec<(String, Value)>, Fault> {
        if !self.skips('(') {
            return Err(self.bad("only calls such as `prefix_rule(…)` are read"));
        }
        let mut found = Vec::new();
        while !self.skips(')') {
            let name = self.name()?;
            if !self.skips('=') {
                return Err(self.bad("an argument has no `=`"));
            }
            found.push((name, self.value(0)?));
            if !self.skips(',') && !matches!(self.tokens.get(self.at), Some((_, Token::Sign(')'))))
            {
                return Err(self.bad("a comma or a bracket is missing"));
            }
        }
        Ok(found)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        const DEEPEST: usize = 3;
        let bad = self.bad("a value is a text or a list of them");
        match self.next() {
            Some(Token::Text(text)) => Ok(Value::Text(text)),
            Some(Token::Sign('[')) if depth < DEEPEST => {
                let mut list = Vec::new();
                while !self.skips(']') {
                    list.push(self.value(depth + 1)?);
                    if !self.skips(',')
                        && !matches!(self.tokens.get(self.at), Some((_, Token::Sign(']'))))
                    {
                        return Err(self.bad("a comma or a bracket is missing"));
                    }
                }
                Ok(Value::List(list))
            }
            Some(Token::Name(_) | Token::Sign(_)) | None => Err(bad),
        }
    }
}
