//! Forms that are filled in at the terminal, field by field: the agent's questions and servers' forms.

use protocol::server::elicitation::{FieldKind, FormField, FormOption};
use protocol::text::display_text::join_spans;
use protocol::view::preview::Question;
use serde_json::{Map, Value, json};

use super::text_wrap::{escape_to_one_line, wrap_untrusted};

/// A form with the answers so far.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CardForm {
    /// The agent's questions, with the answers so far.
    Questions(Vec<Question>, Vec<Vec<String>>),
    /// A server's fields, with the values so far, and the number of completed fields.
    Fields(Vec<FormField>, Map<String, Value>, usize),
}

impl CardForm {
    /// Returns the next prompt with its options; none if all fields are answered.
    pub fn next_prompt(&self) -> Option<String> {
        match self {
            Self::Questions(questions, answers) => {
                questions.get(answers.len()).map(format_question)
            }
            Self::Fields(fields, _, done) => fields.get(*done).map(format_field),
        }
    }

    /// Whether the next answer is typed without echo.
    pub fn is_secret(&self) -> bool {
        match self {
            Self::Questions(..) => false,
            Self::Fields(fields, _, done) => fields
                .get(*done)
                .is_some_and(|field| field.warning.is_some()),
        }
    }

    /// Records the answer to the current prompt.
    ///
    /// # Errors
    /// The answer is invalid; the sentence says why.
    pub fn answer_field(&mut self, typed: &str) -> Result<(), String> {
        match self {
            Self::Questions(questions, answers) => {
                let Some(question) = questions.get(answers.len()) else {
                    return Ok(());
                };
                let options: Vec<String> = question
                    .options
                    .iter()
                    .map(|one| one.label.clone())
                    .collect();
                answers.push(parse_question_answer(
                    typed,
                    &options,
                    question.multi_select,
                )?);
            }
            Self::Fields(fields, values, done) => {
                let Some(field) = fields.get(*done) else {
                    return Ok(());
                };
                if let Some(value) = parse_field_value(field, typed)? {
                    values.insert(field.name.clone(), value);
                }
                *done += 1;
            }
        }
        Ok(())
    }
}

fn format_question(question: &Question) -> String {
    let mut lines = Vec::new();
    if let Some(header) = &question.header {
        lines.push(escape_to_one_line(header));
    }
    let mut text = format_barred(&question.question);
    let options = question.options.iter().enumerate();
    text.extend(options.map(|(at, option)| {
        let about = option
            .description
            .as_deref()
            .map(|text| format!(": {text}"));
        let about = about.unwrap_or_default();
        format!(
            "│  {}  {}",
            at + 1,
            escape_to_one_line(&format!("{}{about}", option.label))
        )
    }));
    lines.extend(text);
    let how = match (question.options.is_empty(), question.multi_select) {
        (true, _) => "Answer",
        (false, true) => "Numbers with commas, or an answer of your own",
        (false, false) => "A number, or an answer of your own",
    };
    format!("{}\n{how} (Enter sends, Esc skips all): ", lines.join("\n"))
}

/// Parses typed answers: the numbers of options, or words.
fn parse_question_answer(
    typed: &str,
    options: &[String],
    several: bool,
) -> Result<Vec<String>, String> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Err("Write an answer, or press Esc to skip.".to_owned());
    }
    let words: Vec<&str> = typed
        .split([',', ' '])
        .filter(|word| !word.is_empty())
        .collect();
    let numbers: Option<Vec<usize>> = words.iter().map(|word| word.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|_| !options.is_empty()) else {
        return Ok(vec![typed.to_owned()]);
    };
    if numbers.len() > 1 && !several {
        return Err("Choose one.".to_owned());
    }
    let mut picked = Vec::new();
    for number in numbers {
        let option = number.checked_sub(1).and_then(|at| options.get(at));
        let option = option.ok_or_else(|| format!("There is no {number}."))?;
        if !picked.contains(option) {
            picked.push(option.clone());
        }
    }
    Ok(picked)
}

fn format_field(field: &FormField) -> String {
    let mut lines = format_barred(&join_spans(&field.title));
    if !field.description.is_empty() {
        lines.extend(format_barred(&join_spans(&field.description)));
    }
    lines.extend(
        field
            .warning
            .as_deref()
            .map(|warning| format!("! {}", escape_to_one_line(warning))),
    );
    let (default, options): (Option<String>, &[FormOption]) = match &field.kind {
        FieldKind::Text { default, .. } => (default.clone(), &[]),
        FieldKind::Number { default, .. } => (default.map(|number| number.to_string()), &[]),
        FieldKind::Boolean { default } => (
            default.map(|yes| if yes { "yes" } else { "no" }.to_owned()),
            &[],
        ),
        FieldKind::Choice { options, default } => (default.clone(), options),
        FieldKind::Choices {
            options, default, ..
        } => (Some(default.join(", ")), options),
    };
    let options = options.iter().enumerate();
    lines.extend(options.map(|(at, option)| {
        format!(
            "│  {}  {}",
            at + 1,
            escape_to_one_line(&join_spans(&option.title))
        )
    }));
    let how = match field.kind {
        FieldKind::Boolean { .. } => "yes or no",
        FieldKind::Number { .. } => "a number",
        FieldKind::Choice { .. } => "a number of the list",
        FieldKind::Choices { .. } => "numbers with commas",
        FieldKind::Text { .. } => "a text",
    };
    let empty = match (default.filter(|text| !text.is_empty()), field.required) {
        (Some(default), _) => format!("; empty for {}", escape_to_one_line(&default)),
        (None, true) => String::new(),
        (None, false) => "; empty to leave it out".to_owned(),
    };
    format!("{}\n{how}{empty} (Esc puts it away): ", lines.join("\n"))
}

