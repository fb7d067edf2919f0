//! Asking the person at the editor about a call that waits, and handing the answer to the engine.

use agent::Engine;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    self, ClientCapabilities, CreateElicitationRequest, ElicitationAction, ElicitationFormMode,
    ElicitationMode, ElicitationSchema, ElicitationSessionScope, ElicitationUrlMode,
    RequestPermissionRequest, ToolCallUpdate,
};
use agent_client_protocol::{Client, JsonRpcRequest};
use protocol::text::display_text::join_spans;
use protocol::view::preview::{Question, UndoAvailability};
use protocol::{
    CallView, Decision, Digest, Op, Preview, ServerAnswer, ServerRequestKind, ServerRequestView,
    SessionId, UserError,
};
use tokio_util::sync::CancellationToken;

use super::forms::{self, FormValues};
use super::permission::Choices;

/// A call that waits for a person, and all that is needed to ask.
pub(super) struct OpenQuestion {
    pub desk: Engine,
    pub client: ConnectionTo<Client>,
    pub capabilities: ClientCapabilities,
    /// The session that the editor knows.
    pub known: SessionId,
    /// The session that the call belongs to: the same, or that of a sub-agent.
    pub session: SessionId,
    pub view: CallView,
    /// The call as the editor shows it.
    pub shown: ToolCallUpdate,
    /// Cancelled when the question is no longer open.
    pub withdrawn: CancellationToken,
}

/// Answer of an editor to a form or an address.
enum FormAnswer {
    Accepted(FormValues),
    Declined,
    Dismissed,
}

impl OpenQuestion {
    /// Asks, and submits the answer for exactly what was shown. Without a decision the run is stopped.
    pub async fn ask(self) -> Result<(), agent_client_protocol::Error> {
        let submitted = match (self.view.open_server_request(), &self.view.pending) {
            (Some(request), _) => self.ask_for_server(request).await,
            (None, Some(pending)) => self.ask_for_decision(&pending.digest).await,
            (None, None) => Ok(()),
        };
        if let Err(fault) = submitted {
            tracing::warn!(%fault, "an answer of the editor was not taken");
        }
        Ok(())
    }

