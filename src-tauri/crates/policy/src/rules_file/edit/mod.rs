//! Edits to one rule of a file's text: the rest stays as it is, letter for letter, comments included.

use std::ops::Range;

use protocol::UserError;
use protocol::rule::rules_view::NewRule;
use toml_edit::{Datetime, DocumentMut, Item, Table, Value};

use super::raw::RawRulesFile;
use super::{LineStarts, time};
use crate::rules_file::format::rule_members;

/// A file's text with another rule in the place of the one whose header stands in a line, from 1: only members that
/// differ are written anew.
///
/// # Errors
/// No rule has its own header there: such a file can only be changed as a whole.
pub fn replace_rule(text: &str, line: u32, rule: &NewRule) -> Result<String, UserError> {
    let block = find_rule_block(text, line)?;
    let written = rewrite_block(&text[block.clone()], rule)?;
    Ok([&text[..block.start], &written, &text[block.end..]].concat())
}

/// Formats just the lines that [`replace_rule`] would write for the rule.
///
/// # Errors As [`replace_rule`].
pub fn format_replaced_rule(text: &str, line: u32, rule: &NewRule) -> Result<String, UserError> {
    let block = find_rule_block(text, line)?;
    let own = &text[block];
    let own = &own[..own.len() - trailing_text(own).len()];
    rewrite_block(own, rule)
}

/// A file's text without the rule whose header stands in a line, and without the comment right above it. A comment at
/// the very top is about the file and stays.
///
/// # Errors
/// As [`replace_rule`].
pub fn remove_rule(text: &str, line: u32) -> Result<String, UserError> {
    let block = find_rule_block(text, line)?;
    let rest = trailing_text(&text[block.clone()]).trim_start_matches(['\r', '\n']);
    let mut before = &text[..block.start];
    while let Some(comment) = before.lines().next_back().filter(|line| is_comment(line)) {
        let start = comment.as_ptr().addr() - text.as_ptr().addr();
        if start == 0 {
            before = &text[..block.start];
            break;
        }
        before = &text[..start];
    }
    Ok([before, rest, &text[block.end..]].concat())
}

/// The bytes of a rule, from the beginning of its header's line to that of the next rule's.
fn find_rule_block(text: &str, line: u32) -> Result<Range<usize>, UserError> {
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let lines = LineStarts::new(text);
    let read = toml::from_str::<RawRulesFile>(&text[mark..]).map_err(|error| {
        UserError::new(
            format!("The file cannot be read: {}.", error.message()),
            "Correct it as a whole first.",
        )
    })?;
    let starts: Vec<usize> = read
        .rule
        .iter()
        .map(|rule| mark + rule.span().start)
        .collect();
    let there: Vec<usize> = (0..starts.len())
        .filter(|at| u32::try_from(lines.line_at(starts[*at])).ok() == Some(line))
        .collect();
    let [at] = there.as_slice() else {
        return Err(UserError::new(
            match there.is_empty() {
                true => format!("No rule begins in line {line} any more."),
                false => format!("More than one rule begins in line {line}."),
            },
            "Look at the file, and change it as a whole.",
        ));
    };
    let begins = |at: usize| text[..at].rfind('\n').map_or(mark, |end| end + 1);
    let start = begins(starts[*at]);
    if !text[start..].trim_start().starts_with("[[") {
        return Err(UserError::new(
            format!("The rule in line {line} has no `[[rule]]` of its own above it."),
            "Change the file as a whole.",
        ));
    }
    let end = starts.get(at + 1).map_or(text.len(), |next| begins(*next));
    Ok(start..end)
}

/// Returns the text below the last member of a rule: empty lines, and comments that belong to the next item.
fn trailing_text(block: &str) -> &str {
    let mut from = block.len();
    for line in block.split_inclusive('\n').rev() {
        if !line.trim().is_empty() && !is_comment(line) {
            break;
        }
        from -= line.len();
    }
    &block[from..]
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// The text of one rule with those members changed that differ.
fn rewrite_block(block: &str, rule: &NewRule) -> Result<String, UserError> {
    let unreadable = |what: String| UserError::new(what, "Change the file as a whole.");
    let mut text: DocumentMut = block
        .parse()
        .map_err(|error| unreadable(format!("The rule cannot be changed by itself: {error}")))?;
    let table = text
        .get_mut("rule")
        .and_then(Item::as_array_of_tables_mut)
        .and_then(|rules| rules.get_mut(0))
        .ok_or_else(|| unreadable("The rule cannot be changed by itself.".to_owned()))?;
    check_end(rule)?;
    for (member, value) in rule_members(rule) {
        set_member(table, member, value);
    }
    let written = text.to_string();
    Ok(match block.contains("\r\n") {
        true => written.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => written,
    })
}

/// Refuses a rule that ends at a time that no file can hold.
fn check_end(rule: &NewRule) -> Result<(), UserError> {
    let end = rule.expires_ms.map(time::format_time);
    match end.filter(|end| end.parse::<Datetime>().is_err()) {
        None => Ok(()),
        Some(end) => Err(UserError::new(
            format!("The rule cannot be changed: `{end}` is not a time."),
            "Write it like 2026-12-01T00:00:00Z.",
        )),
    }
}

/// Writes a member if its value differs from the given one; its comment stays.
fn set_member(table: &mut Table, member: &str, value: Option<Value>) {
    let old = table.get(member).and_then(Item::as_value);
    let is_same = match (old, &value) {
        (Some(old), Some(new)) => values_equal(old, new),
        // A rule that says nothing asks.
        (None, Some(new)) => member == "action" && new.as_str() == Some("ask"),
        (Some(_), None) => false,
        (None, None) => true,
    };
    match value {
        _ if is_same => {}
        None => {
            table.remove(member);
        }
        Some(mut value) => {
            if let Some(old) = old {
                *value.decor_mut() = old.decor().clone();
            }
            table[member] = Item::Value(value);
        }
    }
}

/// Whether two values mean the same, however they are written.
fn values_equal(old: &Value, new: &Value) -> bool {
    let texts = |value: &Value| -> Option<Vec<String>> {
        let all = value.as_array()?.iter();
        all.map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let at = |value: &Value| {
        let written = value.as_datetime().map(ToString::to_string);
        let written = written.or_else(|| value.as_str().map(str::to_owned))?;
        time::parse_time(&toml::Value::String(written)).ok()
    };
    match new {
        Value::String(new) => old.as_str() == Some(new.value()),
        Value::Integer(new) => old.as_integer() == Some(*new.value()),
        Value::Datetime(_) => at(old).is_some() && at(old) == at(new),
        Value::Array(_) => texts(old) == texts(new),
        Value::Float(_) | Value::Boolean(_) | Value::InlineTable(_) => false,
    }
}

#[cfg(test)]
mod tests;
