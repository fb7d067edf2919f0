//! What takes more than one press: a rule that goes along with an answer, and arguments that are edited.

use protocol::Decision;
use protocol::query::{Answer as Told, Query};
use serde_json::{Map, Value};

use super::always::{Choice, choices};
use super::cards::{Cards, Heard, Mode};
use super::{programs, tell};
use crate::ending::Ending;
use crate::out::named;

impl Cards {
    /// Offers the rules that may go along with *allow*.
    pub(super) async fn always(&mut self) -> Result<(), Ending> {
        let Some(shown) = &mut self.shown else {
            return Ok(());
        };
        let query = Query::Offers {
            session: shown.item.session.clone(),
            call: shown.call(),
        };
        let offers = match self.desk.query(query).await {
            Ok(Told::Offers(offers)) => offers,
            Ok(_) => return Ok(()),
            Err(fault) => {
                self.refused(&fault);
                return Ok(());
            }
        };
        let offered = choices(&offers);
        if offered.is_empty() {
            let why = offers
                .refused
                .as_deref()
                .unwrap_or("Nothing can be allowed from now on.");
            tell(&format!("{}\n", named(why)));
            self.prompt();
            return Ok(());
        }
        let each = offered.iter().zip(1..);
        let lines: Vec<String> = each
            .map(|(choice, number)| format!("{number}  {}", choice.words()))
            .collect();
        tell(&format!(
            "always\n{}\nWhich (Esc for none)? ",
            lines.join("\n")
        ));
        shown.mode = Mode::Choosing(offered);
        Ok(())
    }

    /// Says what a rule would do, and waits for a yes.
    pub(super) fn confirm(&mut self, choice: Choice) {
        let overrides = choice.overrides();
        let overrides = match overrides.is_empty() {
            true => String::new(),
            false => format!(" {overrides}"),
        };
        tell(&format!(
            "\nAllows this call, and from now on {} what the rule covers, without asking.{overrides}\ny  do so    any other key  do not: ",
            choice.lasts_words()
        ));
        if let Some(shown) = &mut self.shown {
            shown.mode = Mode::Chosen(choice);
        }
    }

    /// Opens the arguments in the person's editor; what is not understood can be edited again.
    pub(super) async fn edit(&mut self) -> Result<Heard, Ending> {
        let Some(shown) = &self.shown else {
            return Ok(Heard::Nothing);
        };
        tell("edit\n");
        let (session, call) = (shown.item.session.clone(), shown.call());
        let before = shown
            .view
            .edited
            .as_ref()
            .unwrap_or(&shown.view.call.arguments)
            .clone();
        let mut text = format!("{:#}\n", Value::Object(before.clone()));
        let arguments = loop {
            let edited = self.lend(|| programs::edit(&text, "arguments.json"))?;
            match edited {
                Err(Ending::Fault(_, fault)) => {
                    self.refused(&fault);
                    return Ok(Heard::Program);
                }
                Err(unread @ Ending::Unread) => return Err(unread),
                Ok(edited) => text = edited,
            }
            let problems = match serde_json::from_str::<Map<String, Value>>(&text) {
                Err(error) => vec![format!("This is no JSON object: {error}.")],
                Ok(arguments) if arguments == before => {
                    tell("Nothing was changed.\n");
                    self.prompt();
                    return Ok(Heard::Program);
                }
                Ok(arguments) => {
                    let query = Query::CheckArguments {
                        session: session.clone(),
                        call: call.clone(),
                        arguments: arguments.clone(),
                    };
                    match self.desk.query(query).await {
                        Ok(Told::CheckArguments { problems }) if problems.is_empty() => {
                            break arguments;
                        }
                        Ok(Told::CheckArguments { problems }) => problems,
                        Ok(_) => return Ok(Heard::Program),
                        Err(fault) => vec![fault.to_string()],
                    }
                }
            };
            tell(&format!("{}\n", named(&problems.join("\n"))));
            if !self.lend(programs::again)?? {
                self.prompt();
                return Ok(Heard::Program);
            }
        };
        self.decide(Decision::Edit { arguments }).await?;
        Ok(Heard::Program)
    }
}
