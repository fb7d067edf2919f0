//! A tool that was found: its arguments checked, completed, and held against what it publishes.

use protocol::ToolError;
use serde_json::{Map, Value};

use super::{Checked, Found};
use crate::alias::{their_name, translate};
use crate::internal::PutIn;
use crate::progress::Progress;
use crate::schema::{invalid, lift_meta};

impl Found<'_> {
    /// The arguments as the tool gets them: `_*` members lifted off, an alias's names made ours, schema and values
    /// checked (`S002-05`).
    ///
    /// # Errors
    /// [`ToolError::InvalidArgs`], in the names that the model used.
    pub fn arguments(&self, given: &Map<String, Value>) -> Result<Checked, ToolError> {
        let (arguments, meta) = self.lifted(given);
        let arguments = self
            .fitting(arguments)?
            .map_err(|problems| invalid(&problems))?;
        self.tool.check(&arguments)?;
        Ok(Checked { arguments, meta })
    }

    /// The arguments in our names, or what the schema finds wrong with them, in the names that the caller used.
    fn fitting(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<Result<Map<String, Value>, Vec<String>>, ToolError> {
        let arguments = match self.alias {
            Some(alias) => translate(alias, arguments)?,
            None => arguments,
        };
        let name = |member| self.alias.map_or(member, |alias| their_name(alias, member));
        Ok(self.schema.problems(arguments, &name))
    }

    /// The arguments, and what is about the call instead (M13); a member that the tool gets itself stays.
    fn lifted(&self, given: &Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
        let (mut arguments, mut meta) = lift_meta(given.clone());
        for member in self.tool.keeps() {
            arguments.extend(meta.shift_remove_entry(*member));
        }
        (arguments, meta)
    }

    /// Whether a source has members of its own to put into calls of the tool.
    pub fn wants(&self, source: &str) -> bool {
        self.schema.internal().wants(source)
    }

    /// Checked arguments with what their sources put in beside them (`S003-63`).
    ///
    /// # Errors
    /// A member that is not its source's, or a value that the runtime schema does not allow.
    pub fn complete(
        &self,
        checked: Map<String, Value>,
        put_in: Vec<PutIn>,
    ) -> Result<Map<String, Value>, ToolError> {
        self.schema.internal().complete(checked, put_in)
    }

    /// What the tool may say while it runs (`S003-40`).
    pub fn progress(&self) -> &Progress {
        self.schema.progress()
    }

    /// What is wrong with these arguments, one sentence each; empty if nothing is.
    pub fn problems(&self, given: &Map<String, Value>) -> Vec<String> {
        let (arguments, _) = self.lifted(given);
        let checked = match self.fitting(arguments) {
            Ok(Err(problems)) => return problems,
            Ok(Ok(arguments)) => self.tool.check(&arguments),
            Err(error) => Err(error),
        };
        match checked {
            Ok(()) => Vec::new(),
            Err(ToolError::InvalidArgs(problem)) => vec![problem],
            Err(error) => vec![error.to_string()],
        }
    }
}
