//! Handles the keys of the current card.

use crossterm::event::KeyCode;
use protocol::server::elicitation::ServerRequestKind;
use protocol::{Decision, Op, ServerAnswer, UserError};
use tokio::time::Instant;

use super::card::needs_confirmation;
use super::card_keys::{answer_labels, can_dry_run, can_grant};
use super::card_prompt::{CardMode, CardPrompt, KeyOutcome, start_field};
use super::form::CardForm;
use super::grant_choices::{GrantChoice, choose_by_digit};
use super::keyboard::TerminalInput;
use super::line_editor::{LineEditor, LineState};
use super::waiting_queue::WaitingKind;
use super::{external_programs, write_terminal};
use crate::exit::CliError;
use crate::output::{OutputWriter, TextStyle};

impl CardPrompt {
    /// Handles the person's input, then shows the next card.
    pub(crate) async fn handle_input(
        &mut self,
        input: TerminalInput,
        story: &mut OutputWriter,
    ) -> Result<KeyOutcome, CliError> {
        if let TerminalInput::Interrupt | TerminalInput::Closed = input {
            write_terminal("\n");
            return Ok(KeyOutcome::Interrupt);
        }
        let outcome = self.handle_press(&input).await?;
        self.refresh(story).await?;
        Ok(outcome)
    }

    async fn handle_press(&mut self, input: &TerminalInput) -> Result<KeyOutcome, CliError> {
        let Some(shown) = &mut self.shown else {
            return Ok(KeyOutcome::Handled);
        };
        if *input == TerminalInput::Resized {
            if let CardMode::Arming(_) | CardMode::AwaitingKey = shown.mode {
                self.draw_card();
            }
            return Ok(KeyOutcome::Handled);
        }
        match &mut shown.mode {
            CardMode::Arming(until) => {
                // Input that was typed before the card was seen is no answer to it.
                if Instant::now() >= *until {
                    self.show_prompt();
                }
            }
            CardMode::FillingForm(form, line) => match line.handle_input(input) {
                LineState::Incomplete => {}
                LineState::Cancelled => self.cancel_form().await?,
                LineState::Submitted(text) => match form.answer_field(&text) {
                    Err(why) => {
                        write_terminal(&format!("{why}\n"));
                        start_field(form, line);
                    }
                    Ok(()) if form.next_prompt().is_some() => start_field(form, line),
                    Ok(()) => {
                        let form = form.clone();
                        self.finish_form(form).await?;
                    }
                },
            },
            CardMode::TypingReason(line) => match line.handle_input(input) {
                LineState::Incomplete => {}
                LineState::Cancelled => self.show_prompt(),
                LineState::Submitted(note) => {
                    self.submit_decision(reject_decision(note, false)).await?
                }
            },
            CardMode::AwaitingKey
            | CardMode::ConfirmingAllow(_)
            | CardMode::ChoosingGrant(_)
            | CardMode::ConfirmingGrant(_)
            | CardMode::ConfirmingForm(_) => {
                if let TerminalInput::Key(key) = input {
                    return self.handle_key(*key).await;
                }
            }
        }
        Ok(KeyOutcome::Handled)
    }

