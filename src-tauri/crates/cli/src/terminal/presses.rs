//! What each press says of the card that is shown.

use crossterm::event::KeyCode;
use protocol::server_asks::ServerWants;
use protocol::{Decision, Fault, Op, ServerAnswer};
use tokio::time::Instant;

use super::always::{Choice, chosen};
use super::answers::{can_always, can_rehearse, words};
use super::card::is_final;
use super::cards::{Cards, Heard, Mode, begin};
use super::form::Form;
use super::keyboard::Input;
use super::line::{Line, Typed};
use super::queue::What;
use super::{programs, tell};
use crate::ending::Ending;
use crate::out::{Ink, Out};

impl Cards {
    /// Does what the person wants; then shows what waits.
    pub(crate) async fn hear(&mut self, input: Input, story: &mut Out) -> Result<Heard, Ending> {
        if let Input::Interrupt | Input::Gone = input {
            tell("\n");
            return Ok(Heard::Interrupt);
        }
        let heard = self.press(&input).await?;
        self.renew(story).await?;
        Ok(heard)
    }

    async fn press(&mut self, input: &Input) -> Result<Heard, Ending> {
        let Some(shown) = &mut self.shown else {
            return Ok(Heard::Nothing);
        };
        if *input == Input::Resized {
            if let Mode::Arming(_) | Mode::Keys = shown.mode {
                self.draw();
            }
            return Ok(Heard::Nothing);
        }
        match &mut shown.mode {
            Mode::Arming(until) => {
                // What was typed before the card was seen is no answer to it.
                if Instant::now() >= *until {
                    self.prompt();
                }
            }
            Mode::Filling(form, line) => match line.take(input) {
                Typed::More => {}
                Typed::Left => self.leave().await?,
                Typed::Sent(text) => match form.answer(&text) {
                    Err(why) => {
                        tell(&format!("{why}\n"));
                        begin(form, line);
                    }
                    Ok(()) if form.next().is_some() => begin(form, line),
                    Ok(()) => {
                        let form = form.clone();
                        self.filled(form).await?;
                    }
                },
            },
            Mode::Message(line) => match line.take(input) {
                Typed::More => {}
                Typed::Left => self.prompt(),
                Typed::Sent(note) => self.decide(reject(note, false)).await?,
            },
            Mode::Keys | Mode::Sure(_) | Mode::Choosing(_) | Mode::Chosen(_) | Mode::Sending(_) => {
                if let Input::Key(key) = input {
                    return self.key(*key).await;
                }
            }
        }
        Ok(Heard::Nothing)
    }

    async fn key(&mut self, key: KeyCode) -> Result<Heard, Ending> {
        let Some(shown) = &mut self.shown else {
            return Ok(Heard::Nothing);
        };
        match (std::mem::replace(&mut shown.mode, Mode::Keys), key) {
            (Mode::Sure(rule), KeyCode::Char('Y')) => {
                tell("Y\n");
                self.decide(allow(rule)).await?;
            }
            (Mode::Choosing(offered), KeyCode::Char(digit @ '1'..='9')) => {
                match chosen(&offered, digit) {
                    Some(choice) => self.confirm(choice.clone()),
                    None => shown.mode = Mode::Choosing(offered),
                }
            }
            (Mode::Chosen(choice), KeyCode::Char('y')) => self.allow(Some(choice)).await?,
            (Mode::Sending(form), KeyCode::Char('y')) => {
                tell("y\n");
                self.send(form).await?;
            }
            (Mode::Sending(_), KeyCode::Char('n')) => {
                tell("n\n");
                self.answer(ServerAnswer::Declined).await?;
            }
            (Mode::Sending(form), _) => shown.mode = Mode::Sending(form),
            (Mode::Sure(_) | Mode::Choosing(_) | Mode::Chosen(_), _) => {
                tell("no\n");
                self.prompt();
            }
            (_, key) if shown.ask().is_some() => self.server(key).await?,
            (_, key) => return self.card(key).await,
        }
        Ok(Heard::Nothing)
    }

    /// A key on the card of a call.
    async fn card(&mut self, key: KeyCode) -> Result<Heard, Ending> {
        let Some(shown) = &mut self.shown else {
            return Ok(Heard::Nothing);
        };
        match key {
            KeyCode::Char('y') => self.allow(None).await?,
            KeyCode::Char('n') => {
                let (_, no) = words(&shown.view);
                tell(&format!("{no}\n"));
                self.decide(reject(String::new(), false)).await?;
            }
            KeyCode::Char('q') => {
                tell("stop\n");
                self.decide(reject(String::new(), true)).await?;
            }
            KeyCode::Char('m') => {
                tell("reject, because (Enter sends, Esc leaves): ");
                shown.mode = Mode::Message(Line::default());
            }
            KeyCode::Char('p') if can_rehearse(&shown.view) => {
                tell("dry run\n");
                self.decide(Decision::DryRun).await?;
            }
            KeyCode::Char('a') if can_always(&shown.view) => self.always().await?,
            KeyCode::Char('e') => return self.edit().await,
            KeyCode::Char('d') => {
                tell("details\n");
                let whole = self.whole();
                self.lend(|| programs::page(&whole))?;
                if let Some(shown) = &mut self.shown {
                    shown.unseen = 0;
                }
                self.prompt();
                return Ok(Heard::Program);
            }
            KeyCode::Char('l') if self.queue.len() > 1 => {
                tell("later\n");
                self.queue.rotate();
                self.shown = None;
            }
            KeyCode::Char('?') => {
                tell("\n");
                self.draw();
            }
            // Enter and Space never allow.
            _ => {}
        }
        Ok(Heard::Nothing)
    }

