//! `question` and `todo`: the two tools that touch nothing.

use policy::QuestionAnswers;
use protocol::view::preview::{Question, QuestionOption, TodoItem, TodoStatus};
use protocol::{Plan, Preview};
use serde_json::{Value, json};
use tools::{HEADLESS_REFUSAL, LOCKED_TOOL_IDS};

use crate::support::Bench;

fn form() -> Value {
    json!({"questions": [
        {"question": "Which database?", "header": "Store", "options": [{"label": "SQLite", "description": "one file"}, {"label": "Postgres"}]},
        {"question": "Which parts?", "options": [{"label": "a"}, {"label": "b"}], "multi_select": true},
        {"question": "What name?"},
    ]})
}

#[tokio::test]
async fn questions_become_a_form_s002_34() {
    let prepared = Bench::new().prepare("question", &form()).await.unwrap();
    let option = |label: &str, description: Option<&str>| QuestionOption {
        label: label.to_owned(),
        description: description.map(str::to_owned),
    };
    let question =
        |text: &str, header: Option<&str>, options: Vec<QuestionOption>, multi_select| Question {
            question: text.to_owned(),
            header: header.map(str::to_owned),
            options,
            multi_select,
        };
    assert_eq!(
        prepared.preview,
        Preview::Form {
            questions: vec![
                question(
                    "Which database?",
                    Some("Store"),
                    vec![option("SQLite", Some("one file")), option("Postgres", None)],
                    false
                ),
                question(
                    "Which parts?",
                    None,
                    vec![option("a", None), option("b", None)],
                    true
                ),
                question("What name?", None, vec![], false),
            ],
        }
    );
    assert_eq!(prepared.plan, Plan::None);
}

#[tokio::test]
async fn answers_come_back_in_order_s002_36() {
    let bench = Bench::new();
    let given = vec![
        vec!["Postgres".to_owned()],
        vec!["a".to_owned(), "b".to_owned()],
        vec!["my own".to_owned()],
    ];
    let output = bench
        .answered("question", &form(), Some(QuestionAnswers::Answered(given)))
        .await
        .unwrap();
    assert_eq!(
        output.text,
        "The person answered:\n1. Which database?\n   Postgres\n2. Which parts?\n   a; b\n3. What name?\n   my own"
    );
    assert_eq!(
        output.data.unwrap(),
        json!({"answers": [["Postgres"], ["a", "b"], ["my own"]]})
    );

    let declined = bench
        .answered("question", &form(), Some(QuestionAnswers::Declined))
        .await
        .unwrap();
    assert!(
        declined.text.starts_with("The person chose not to answer."),
        "{}",
        declined.text
    );
    let short = QuestionAnswers::Answered(vec![vec![]]);
    let error = bench
        .answered("question", &form(), Some(short))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "1 answer came for 3 questions, so they cannot be matched. Ask again."
    );
}

#[tokio::test]
async fn without_a_person_the_refusal_is_fixed_s002_37() {
    let bench = Bench::new();
    let refusing: Vec<(String, &str)> = bench
        .registry
        .definitions()
        .iter()
        .filter(|d| LOCKED_TOOL_IDS.contains(&d.name.as_str()))
        .filter_map(|d| {
            Some((
                d.name.clone(),
                bench
                    .registry
                    .find(&d.name)
                    .unwrap()
                    .tool
                    .headless_refusal()?,
            ))
        })
        .collect();
    assert_eq!(
        refusing,
        [("question".to_owned(), HEADLESS_REFUSAL)],
        "no other locked tool has one"
    );
    assert_eq!(bench.error("question", &form()).await, HEADLESS_REFUSAL);
}

#[tokio::test]
async fn a_form_that_makes_no_sense_is_refused_s002_34() {
    let bench = Bench::new();
    let eleven: Vec<Value> = (0..11)
        .map(|n| json!({"question": format!("{n}?")}))
        .collect();
    for (questions, error) in [
        (
            json!([]),
            "`questions` must have at least 1 items, but 0 were given",
        ),
        (
            json!(eleven),
            "`questions` must have at most 10 items, but 11 were given",
        ),
        (
            json!([{"question": "  "}]),
            "`questions[0]` asks nothing; give a question",
        ),
        (
            json!([{"header": "x"}]),
            "`questions[0].question` is missing",
        ),
        (
            json!([{"question": "a?", "option": []}]),
            "`option` is not a member of `questions[0]`",
        ),
        (
            json!([{"question": "a?"}, {"question": "b?", "options": [{"label": "x"}, {"label": "x "}]}]),
            "`questions[1]` has the label \"x\" twice; the answers could not be told apart, so give each its own",
        ),
        (
            json!([{"question": "a?", "multi_select": true}]),
            "`questions[0]` sets multi_select but has no options to choose from; give options or leave it out",
        ),
        (
            json!([{"question": "a?", "options": [{"label": 4}]}]),
            "`questions[0].options[0].label` must be a string, but the number 4 was given",
        ),
    ] {
        let text = bench
            .error("question", &json!({ "questions": questions }))
            .await;
        assert_eq!(text, format!("Invalid arguments: {error}"));
    }
}

#[tokio::test]
async fn the_list_is_replaced_as_a_whole_s002_18() {
    let bench = Bench::new();
    let item = |content: &str, status| TodoItem {
        content: content.to_owned(),
        status,
    };
    bench
        .said(
            "todo",
            &json!({"items": [{"content": "old", "status": "pending"}]}),
        )
        .await;
    let items = json!({"items": [
        {"content": "read", "status": "completed"},
        {"content": "write", "status": "in_progress"},
        {"content": "test", "status": "pending"},
    ]});
    let expected = vec![
        item("read", TodoStatus::Completed),
        item("write", TodoStatus::InProgress),
        item("test", TodoStatus::Pending),
    ];
    let prepared = bench.prepare("todo", &items).await.unwrap();
    assert_eq!(
        prepared.preview,
        Preview::Todo {
            items: expected.clone()
        }
    );
    let output = bench.call("todo", &items).await.unwrap();
    assert_eq!(
        output.text,
        "The list has 3 items now: 1 completed, 1 in progress, 1 pending."
    );
    assert_eq!(
        (output.message.as_str(), bench.hands.todo_list.items()),
        ("1 of 3 done", expected)
    );

    let two = json!({"items": [{"content": "a", "status": "in_progress"}, {"content": "b", "status": "in_progress"}]});
    assert_eq!(
        bench.said("todo", &two).await,
        "The list has 2 items now: 0 completed, 2 in progress, 0 pending. 2 items are in progress; have at most one, so \
         that the person sees what you do."
    );
    for (items, error) in [
        (
            json!([{"content": "a", "status": "done"}]),
            "`items[0].status` must be one of \"pending\", \"in_progress\", \"completed\", but the string \"done\" was given",
        ),
        (
            json!([{"content": " ", "status": "pending"}]),
            "`items[0].content` is blank; say what is to be done",
        ),
        (
            json!("a, b"),
            "`items` must be an array, but the string \"a, b\" was given",
        ),
    ] {
        let text = bench.error("todo", &json!({ "items": items })).await;
        assert_eq!(text, format!("Invalid arguments: {error}"));
    }
}