    async fn handle_key(&mut self, key: KeyCode) -> Result<KeyOutcome, CliError> {
        let Some(shown) = &mut self.shown else {
            return Ok(KeyOutcome::Handled);
        };
        match (
            std::mem::replace(&mut shown.mode, CardMode::AwaitingKey),
            key,
        ) {
            (CardMode::ConfirmingAllow(rule), KeyCode::Char('Y')) => {
                write_terminal("Y\n");
                self.submit_decision(allow_decision(rule)).await?;
            }
            (CardMode::ChoosingGrant(offered), KeyCode::Char(digit @ '1'..='9')) => {
                match choose_by_digit(&offered, digit) {
                    Some(choice) => self.confirm_grant(choice.clone()),
                    None => shown.mode = CardMode::ChoosingGrant(offered),
                }
            }
            (CardMode::ConfirmingGrant(choice), KeyCode::Char('y')) => {
                self.confirm_allow(Some(choice)).await?
            }
            (CardMode::ConfirmingForm(form), KeyCode::Char('y')) => {
                write_terminal("y\n");
                self.send_form(form).await?;
            }
            (CardMode::ConfirmingForm(_), KeyCode::Char('n')) => {
                write_terminal("n\n");
                self.submit_server_answer(ServerAnswer::Declined).await?;
            }
            (CardMode::ConfirmingForm(form), _) => shown.mode = CardMode::ConfirmingForm(form),
            (
                CardMode::ConfirmingAllow(_)
                | CardMode::ChoosingGrant(_)
                | CardMode::ConfirmingGrant(_),
                _,
            ) => {
                write_terminal("no\n");
                self.show_prompt();
            }
            (_, key) if shown.elicitation().is_some() => self.handle_elicitation_key(key).await?,
            (_, key) => return self.handle_card_key(key).await,
        }
        Ok(KeyOutcome::Handled)
    }

    /// Handles a key on the card of a call.
    async fn handle_card_key(&mut self, key: KeyCode) -> Result<KeyOutcome, CliError> {
        let Some(shown) = &mut self.shown else {
            return Ok(KeyOutcome::Handled);
        };
        match key {
            KeyCode::Char('y') => self.confirm_allow(None).await?,
            KeyCode::Char('n') => {
                let (_, no) = answer_labels(&shown.view);
                write_terminal(&format!("{no}\n"));
                self.submit_decision(reject_decision(String::new(), false))
                    .await?;
            }
            KeyCode::Char('q') => {
                write_terminal("stop\n");
                self.submit_decision(reject_decision(String::new(), true))
                    .await?;
            }
            KeyCode::Char('m') => {
                write_terminal("reject, because (Enter sends, Esc leaves): ");
                shown.mode = CardMode::TypingReason(LineEditor::default());
            }
            KeyCode::Char('p') if can_dry_run(&shown.view) => {
                write_terminal("dry run\n");
                self.submit_decision(Decision::DryRun).await?;
            }
            KeyCode::Char('a') if can_grant(&shown.view) => self.offer_grants().await?,
            KeyCode::Char('e') => return self.edit_arguments().await,
            KeyCode::Char('d') => {
                write_terminal("details\n");
                let whole = self.render_full();
                self.lend_terminal(|| external_programs::page_text(&whole))?;
                if let Some(shown) = &mut self.shown {
                    shown.hidden_lines = 0;
                }
                self.show_prompt();
                return Ok(KeyOutcome::ProgramRan);
            }
            KeyCode::Char('l') if self.queue.len() > 1 => {
                write_terminal("later\n");
                self.queue.rotate();
                self.shown = None;
            }
            KeyCode::Char('?') => {
                write_terminal("\n");
                self.draw_card();
            }
            // Enter and Space never allow.
            _ => {}
        }
        Ok(KeyOutcome::Handled)
    }

    /// Handles a key on the request of a server.
    async fn handle_elicitation_key(&mut self, key: KeyCode) -> Result<(), CliError> {
        let Some(shown) = &self.shown else {
            return Ok(());
        };
        let yes = match shown.elicitation().map(|ask| &ask.request.wants) {
            Some(ServerRequestKind::Address { .. }) => ServerAnswer::Opened,
            Some(ServerRequestKind::Model { .. }) => ServerAnswer::Allowed,
            Some(ServerRequestKind::Form { .. }) | None => return Ok(()),
        };
        let answer = match key {
            KeyCode::Char('y') => yes,
            KeyCode::Char('n') => ServerAnswer::Declined,
            KeyCode::Esc => ServerAnswer::Dismissed,
            _ => return Ok(()),
        };
        write_terminal("\n");
        self.submit_server_answer(answer).await
    }

