//! Questions as an editor's forms, and the answers that come back.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    BooleanPropertySchema, ElicitationContentValue, ElicitationPropertySchema, ElicitationSchema,
    EnumOption, IntegerPropertySchema, MultiSelectPropertySchema, NumberPropertySchema,
    StringFormat, StringPropertySchema,
};
use protocol::Decision;
use protocol::server::elicitation::{FieldKind, FormField, FormOption, TextFormat};
use protocol::text::display_text::join_spans;
use protocol::view::preview::Question;
use serde_json::{Map, Value};

/// Values of a form, by the names of its fields.
pub(super) type FormValues = BTreeMap<String, ElicitationContentValue>;

/// Returns the form of the agent's questions.
pub(super) fn form_from_questions(questions: &[Question]) -> ElicitationSchema {
    let numbered = questions.iter().enumerate();
    numbered.fold(ElicitationSchema::new(), |form, (place, question)| {
        form.property(question_name(place), question_field(question), true)
    })
}

/// Returns the name of a question's field; editors sort by it.
fn question_name(place: usize) -> String {
    format!("question_{:02}", place + 1)
}

fn question_field(question: &Question) -> ElicitationPropertySchema {
    let options: Vec<EnumOption> = question
        .options
        .iter()
        .map(|option| {
            EnumOption::new(&option.label, &option.label).description(option.description.clone())
        })
        .collect();
    let title = question.header.clone();
    match question.multi_select && !options.is_empty() {
        true => MultiSelectPropertySchema::titled(options)
            .title(title)
            .description(question.question.clone())
            .min_items(1)
            .into(),
        false => StringPropertySchema::new()
            .title(title)
            .description(question.question.clone())
            .one_of(Some(options).filter(|options| !options.is_empty()))
            .into(),
    }
}

/// Returns the person's answers to the agent's questions; that they were skipped, unless each has its answer.
pub(super) fn decision_from_values(questions: &[Question], mut values: FormValues) -> Decision {
    let answers = (0..questions.len()).map(|place| match values.remove(&question_name(place)) {
        Some(ElicitationContentValue::String(answer)) => Some(vec![answer]),
        Some(ElicitationContentValue::StringArray(answers)) => Some(answers),
        Some(_) | None => None,
    });
    match answers.collect() {
        Some(answers) => Decision::Answer { answers },
        None => Decision::Skip,
    }
}

/// Returns the form of a server.
pub(super) fn form_from_fields(fields: &[FormField]) -> ElicitationSchema {
    fields.iter().fold(ElicitationSchema::new(), |form, field| {
        form.property(&field.name, field_schema(field), field.required)
    })
}

fn field_schema(field: &FormField) -> ElicitationPropertySchema {
    let title = Some(join_spans(&field.title));
    let words = [Some(join_spans(&field.description)), field.warning.clone()];
    let words: Vec<String> = words
        .into_iter()
        .flatten()
        .filter(|words| !words.is_empty())
        .collect();
    let about = Some(words.join(" ")).filter(|about| !about.is_empty());
    match &field.kind {
        FieldKind::Text {
            format,
            chars_min,
            chars_max,
            default,
        } => StringPropertySchema::new()
            .title(title)
            .description(about)
            .format(format.map(to_string_format))
            .min_length(*chars_min)
            .max_length(*chars_max)
            .default_value(default.clone())
            .into(),
        FieldKind::Number {
            integer: true,
            min,
            max,
            default,
        } => IntegerPropertySchema::new()
            .title(title)
            .description(about)
            .minimum(min.map(|min| min.ceil() as i64))
            .maximum(max.map(|max| max.floor() as i64))
            .default_value(default.map(|default| default as i64))
            .into(),
        FieldKind::Number {
            integer: false,
            min,
            max,
            default,
        } => NumberPropertySchema::new()
            .title(title)
            .description(about)
            .minimum(*min)
            .maximum(*max)
            .default_value(*default)
            .into(),
        FieldKind::Boolean { default } => BooleanPropertySchema::new()
            .title(title)
            .description(about)
            .default_value(*default)
            .into(),
        FieldKind::Choice { options, default } => StringPropertySchema::new()
            .title(title)
            .description(about)
            .one_of(to_enum_options(options))
            .default_value(default.clone())
            .into(),
        FieldKind::Choices {
            options,
            items_min,
            items_max,
            default,
        } => MultiSelectPropertySchema::titled(to_enum_options(options))
            .title(title)
            .description(about)
            .min_items(items_min.map(u64::from))
            .max_items(items_max.map(u64::from))
            .default_value(default.clone())
            .into(),
    }
}

