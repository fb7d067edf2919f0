//! Answers that take more than one key press: a grant with an answer, and edited arguments.

use protocol::Decision;
use protocol::query::{Answer as Told, Query};
use serde_json::{Map, Value};

use super::card_prompt::{CardMode, CardPrompt, KeyOutcome};
use super::grant_choices::{GrantChoice, list_grant_choices};
use super::{external_programs, write_terminal};
use crate::exit::CliError;
use crate::output::escape_hidden;

impl CardPrompt {
    /// Offers the grants that *allow* can carry.
    pub(super) async fn offer_grants(&mut self) -> Result<(), CliError> {
        let Some(shown) = &mut self.shown else {
            return Ok(());
        };
        let query = Query::Offers {
            session: shown.item.session.clone(),
            call: shown.call_id(),
        };
        let offers = match self.desk.query(query).await {
            Ok(Told::Offers(offers)) => offers,
            Ok(_) => return Ok(()),
            Err(fault) => {
                self.show_refusal(&fault);
                return Ok(());
            }
        };
        let offered = list_grant_choices(&offers);
        if offered.is_empty() {
            let why = offers
                .refused
                .as_deref()
                .unwrap_or("Nothing can be allowed from now on.");
            write_terminal(&format!("{}\n", escape_hidden(why)));
            self.show_prompt();
            return Ok(());
        }
        let each = offered.iter().zip(1..);
        let lines: Vec<String> = each
            .map(|(choice, number)| format!("{number}  {}", choice.describe()))
            .collect();
        write_terminal(&format!(
            "always\n{}\nWhich (Esc for none)? ",
            lines.join("\n")
        ));
        shown.mode = CardMode::ChoosingGrant(offered);
        Ok(())
    }

    /// Shows the effect of a grant, and waits for a confirmation.
    pub(super) fn confirm_grant(&mut self, choice: GrantChoice) {
        let overrides = choice.describe_override();
        let overrides = match overrides.is_empty() {
            true => String::new(),
            false => format!(" {overrides}"),
        };
        write_terminal(&format!(
            "\nAllows this call, and from now on {} what the rule covers, without asking.{overrides}\ny  do so    any other key  do not: ",
            choice.describe_duration()
        ));
        if let Some(shown) = &mut self.shown {
            shown.mode = CardMode::ConfirmingGrant(choice);
        }
    }

    /// Opens the arguments in the person's editor; an invalid result can be edited again.
    pub(super) async fn edit_arguments(&mut self) -> Result<KeyOutcome, CliError> {
        let Some(shown) = &self.shown else {
            return Ok(KeyOutcome::Handled);
        };
        write_terminal("edit\n");
        let (session, call) = (shown.item.session.clone(), shown.call_id());
        let before = shown
            .view
            .edited
            .as_ref()
            .unwrap_or(&shown.view.call.arguments)
            .clone();
        let mut text = format!("{:#}\n", Value::Object(before.clone()));
        let arguments = loop {
            let edited =
                self.lend_terminal(|| external_programs::edit_text(&text, "arguments.json"))?;
            match edited {
                Err(CliError::User(_, fault)) => {
                    self.show_refusal(&fault);
                    return Ok(KeyOutcome::ProgramRan);
                }
                Err(unread @ CliError::OutputClosed) => return Err(unread),
                Ok(edited) => text = edited,
            }
            let problems = match serde_json::from_str::<Map<String, Value>>(&text) {
                Err(error) => vec![format!("This is not a JSON object: {error}.")],
                Ok(arguments) if arguments == before => {
                    write_terminal("Nothing was changed.\n");
                    self.show_prompt();
                    return Ok(KeyOutcome::ProgramRan);
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
                        Ok(_) => return Ok(KeyOutcome::ProgramRan),
                        Err(fault) => vec![fault.to_string()],
                    }
                }
            };
            write_terminal(&format!("{}\n", escape_hidden(&problems.join("\n"))));
            if !self.lend_terminal(|| external_programs::ask("Edit again?"))?? {
                self.show_prompt();
                return Ok(KeyOutcome::ProgramRan);
            }
        };
        self.submit_decision(Decision::Edit { arguments }).await?;
        Ok(KeyOutcome::ProgramRan)
    }
}
