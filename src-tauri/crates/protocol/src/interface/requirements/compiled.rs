//! Requirements with their variables resolved: an undefined variable is an error here, and never at a call (`S002-60`).

use crate::UserError;

use crate::interface::requirements::{RequirementSet, ShellRunRequirement};

/// A variable for a path that only the host knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathVariable {
    /// `{workspace}`: the workspace root, and further roots that the manifest declares (`S002-56`).
    Workspace,
    /// `{ad-hoc}`: the folders of files that are open by themselves (`S002-57`).
    AdHoc,
    /// `{user-data}`: the host's folder for this person (`S002-58`).
    UserData,
}

impl PathVariable {
    const ALL: [(&'static str, Self); 3] = [
        ("workspace", Self::Workspace),
        ("ad-hoc", Self::AdHoc),
        ("user-data", Self::UserData),
    ];
}

/// Values of the path variables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VariableValues {
    /// The workspace root, then the manifest's further roots; empty if no workspace is open.
    pub workspace: Vec<String>,
    /// Folders of files that are open by themselves; empty on a host without such files.
    pub ad_hoc: Vec<String>,
    /// The host's folder for this person.
    pub user_data: Option<String>,
}

/// Requirements whose variables are all defined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompiledRequirements {
    read: Vec<PatternTemplate>,
    write: Vec<PatternTemplate>,
    hosts: Vec<PatternTemplate>,
    shell: Vec<ShellRunRequirement>,
    capabilities: Vec<String>,
}

/// Requirements with every variable replaced. A pattern that expands to nothing is left out, so it allows nothing
/// (`S002-59`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExpandedRequirements {
    /// Patterns of paths to read, relative to the workspace root or absolute.
    pub read: Vec<String>,
    /// Patterns of paths to write.
    pub write: Vec<String>,
    /// Patterns of hosts.
    pub hosts: Vec<String>,
    /// Commands.
    pub shell: Vec<ShellRunRequirement>,
    /// Other capabilities.
    pub capabilities: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Variable(PathVariable),
}

type PatternTemplate = Vec<TemplatePart>;

impl RequirementSet {
    /// Parses every pattern. `owner` names the owner of the patterns: "the tool `x`".
    ///
    /// # Errors
    /// Names the pattern and its undefined variable.
    pub fn compile(&self, owner: &str) -> Result<CompiledRequirements, UserError> {
        let all = |patterns: &[String]| {
            let parsed = patterns
                .iter()
                .map(|pattern| parse_template(pattern, owner));
            parsed.collect::<Result<Vec<PatternTemplate>, UserError>>()
        };
        if self.shell.iter().any(|run| run.cmd.trim().is_empty()) {
            return Err(UserError::new(
                format!("A command that {owner} requires has no name."),
                "Give `cmd`, such as `git`, or `*` for any command.",
            ));
        }
        Ok(CompiledRequirements {
            read: all(&self.fs.read)?,
            write: all(&self.fs.write)?,
            hosts: all(&self.net.hosts)?,
            shell: self.shell.clone(),
            capabilities: self.capabilities.clone(),
        })
    }
}

impl CompiledRequirements {
    /// Replaces the variables by the given values.
    pub fn expand(&self, around: &VariableValues) -> ExpandedRequirements {
        let all = |templates: &[PatternTemplate]| {
            let patterns = templates
                .iter()
                .flat_map(|template| expand_template(template, around));
            patterns.collect::<Vec<String>>()
        };
        ExpandedRequirements {
            read: all(&self.read),
            write: all(&self.write),
            hosts: all(&self.hosts),
            shell: self.shell.clone(),
            capabilities: self.capabilities.clone(),
        }
    }
}

/// Parses a pattern. Braces with a comma are alternatives of a glob and stay as they are; any others are a variable.
fn parse_template(pattern: &str, owner: &str) -> Result<PatternTemplate, UserError> {
    if pattern.is_empty() {
        return Err(UserError::new(
            format!("A pattern that {owner} requires is empty."),
            "Write `**` for everything in the workspace, or leave it out for nothing.",
        ));
    }
    if pattern.split(['/', '\\']).any(|name| name == "..") {
        return Err(UserError::new(
            format!("The pattern `{pattern}`, which {owner} requires, leads up with `..`."),
            "Write where it leads, from the workspace on or as a whole path.",
        ));
    }
    if pattern.starts_with('~') {
        return Err(UserError::new(
            format!(
                "The pattern `{pattern}`, which {owner} requires, begins with `~`, which only a shell knows."
            ),
            "Write the whole path, or {user-data} for the folder that is kept for this person.",
        ));
    }
    let mut template = PatternTemplate::new();
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((name, tail)) = after.split_once('}') else {
            return Err(new_pattern_error(pattern, owner, "has a `{` without a `}`"));
        };
        match PathVariable::ALL.iter().find(|(known, _)| *known == name) {
            Some((_, variable)) => {
                template.extend([
                    TemplatePart::Text(std::mem::take(&mut text)),
                    TemplatePart::Variable(*variable),
                ]);
            }
            None if name.contains(',') => text.push_str(&format!("{{{name}}}")),
            None => {
                let problem = format!("uses the variable `{{{name}}}`, which is not defined");
                return Err(new_pattern_error(pattern, owner, &problem));
            }
        }
        rest = tail;
    }
    text.push_str(rest);
    template.push(TemplatePart::Text(text));
    template.retain(|part| *part != TemplatePart::Text(String::new()));
    Ok(template)
}

fn new_pattern_error(pattern: &str, owner: &str, problem: &str) -> UserError {
    UserError::new(
        format!("The pattern `{pattern}`, which {owner} requires, {problem}."),
        "The variables are {workspace}, {ad-hoc} and {user-data}.",
    )
}

/// Returns every combination of the values of the variables.
fn expand_template(template: &PatternTemplate, around: &VariableValues) -> Vec<String> {
    template.iter().fold(vec![String::new()], |sofar, part| {
        let places: Vec<&str> = match part {
            TemplatePart::Text(text) => vec![text],
            TemplatePart::Variable(PathVariable::Workspace) => as_strs(&around.workspace),
            TemplatePart::Variable(PathVariable::AdHoc) => as_strs(&around.ad_hoc),
            TemplatePart::Variable(PathVariable::UserData) => {
                around.user_data.iter().map(String::as_str).collect()
            }
        };
        let both = sofar
            .iter()
            .flat_map(|start| places.iter().map(move |place| format!("{start}{place}")));
        both.collect()
    })
}

fn as_strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