fn to_string_format(format: TextFormat) -> StringFormat {
    match format {
        TextFormat::Email => StringFormat::Email,
        TextFormat::Uri => StringFormat::Uri,
        TextFormat::Date => StringFormat::Date,
        TextFormat::DateTime => StringFormat::DateTime,
    }
}

fn to_enum_options(options: &[FormOption]) -> Vec<EnumOption> {
    let options = options.iter();
    options
        .map(|option| EnumOption::new(&option.value, join_spans(&option.title)))
        .collect()
}

/// Returns the values of a form as a server gets them.
pub(super) fn values_to_json(values: FormValues) -> Map<String, Value> {
    let values = values.into_iter().map(|(name, value)| {
        let value = match value {
            ElicitationContentValue::String(text) => text.into(),
            ElicitationContentValue::Integer(number) => number.into(),
            ElicitationContentValue::Number(number) => number.into(),
            ElicitationContentValue::Boolean(is_set) => is_set.into(),
            ElicitationContentValue::StringArray(texts) => texts.into(),
            _ => Value::Null,
        };
        (name, value)
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use protocol::text::display_text::to_spans;
    use protocol::view::preview::QuestionOption;
    use serde_json::json;

    use super::*;

    fn question(options: &[&str], multi_select: bool) -> Question {
        let options = options.iter().map(|label| QuestionOption {
            label: (*label).to_owned(),
            description: None,
        });
        Question {
            question: "Which?".to_owned(),
            header: None,
            options: options.collect(),
            multi_select,
        }
    }

    #[test]
    fn questions_are_answered_in_order_or_skipped() {
        let questions = [
            question(&["a", "b"], false),
            question(&[], false),
            question(&["c"], true),
        ];
        let form = serde_json::to_value(form_from_questions(&questions)).unwrap();
        assert_eq!(
            form["required"],
            json!(["question_01", "question_02", "question_03"])
        );
        assert_eq!(form["properties"]["question_01"]["oneOf"][1]["const"], "b");
        assert_eq!(form["properties"]["question_02"]["oneOf"], Value::Null);
        assert_eq!(form["properties"]["question_03"]["type"], "array");

        let mut values = FormValues::from([
            ("question_01".to_owned(), "a".into()),
            ("question_02".to_owned(), "free".into()),
            ("question_03".to_owned(), vec!["c"].into()),
        ]);
        let answers = vec![vec!["a".into()], vec!["free".into()], vec!["c".into()]];
        assert_eq!(
            decision_from_values(&questions, values.clone()),
            Decision::Answer { answers }
        );
        values.remove("question_02");
        assert_eq!(decision_from_values(&questions, values), Decision::Skip);
    }

    #[test]
    fn every_kind_of_field_is_a_field_of_the_form() {
        let field = |name: &str, kind: FieldKind| FormField {
            name: name.to_owned(),
            title: to_spans(name),
            description: to_spans("About it."),
            required: name == "count",
            kind,
            warning: None,
        };
        let options = vec![FormOption {
            value: "x".to_owned(),
            title: to_spans("X"),
        }];
        let fields = [
            field(
                "mail",
                FieldKind::Text {
                    format: Some(TextFormat::Email),
                    chars_min: None,
                    chars_max: Some(9),
                    default: None,
                },
            ),
            field(
                "count",
                FieldKind::Number {
                    integer: true,
                    min: Some(0.5),
                    max: None,
                    default: None,
                },
            ),
            field(
                "sure",
                FieldKind::Boolean {
                    default: Some(true),
                },
            ),
            field(
                "one",
                FieldKind::Choice {
                    options: options.clone(),
                    default: None,
                },
            ),
            field(
                "some",
                FieldKind::Choices {
                    options,
                    items_min: None,
                    items_max: Some(1),
                    default: Vec::new(),
                },
            ),
        ];
        let form = serde_json::to_value(form_from_fields(&fields)).unwrap();
        assert_eq!(form["required"], json!(["count"]));
        let properties = &form["properties"];
        assert_eq!(properties["mail"]["format"], "email");
        assert_eq!(properties["mail"]["maxLength"], 9);
        assert_eq!(properties["count"]["minimum"], 1);
        assert_eq!(properties["sure"]["default"], true);
        assert_eq!(properties["one"]["oneOf"][0]["title"], "X");
        assert_eq!(properties["some"]["maxItems"], 1);
        assert_eq!(properties["some"]["description"], "About it.");

        let values = FormValues::from([
            ("count".to_owned(), 3.into()),
            ("sure".to_owned(), true.into()),
        ]);
        assert_eq!(
            Value::from(values_to_json(values)),
            json!({ "count": 3, "sure": true })
        );
    }
}