    /// A key on the question of a server.
    async fn server(&mut self, key: KeyCode) -> Result<(), Ending> {
        let Some(shown) = &self.shown else {
            return Ok(());
        };
        let yes = match shown.ask().map(|ask| &ask.asked.wants) {
            Some(ServerWants::Address { .. }) => ServerAnswer::Opened,
            Some(ServerWants::Model { .. }) => ServerAnswer::Allowed,
            Some(ServerWants::Form { .. }) | None => return Ok(()),
        };
        let answer = match key {
            KeyCode::Char('y') => yes,
            KeyCode::Char('n') => ServerAnswer::Declined,
            KeyCode::Esc => ServerAnswer::Dismissed,
            _ => return Ok(()),
        };
        tell("\n");
        self.answer(answer).await
    }

    /// Allows it, if all of it was shown; what cannot be taken back needs another press.
    async fn allow(&mut self, rule: Option<Choice>) -> Result<(), Ending> {
        let Some(shown) = &mut self.shown else {
            return Ok(());
        };
        let (yes, _) = words(&shown.view);
        if shown.unseen > 0 {
            let (left, are, them) = match shown.unseen {
                1 => ("1 line".to_owned(), "was", "it"),
                many => (format!("{many} lines"), "were", "them"),
            };
            tell(&format!("{left} {are} not shown yet: d shows {them}.\n"));
            self.prompt();
            return Ok(());
        }
        if is_final(&shown.view) {
            tell(&format!(
                "{yes}: it cannot be undone. Y (with Shift) does it, any other key does not: "
            ));
            shown.mode = Mode::Sure(rule);
            return Ok(());
        }
        tell(&format!("{yes}\n"));
        self.decide(allow(rule)).await
    }

    /// A form is filled in: the agent's answers go at once, a server's once that is said.
    async fn filled(&mut self, form: Form) -> Result<(), Ending> {
        match form {
            Form::Questions(_, answers) => self.decide(Decision::Answer { answers }).await,
            Form::Fields(..) => {
                tell("y  send it    n  no    ? ");
                if let Some(shown) = &mut self.shown {
                    shown.mode = Mode::Sending(form);
                }
                Ok(())
            }
        }
    }

    async fn send(&mut self, form: Form) -> Result<(), Ending> {
        match form {
            Form::Questions(..) => Ok(()),
            Form::Fields(_, values, _) => self.answer(ServerAnswer::Filled { values }).await,
        }
    }

    /// A form was left.
    async fn leave(&mut self) -> Result<(), Ending> {
        match self
            .shown
            .as_ref()
            .is_some_and(|shown| shown.ask().is_some())
        {
            true => self.answer(ServerAnswer::Dismissed).await,
            false => self.decide(Decision::Skip).await,
        }
    }

    pub(super) async fn decide(&mut self, decision: Decision) -> Result<(), Ending> {
        let Some(shown) = &self.shown else {
            return Ok(());
        };
        let What::Decision(digest) = &shown.item.what else {
            return Ok(());
        };
        let op = Op::Decide {
            session: shown.item.session.clone(),
            call: shown.call(),
            digest: digest.clone(),
            decision,
        };
        self.submit(op).await;
        Ok(())
    }

    async fn answer(&mut self, answer: ServerAnswer) -> Result<(), Ending> {
        let Some(shown) = &self.shown else {
            return Ok(());
        };
        let What::Answer(ask) = &shown.item.what else {
            return Ok(());
        };
        let op = Op::AnswerServer {
            session: shown.item.session.clone(),
            call: shown.call(),
            ask: ask.clone(),
            answer,
        };
        self.submit(op).await;
        Ok(())
    }

    /// Hands an answer in. One that is taken ends the card; one that is not leaves it.
    async fn submit(&mut self, op: Op) {
        match self.desk.submit(op).await {
            Ok(_) => {
                if let Some(shown) = self.shown.take() {
                    self.queue.remove(&shown.item);
                }
            }
            Err(fault) => self.refused(&fault),
        }
    }

    pub(super) fn refused(&mut self, fault: &Fault) {
        let text = self.out.ink(Ink::Bad, &fault.to_string());
        tell(&format!("{text}\n"));
        self.prompt();
    }
}

fn allow(rule: Option<Choice>) -> Decision {
    Decision::Allow {
        hunks: None,
        note: String::new(),
        always: rule.map(|choice| choice.always()),
    }
}

fn reject(note: String, stop: bool) -> Decision {
    Decision::Reject {
        note,
        stop,
        always: None,
    }
}
