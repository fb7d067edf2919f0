//! Arguments of a registered tool: checked, completed, and validated against the tool's interface.

use protocol::ToolError;
use serde_json::{Map, Value};

use super::{RegisteredTool, ValidatedArguments};
use crate::alias::{to_alias_name, translate_arguments};
use crate::host_arguments::SuppliedArguments;
use crate::progress_schema::ProgressSchema;
use crate::schema::{invalid_arguments_error, split_meta};

impl RegisteredTool<'_> {
    /// Returns the arguments for the tool: `_*` members removed, an alias's names translated into ours, schema and
    /// values checked (`S002-05`).
    ///
    /// # Errors
    /// [`ToolError::InvalidArgs`], in the names that the model used.
    pub fn validate_arguments(
        &self,
        call_arguments: &Map<String, Value>,
    ) -> Result<ValidatedArguments, ToolError> {
        let (arguments, meta) = self.split_meta(call_arguments);
        let arguments = self
            .translate_and_check(arguments)
            .map_err(|problems| invalid_arguments_error(&problems))?;
        self.tool.validate(&arguments)?;
        Ok(ValidatedArguments { arguments, meta })
    }

    /// Translates the arguments into our names and checks them against the schema; problems are one clause each, in the
    /// names that the caller used.
    fn translate_and_check(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, Vec<String>> {
        let arguments = match self.alias {
            Some(alias) => {
                translate_arguments(alias, arguments).map_err(|problem| vec![problem])?
            }
            None => arguments,
        };
        let name = |member| {
            self.alias
                .map_or(member, |alias| to_alias_name(alias, member))
        };
        self.schema.find_problems(arguments, &name)
    }

    /// Splits the members into arguments and metadata of the call (M13); a member that the tool itself receives stays
    /// an argument.
    fn split_meta(
        &self,
        call_arguments: &Map<String, Value>,
    ) -> (Map<String, Value>, Map<String, Value>) {
        let (mut arguments, mut meta) = split_meta(call_arguments.clone());
        for member in self.tool.retained_meta() {
            arguments.extend(meta.shift_remove_entry(*member));
        }
        (arguments, meta)
    }

    /// Whether a source has members of its own to supply for calls of the tool.
    pub fn has_supplied_source(&self, source: &str) -> bool {
        self.schema.host_arguments().has_source(source)
    }

    /// Adds the members that their sources supply to checked arguments (`S003-63`).
    ///
    /// # Errors
    /// If a member is not its source's to supply, or a value is not allowed by the runtime schema.
    pub fn complete_arguments(
        &self,
        checked: Map<String, Value>,
        put_in: Vec<SuppliedArguments>,
    ) -> Result<Map<String, Value>, ToolError> {
        self.schema
            .host_arguments()
            .complete_arguments(checked, put_in)
    }

    /// Returns the schema of the tool's progress messages (`S003-40`).
    pub fn progress_schema(&self) -> &ProgressSchema {
        self.schema.progress_schema()
    }

    /// Returns the problems of these arguments, one sentence each; empty if there are none.
    pub fn find_problems(&self, call_arguments: &Map<String, Value>) -> Vec<String> {
        let (arguments, _) = self.split_meta(call_arguments);
        let arguments = match self.translate_and_check(arguments) {
            Ok(arguments) => arguments,
            Err(problems) => return problems,
        };
        match self.tool.validate(&arguments) {
            Ok(()) => Vec::new(),
            Err(ToolError::InvalidArgs(problem)) => vec![problem],
            Err(error) => vec![error.to_string()],
        }
    }
}
