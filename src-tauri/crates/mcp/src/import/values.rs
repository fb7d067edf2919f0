//! Converts values of other products' files: their references become ours, and secrets stay where they are.

use std::collections::BTreeMap;
use std::path::Path;

use protocol::server::mcp_servers::ServerId;
use protocol::text::redact;
use serde_json::json;

use crate::config_references::{KEYCHAIN, is_only_references};

/// Headers that authenticate the sender.
const SECRET_HEADERS: [&str; 5] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
];

/// Authentication schemes that precede a token in a header, and are no secret.
const AUTH_SCHEMES: [&str; 3] = ["bearer", "basic", "token"];

/// Converts the values of one server.
pub(super) struct ValueImporter<'a> {
    id: &'a ServerId,
    project: Option<&'a Path>,
    notes: Vec<String>,
}

impl<'a> ValueImporter<'a> {
    pub(super) fn new(id: &'a ServerId, project: Option<&'a Path>) -> Self {
        Self {
            id,
            project,
            notes: Vec::new(),
        }
    }

    pub(super) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// Converts a value that is no secret by its name: a program, a folder.
    pub(super) fn convert_path(&mut self, value: &str) -> String {
        self.convert_references(value)
    }

    /// Converts variables or headers.
    pub(super) fn convert_map(
        &mut self,
        values: BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let values = values.into_iter();
        values
            .map(|(name, value)| {
                let value = self.convert_references(&value);
                let value = match is_secret(&name, &value) {
                    true => self.withhold_secret(&name, &format!("`{name}`")),
                    false => value,
                };
                (name, value)
            })
            .collect()
    }

    /// Converts the arguments of a program. The argument after a flag that is named like a secret is treated as a
    /// secret.
    pub(super) fn convert_args(&mut self, args: Vec<String>) -> Vec<String> {
        let mut flag: Option<String> = None;
        let mut all = Vec::new();
        for (at, arg) in args.into_iter().enumerate() {
            let arg = self.convert_references(&arg);
            let assignment = arg.split_once('=').filter(|_| arg.starts_with('-'));
            let is = match (assignment, &flag) {
                (Some((name, value)), _) => is_secret(name.trim_start_matches('-'), value),
                (None, Some(flag)) if !arg.starts_with('-') => is_secret(flag, &arg),
                (None, _) => redact::text(&arg).1 > 0,
            };
            flag = arg
                .strip_prefix('-')
                .map(|rest| rest.trim_start_matches('-').to_owned());
            all.push(match is {
                true => {
                    self.withhold_secret(&format!("arg{}", at + 1), &format!("argument {}", at + 1))
                }
                false => arg,
            });
        }
        all
    }

    /// Converts a URL; one that contains a key, or a name and a password, is a secret as a whole.
    pub(super) fn convert_url(&mut self, url: &str) -> String {
        let url = self.convert_references(url);
        let host = url.split_once("://").map_or("", |(_, rest)| rest);
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        let query = url.split_once('?').map_or("", |(_, query)| query);
        let mut members = query.split('&').filter_map(|member| member.split_once('='));
        let is = host.contains('@')
            || redact::text(&url).1 > 0
            || members.any(|(name, value)| is_secret(name, value));
        match is {
            true => self.withhold_secret("url", "the address"),
            false => url,
        }
    }

    /// Converts a variable whose value the other product keeps where nobody else can read it: returns a reference to
    /// our keychain.
    pub(super) fn convert_secret_variable(&mut self, variable: &str) -> String {
        let name = format!("{}.{variable}", self.id);
        self.notes.push(format!(
            "The value of `{variable}` is kept in a keychain of that product. Put it into the keychain here too, as `{name}`."
        ));
        format!("{KEYCHAIN}{name}")
    }

    fn withhold_secret(&mut self, name: &str, what: &str) -> String {
        let name = format!("{}.{name}", self.id);
        self.notes.push(format!(
            "The value of {what} looks like a secret and was not taken over. Put it into the keychain, as \
             `{name}`."
        ));
        format!("{KEYCHAIN}{name}")
    }

    /// Converts references of other products to ours: `${env:NAME}`, `${workspaceFolder}`, `${userHome}`,
    /// `${input:NAME}`.
    fn convert_references(&mut self, value: &str) -> String {
        let mut converted = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            converted.push_str(before);
            let Some((inner, left)) = after.split_once('}') else {
                converted.push_str("${");
                rest = after;
                continue;
            };
            match (inner.split_once(':'), inner) {
                (Some(("env", name)), _) => converted.push_str(&format!("${{{name}}}")),
                (Some(("input", name)), _) => {
                    self.notes.push(format!(
                        "It asks for `{name}` when it starts. Put the whole value into the keychain, \
                         as `{}.{name}`.",
                        self.id
                    ));
                    // A secret of the keychain is a value of its own.
                    return format!("{KEYCHAIN}{}.{name}", self.id);
                }
                (_, "userHome") => converted.push_str("${HOME}"),
                (_, "workspaceFolder" | "workspaceRoot") => match self.project {
                    Some(folder) => converted.push_str(&folder.display().to_string()),
                    None => {
                        self.notes.push(
                            "It names the folder of the workspace, and one server here serves all of them: write the \
                             folder out."
                                .to_owned(),
                        );
                        converted.push_str("${HOME}");
                    }
                },
                (_, inner) => converted.push_str(&format!("${{{inner}}}")),
            }
            rest = left;
        }
        converted.push_str(rest);
        converted
    }
}

/// Whether the value under this name is a secret in plain text.
fn is_secret(name: &str, value: &str) -> bool {
    if value.is_empty() || is_only_references(value) {
        return false;
    }
    let by_name = redact::mask_value(&json!({ name: "countersign" })).1 > 0
        || runtime::is_secret_name(&name.to_uppercase().replace('-', "_"))
        || SECRET_HEADERS.contains(&name.to_lowercase().as_str());
    match by_name {
        true => !is_scheme_and_reference(value),
        false => redact::text(value).1 > 0,
    }
}

/// Whether a value has the form `Bearer ${TOKEN}`.
fn is_scheme_and_reference(value: &str) -> bool {
    value.split_once(' ').is_some_and(|(scheme, rest)| {
        AUTH_SCHEMES.contains(&scheme.to_lowercase().as_str()) && is_only_references(rest)
    })
}
