//! A tool that was found: its arguments checked, completed, and held against what it publishes.

use protocol::ToolError;
use serde_json::{Map, Value};

use super::{RegisteredTool, ValidatedArguments};
use crate::alias::{to_alias_name, translate_arguments};
use crate::host_arguments::SuppliedArguments;
use crate::progress_schema::ProgressSchema;
use crate::schema::{invalid_arguments_error, split_meta};

/// Arguments after they were held against the schema.
enum CheckedArguments {
    /// The arguments in our names.
    Valid(Map<String, Value>),
    /// What is wrong with them, one clause each, in the names that the caller used.
    Invalid(Vec<String>),
}

impl RegisteredTool<'_> {
    /// The arguments as the tool gets them: `_*` members lifted off, an alias's names made ours, schema and values
    /// checked (`S002-05`).
    ///
    /// # Errors
    /// [`ToolError::InvalidArgs`], in the names that the model used.
    pub fn validate_arguments(
        &self,
        given: &Map<String, Value>,
    ) -> Result<ValidatedArguments, ToolError> {
        let (arguments, meta) = self.split_meta(given);
        let arguments = match self.translate_and_check(arguments)? {
            CheckedArguments::Valid(arguments) => arguments,
            CheckedArguments::Invalid(problems) => {
                return Err(invalid_arguments_error(&problems));
            }
        };
        self.tool.validate(&arguments)?;
        Ok(ValidatedArguments { arguments, meta })
    }

    /// The arguments in our names, or what the schema finds wrong with them, in the names that the caller used.
    fn translate_and_check(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<CheckedArguments, ToolError> {
        let arguments = match self.alias {
            Some(alias) => translate_arguments(alias, arguments)?,
            None => arguments,
        };
        let name = |member| {
            self.alias
                .map_or(member, |alias| to_alias_name(alias, member))
        };
        Ok(match self.schema.find_problems(arguments, &name) {
            Ok(arguments) => CheckedArguments::Valid(arguments),
            Err(problems) => CheckedArguments::Invalid(problems),
        })
    }

    /// The arguments, and what is about the call instead (M13); a member that the tool gets itself stays.
    fn split_meta(&self, given: &Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
        let (mut arguments, mut meta) = split_meta(given.clone());
        for member in self.tool.retained_meta() {
            arguments.extend(meta.shift_remove_entry(*member));
        }
        (arguments, meta)
    }

    /// Whether a source has members of its own to put into calls of the tool.
    pub fn has_supplied_source(&self, source: &str) -> bool {
        self.schema.host_arguments().has_source(source)
    }

    /// Checked arguments with what their sources put in beside them (`S003-63`).
    ///
    /// # Errors
    /// A member that is not its source's, or a value that the runtime schema does not allow.
    pub fn complete_arguments(
        &self,
        checked: Map<String, Value>,
        put_in: Vec<SuppliedArguments>,
    ) -> Result<Map<String, Value>, ToolError> {
        self.schema
            .host_arguments()
            .complete_arguments(checked, put_in)
    }

    /// What the tool may say while it runs (`S003-40`).
    pub fn progress_schema(&self) -> &ProgressSchema {
        self.schema.progress_schema()
    }

    /// What is wrong with these arguments, one sentence each; empty if nothing is.
    pub fn find_problems(&self, given: &Map<String, Value>) -> Vec<String> {
        let (arguments, _) = self.split_meta(given);
        let checked = match self.translate_and_check(arguments) {
            Ok(CheckedArguments::Invalid(problems)) => return problems,
            Ok(CheckedArguments::Valid(arguments)) => self.tool.validate(&arguments),
            Err(error) => Err(error),
        };
        match checked {
            Ok(()) => Vec::new(),
            Err(ToolError::InvalidArgs(problem)) => vec![problem],
            Err(error) => vec![error.to_string()],
        }
    }
}
