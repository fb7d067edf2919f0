//! Tools of other people's servers that are tasks alone, by the words of 2025.

use std::sync::{Arc, Mutex};

use protocol::server::elicitation::FieldKind;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tools::elicitation::{ElicitationKind, ElicitationReply, ElicitationRequest};

use super::support::*;
use super::{free_port, http, node, run, started, stdio};

/// Chooses the first option that it is given.
struct Decisive;

#[async_trait::async_trait]
impl tools::ElicitationChannel for Decisive {
    async fn ask(&self, asking: ElicitationRequest) -> ElicitationReply {
        let ElicitationKind::Form(fields) = asking.kind else {
            panic!("{:?}", asking.kind);
        };
        let FieldKind::Choice { options, .. } = &fields[0].kind else {
            panic!("{:?}", fields[0]);
        };
        let chosen = (fields[0].name.clone(), options[0].value.clone().into());
        ElicitationReply::Filled(serde_json::Map::from_iter([chosen]))
    }
}

/// A tool of others that is a task alone, as programs and by HTTP: its states are told, and its question is answered.
#[tokio::test]
async fn tasks_of_others_are_waited_for() {
    let (program, args) = node("server-everything", &["stdio"]);
    let (_, args_http) = node("server-everything", &["streamableHttp"]);
    let port = free_port();
    let _running = run(&program, &args_http, &[("PORT", &port)]);
    for settings in [stdio(program.clone(), args), http(&port)] {
        let server = started(settings).await;
        let (told, never) = (Arc::new(Mutex::new(Vec::new())), CancellationToken::new());
        let tool = "simulate-research-query";
        let answer = call_hearing(&server, tool, json!({ "topic": "ice" }), &never, &told).await;
        let text = answer.unwrap().text;
        assert!(text.starts_with("# Research Report: ice\n"), "{text}");
        let told = told.lock().unwrap().clone();
        assert!(told.iter().any(|state| state.ends_with("...")), "{told:?}");

        let arguments = json!({ "topic": "python", "ambiguous": true });
        let answer = call_asking(&server, tool, arguments, Arc::new(Decisive)).await;
        let text = answer.unwrap().text;
        assert!(
            text.starts_with("# Research Report: python (programming)"),
            "{text}"
        );
    }
}