    /// Allows the call, if all of the card was shown; a call that cannot be undone needs another press.
    async fn confirm_allow(&mut self, rule: Option<GrantChoice>) -> Result<(), CliError> {
        let Some(shown) = &mut self.shown else {
            return Ok(());
        };
        let (yes, _) = answer_labels(&shown.view);
        if shown.hidden_lines > 0 {
            let (left, are, them) = match shown.hidden_lines {
                1 => ("1 line".to_owned(), "was", "it"),
                many => (format!("{many} lines"), "were", "them"),
            };
            write_terminal(&format!("{left} {are} not shown yet: d shows {them}.\n"));
            self.show_prompt();
            return Ok(());
        }
        if needs_confirmation(&shown.view) {
            write_terminal(&format!(
                "{yes}: it cannot be undone. Y (with Shift) does it, any other key does not: "
            ));
            shown.mode = CardMode::ConfirmingAllow(rule);
            return Ok(());
        }
        write_terminal(&format!("{yes}\n"));
        self.submit_decision(allow_decision(rule)).await
    }

    /// Handles a completed form: the agent's answers are sent at once, a server's after a confirmation.
    async fn finish_form(&mut self, form: CardForm) -> Result<(), CliError> {
        match form {
            CardForm::Questions(_, answers) => {
                self.submit_decision(Decision::Answer { answers }).await
            }
            CardForm::Fields(..) => {
                write_terminal("y  send it    n  no    ? ");
                if let Some(shown) = &mut self.shown {
                    shown.mode = CardMode::ConfirmingForm(form);
                }
                Ok(())
            }
        }
    }

    async fn send_form(&mut self, form: CardForm) -> Result<(), CliError> {
        match form {
            CardForm::Questions(..) => Ok(()),
            CardForm::Fields(_, values, _) => {
                self.submit_server_answer(ServerAnswer::Filled { values })
                    .await
            }
        }
    }

    /// Handles a form that was cancelled.
    async fn cancel_form(&mut self) -> Result<(), CliError> {
        match self
            .shown
            .as_ref()
            .is_some_and(|shown| shown.elicitation().is_some())
        {
            true => self.submit_server_answer(ServerAnswer::Dismissed).await,
            false => self.submit_decision(Decision::Skip).await,
        }
    }

    pub(super) async fn submit_decision(&mut self, decision: Decision) -> Result<(), CliError> {
        let Some(shown) = &self.shown else {
            return Ok(());
        };
        let WaitingKind::Decision(digest) = &shown.item.kind else {
            return Ok(());
        };
        let op = Op::Decide {
            session: shown.item.session.clone(),
            call: shown.call_id(),
            digest: digest.clone(),
            decision,
        };
        self.submit_op(op).await;
        Ok(())
    }

    async fn submit_server_answer(&mut self, answer: ServerAnswer) -> Result<(), CliError> {
        let Some(shown) = &self.shown else {
            return Ok(());
        };
        let WaitingKind::Answer(ask) = &shown.item.kind else {
            return Ok(());
        };
        let op = Op::AnswerServer {
            session: shown.item.session.clone(),
            call: shown.call_id(),
            request_id: ask.clone(),
            answer,
        };
        self.submit_op(op).await;
        Ok(())
    }

    /// Submits an answer. If the engine accepts it, the card ends; otherwise the card stays.
    async fn submit_op(&mut self, op: Op) {
        match self.desk.submit(op).await {
            Ok(_) => {
                if let Some(shown) = self.shown.take() {
                    self.queue.remove(&shown.item);
                }
            }
            Err(fault) => self.show_refusal(&fault),
        }
    }

    pub(super) fn show_refusal(&mut self, fault: &UserError) {
        let text = self.out.apply_style(TextStyle::Bad, &fault.to_string());
        write_terminal(&format!("{text}\n"));
        self.show_prompt();
    }
}

fn allow_decision(rule: Option<GrantChoice>) -> Decision {
    Decision::Allow {
        hunks: None,
        note: String::new(),
        always: rule.map(|choice| choice.to_always()),
    }
}

fn reject_decision(note: String, stop: bool) -> Decision {
    Decision::Reject {
        note,
        stop,
        always: None,
    }
}