/// Parses a typed value; none to leave the field out. The engine checks the server's constraints beyond the type.
fn parse_field_value(field: &FormField, typed: &str) -> Result<Option<Value>, String> {
    let typed = typed.trim();
    let values = |options: &[FormOption]| -> Vec<String> {
        options.iter().map(|option| option.value.clone()).collect()
    };
    let value = match (&field.kind, typed.is_empty()) {
        (FieldKind::Text { default, .. } | FieldKind::Choice { default, .. }, true) => {
            default.clone().map(Value::String)
        }
        (FieldKind::Number { default, .. }, true) => default.map(|number| json!(number)),
        (FieldKind::Boolean { default }, true) => default.map(Value::Bool),
        (FieldKind::Choices { default, .. }, true) => (!default.is_empty()).then(|| json!(default)),
        (FieldKind::Text { .. }, false) => Some(json!(typed)),
        (FieldKind::Number { integer, .. }, false) => {
            let number: f64 = typed
                .parse()
                .map_err(|_| "That is not a number.".to_owned())?;
            Some(match integer {
                true if number.fract() == 0.0 => json!(number as i64),
                true => return Err("That is not a whole number.".to_owned()),
                false => json!(number),
            })
        }
        (FieldKind::Boolean { .. }, false) => match typed.to_lowercase().as_str() {
            "y" | "yes" | "true" => Some(json!(true)),
            "n" | "no" | "false" => Some(json!(false)),
            _ => return Err("Write yes or no.".to_owned()),
        },
        (FieldKind::Choice { options, .. }, false) => {
            let picked = parse_listed_options(typed, &values(options), false)?;
            picked.into_iter().next().map(Value::String)
        }
        (FieldKind::Choices { options, .. }, false) => {
            Some(json!(parse_listed_options(typed, &values(options), true)?))
        }
    };
    match (value, field.required) {
        (None, true) => Err("This must be filled in.".to_owned()),
        (value, _) => Ok(value),
    }
}

/// Parses options by their numbers or as written; an unlisted one is refused.
fn parse_listed_options(
    typed: &str,
    options: &[String],
    several: bool,
) -> Result<Vec<String>, String> {
    let picked = parse_question_answer(typed, options, several)?;
    match picked.iter().find(|one| !options.contains(one)) {
        Some(_) => Err("Choose by the numbers of the list.".to_owned()),
        None => Ok(picked),
    }
}

fn format_barred(text: &str) -> Vec<String> {
    const COLUMNS: usize = 76;
    wrap_untrusted(text, COLUMNS)
        .into_iter()
        .map(|row| format!("│ {row}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use protocol::view::preview::QuestionOption;

    use super::*;

    fn asked(multi_select: bool) -> CardForm {
        let option = |label: &str| QuestionOption {
            label: label.to_owned(),
            description: None,
        };
        let question = Question {
            question: "Which?\n\u{1b}[2J".to_owned(),
            header: None,
            options: vec![option("red"), option("green")],
            multi_select,
        };
        CardForm::Questions(vec![question], Vec::new())
    }

    #[test]
    fn answers_are_numbers_or_words() {
        for (several, typed, expected) in [
            (false, "2", Ok(vec!["green"])),
            (false, " blue, dark ", Ok(vec!["blue, dark"])),
            (false, "1 2", Err("Choose one.")),
            (true, "2,1,2", Ok(vec!["green", "red"])),
            (true, "3", Err("There is no 3.")),
            (true, "0", Err("There is no 0.")),
            (false, " ", Err("Write an answer, or press Esc to skip.")),
        ] {
            let mut form = asked(several);
            let told = form.next_prompt().unwrap();
            assert!(told.contains("│ U+001B[2J\n│  1  red\n"), "{told}");
            let answered = form.answer_field(typed).map(|()| match &form {
                CardForm::Questions(_, answers) => answers.concat(),
                CardForm::Fields(..) => Vec::new(),
            });
            let expected = expected
                .map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>())
                .map_err(str::to_owned);
            assert_eq!(answered, expected, "{typed}");
            assert_eq!(form.next_prompt().is_none(), expected.is_ok());
        }
    }

    #[test]
    fn fields_take_what_they_are_for() {
        let number = FieldKind::Number {
            integer: true,
            min: None,
            max: None,
            default: None,
        };
        let yes = FieldKind::Boolean {
            default: Some(true),
        };
        let option = |value: &str| FormOption {
            value: value.to_owned(),
            title: Vec::new(),
        };
        let one = FieldKind::Choice {
            options: vec![option("a"), option("b")],
            default: None,
        };
        for (kind, required, typed, expected) in [
            (&number, true, "7", Ok(json!({"x": 7}))),
            (&number, true, "7.5", Err("That is not a whole number.")),
            (&number, true, "", Err("This must be filled in.")),
            (&number, false, "", Ok(json!({}))),
            (&yes, true, "", Ok(json!({"x": true}))),
            (&yes, true, "No", Ok(json!({"x": false}))),
            (&one, true, "2", Ok(json!({"x": "b"}))),
            (&one, true, "c", Err("Choose by the numbers of the list.")),
        ] {
            let field = FormField {
                name: "x".to_owned(),
                title: Vec::new(),
                description: Vec::new(),
                required,
                kind: kind.clone(),
                warning: None,
            };
            let mut form = CardForm::Fields(vec![field], Map::new(), 0);
            let answered = form.answer_field(typed).map(|()| match &form {
                CardForm::Fields(_, values, _) => Value::Object(values.clone()),
                CardForm::Questions(..) => Value::Null,
            });
            assert_eq!(answered, expected.map_err(str::to_owned), "{typed}");
        }
    }
}