    async fn ask_for_decision(&self, digest: &Digest) -> Result<(), UserError> {
        let decision = if let Preview::Form { questions } = &self.view.preview {
            self.ask_questions(questions).await
        } else {
            self.ask_permission().await
        };
        let Some(decision) = decision else {
            return Ok(());
        };
        let refused = match self.decide(digest, decision).await {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        // What was shown is rejected; if it changed meanwhile, this is refused as well, and the call is asked about anew.
        let rejection = Decision::reject(refused.to_string());
        self.decide(digest, rejection).await.map_err(|_| refused)
    }

    async fn decide(&self, digest: &Digest, decision: Decision) -> Result<(), UserError> {
        let op = Op::Decide {
            session: self.session.clone(),
            call: self.view.call.id.clone(),
            digest: digest.clone(),
            decision,
        };
        self.desk.submit(op).await.map(|_receipt| ())
    }

    /// Asks for permission; none if the question was withdrawn, or nothing was decided.
    async fn ask_permission(&self) -> Option<Decision> {
        let choices = Choices::for_call(&self.desk, &self.session, &self.view).await;
        let request = RequestPermissionRequest::new(
            self.known_id(),
            self.describe_card(),
            choices.to_options(),
        );
        let decision = choices.decide(self.request(request).await?);
        if decision.is_none() {
            self.stop_run().await;
        }
        decision
    }

    /// Stops the run, and with it the call.
    async fn stop_run(&self) {
        let session = self.known.clone();
        let _has_ended = self.desk.submit(Op::Interrupt { session }).await;
    }

    /// Returns the call with what a card says beside its content: why it asks, and whether it can be undone.
    fn describe_card(&self) -> ToolCallUpdate {
        let mut card = self.shown.clone();
        let reason = self.view.trail.iter().map(|trail| trail.lead.clone());
        let content = card.fields.content.get_or_insert_default();
        content.extend(reason.map(Into::into));
        if let UndoAvailability::Unsecured { reason } = &self.view.undo_availability {
            content.push(format!("It cannot be undone: {reason}").into());
        }
        card
    }

    /// Asks the agent's own questions; none if they were withdrawn. An editor without forms skips them.
    async fn ask_questions(&self, questions: &[Question]) -> Option<Decision> {
        let asked: Vec<&str> = questions.iter().map(|one| &*one.question).collect();
        let form = forms::form_from_questions(questions);
        Some(match self.ask_form(form, asked.join("\n")).await? {
            FormAnswer::Accepted(values) => forms::decision_from_values(questions, values),
            FormAnswer::Declined | FormAnswer::Dismissed => Decision::Skip,
        })
    }

    /// Asks what a server wants to know.
    async fn ask_for_server(&self, asked: &ServerRequestView) -> Result<(), UserError> {
        let server = &asked.request.server;
        let message = format!("{server}: {}", join_spans(&asked.request.message));
        let answer = match &asked.request.wants {
            ServerRequestKind::Form { fields } => {
                let form = forms::form_from_fields(fields);
                self.ask_form(form, message)
                    .await
                    .map(|answer| match answer {
                        FormAnswer::Accepted(values) => ServerAnswer::Filled {
                            values: forms::values_to_json(values),
                        },
                        FormAnswer::Declined => ServerAnswer::Declined,
                        FormAnswer::Dismissed => ServerAnswer::Dismissed,
                    })
            }
            ServerRequestKind::Address { url, warnings, .. } => {
                let message = [std::slice::from_ref(&message), warnings]
                    .concat()
                    .join("\n");
                self.ask_address(url, asked.id.as_str(), message).await
            }
            // No editor has a form that shows all that the model would be sent.
            ServerRequestKind::Model { .. } => Some(ServerAnswer::Declined),
        };
        let Some(answer) = answer else {
            return Ok(());
        };
        match self.answer_server(asked, answer).await {
            Ok(()) => Ok(()),
            // It does not fit, and an editor asks once.
            Err(refused) => {
                let dismissed = self.answer_server(asked, ServerAnswer::Dismissed).await;
                dismissed.map_err(|_| refused)
            }
        }
    }

    async fn answer_server(
        &self,
        asked: &ServerRequestView,
        answer: ServerAnswer,
    ) -> Result<(), UserError> {
        let op = Op::AnswerServer {
            session: self.session.clone(),
            call: self.view.call.id.clone(),
            request_id: asked.id.clone(),
            answer,
        };
        self.desk.submit(op).await.map(|_receipt| ())
    }

    /// Shows a form; none if it was withdrawn.
    async fn ask_form(&self, form: ElicitationSchema, message: String) -> Option<FormAnswer> {
        let elicitation = self.capabilities.elicitation.as_ref();
        if elicitation.is_none_or(|can| can.form.is_none()) {
            return Some(FormAnswer::Dismissed);
        }
        let mode = ElicitationFormMode::new(self.scope(), form);
        self.elicit(ElicitationMode::Form(mode), message).await
    }

    /// Asks to open an address; none if the question was withdrawn.
    async fn ask_address(&self, url: &str, id: &str, message: String) -> Option<ServerAnswer> {
        let elicitation = self.capabilities.elicitation.as_ref();
        if elicitation.is_none_or(|can| can.url.is_none()) {
            return Some(ServerAnswer::Dismissed);
        }
        let mode = ElicitationUrlMode::new(self.scope(), id.to_owned(), url);
        let answer = self.elicit(ElicitationMode::Url(mode), message).await?;
        Some(match answer {
            FormAnswer::Accepted(_) => ServerAnswer::Opened,
            FormAnswer::Declined => ServerAnswer::Declined,
            FormAnswer::Dismissed => ServerAnswer::Dismissed,
        })
    }

    async fn elicit(&self, mode: ElicitationMode, message: String) -> Option<FormAnswer> {
        let request = CreateElicitationRequest::new(mode, message);
        Some(
            match self.request(request).await?.map(|answer| answer.action) {
                Ok(ElicitationAction::Accept(accepted)) => {
                    FormAnswer::Accepted(accepted.content.unwrap_or_default())
                }
                Ok(ElicitationAction::Decline) => FormAnswer::Declined,
                Ok(_) | Err(_) => FormAnswer::Dismissed,
            },
        )
    }

    /// Sends a request, and waits for its answer; none if the question was withdrawn, of which the editor is told.
    async fn request<T: JsonRpcRequest>(
        &self,
        request: T,
    ) -> Option<Result<T::Response, agent_client_protocol::Error>> {
        let answer = self.client.send_request(request).block_task();
        tokio::select! {
            biased;
            () = self.withdrawn.cancelled() => None,
            answer = answer => Some(answer),
        }
    }

    fn known_id(&self) -> schema::SessionId {
        schema::SessionId::new(self.known.as_str())
    }

    fn scope(&self) -> ElicitationSessionScope {
        ElicitationSessionScope::new(self.known_id()).tool_call_id(self.shown.tool_call_id.clone())
    }
}
