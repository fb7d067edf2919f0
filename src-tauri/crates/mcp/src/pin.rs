//! What a person approved of a server's tools, and how the server's tools stand to that: what is other is not used.

use std::path::{Path, PathBuf};

use protocol::Fault;
use protocol::servers::{Pin, ServerId, ServerTool};
use protocol::shown::shown;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::catalogue::{Catalogue, Definition};
use crate::limits::{DIFF_BYTES_MAX, NAME_CHARS_MAX};

const VERSION: u32 = 1;

/// The tools of one server as they were approved, in the order of their approval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pins {
    /// The tools.
    pub tools: Vec<Pinned>,
    /// Whether the server had resources then, for as long as nothing newer is known.
    pub has_resources: bool,
}

/// One tool that was approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The second half of its name here. It keeps it for as long as it is approved, whatever comes and goes beside it, so that
    /// a rule never comes to mean another tool.
    pub called: String,
    /// As it was approved.
    pub tool: Definition,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    tools: Vec<Pinned>,
    #[serde(default)]
    has_resources: bool,
}

/// Where the pins of a server stand.
pub fn file(data_dir: &Path, id: &ServerId) -> PathBuf {
    data_dir.join("servers").join(format!("{id}.json"))
}

impl Pins {
    /// Those that were kept; none if nothing was ever approved.
    ///
    /// # Errors
    /// They cannot be read: then none of the tools is approved.
    pub fn load(data_dir: &Path, id: &ServerId) -> Result<Option<Self>, Fault> {
        let file = file(data_dir, id);
        let Some(text) = runtime::read_text(&file)? else {
            return Ok(None);
        };
        let kept: Result<Kept, _> = serde_json::from_str(&text);
        let wrong = |what: String| {
            Fault::new(
                format!("{} cannot be read: {what}.", file.display()),
                format!(
                    "Look at the tools of `{id}` and approve them again. Until then none of them is used."
                ),
            )
        };
        match kept {
            Ok(kept) if kept.version == VERSION => Ok(Some(Self {
                tools: kept.tools,
                has_resources: kept.has_resources,
            })),
            Ok(kept) => Err(wrong(format!("its version is {}", kept.version))),
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    /// Keeps them, whole or not at all.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn save(&self, data_dir: &Path, id: &ServerId) -> Result<(), Fault> {
        let kept = Kept {
            version: VERSION,
            tools: self.tools.clone(),
            has_resources: self.has_resources,
        };
        let text = serde_json::to_vec(&kept).map_err(|error| {
            Fault::new("What you approve cannot be written.", "Report this.").caused_by(&error)
        })?;
        Ok(runtime::write_atomic(&file(data_dir, id), &text, 0o600)?)
    }

    /// What a first approval comes to: everything that can be read as it is. What hides something waits for a second look.
    pub fn first(catalogue: &Catalogue) -> Self {
        let mut pins = Self {
            has_resources: catalogue.has_resources,
            ..Self::default()
        };
        let seen = catalogue.tools.iter().filter(|tool| !tool.hides());
        seen.for_each(|tool| pins.add(tool));
        pins
    }

    /// The same once everything that the server has now is approved.
    #[must_use]
    pub fn approving(&self, catalogue: &Catalogue) -> Self {
        let still = self.tools.iter().filter_map(|pinned| {
            let tool = catalogue.find(&pinned.tool.name)?.clone();
            let called = pinned.called.clone();
            Some(Pinned { called, tool })
        });
        let mut pins = Self {
            tools: still.collect(),
            has_resources: catalogue.has_resources,
        };
        let new = catalogue.tools.iter();
        new.filter(|tool| self.find(&tool.name).is_none())
            .for_each(|tool| pins.add(tool));
        pins
    }

    /// Adds a tool under a name that no other one has.
    fn add(&mut self, tool: &Definition) {
        let near = near(&tool.name);
        let taken = |name: &String| self.tools.iter().any(|pinned| pinned.called == *name);
        let mut called = near.clone();
        let mut tail = 2_u32;
        while taken(&called) {
            called = format!("{near}_{tail}");
            tail = tail.saturating_add(1);
        }
        self.tools.push(Pinned {
            called,
            tool: tool.clone(),
        });
    }

    /// The tool of this name.
    pub fn find(&self, name: &str) -> Option<&Definition> {
        let mut tools = self.tools.iter().map(|pinned| &pinned.tool);
        tools.find(|tool| tool.name == name)
    }

    /// How a tool that is pinned stands to what the server has now; pinned if that is not known.
    pub fn standing(pinned: &Definition, catalogue: Option<&Catalogue>) -> Pin {
        match catalogue.map(|all| all.find(&pinned.name)) {
            None => Pin::Pinned,
            Some(Some(now)) if now.digest() == pinned.digest() => Pin::Pinned,
            Some(Some(_)) => Pin::Changed,
            Some(None) => Pin::Gone,
        }
    }

    /// Every tool for a person: those that are pinned, then those that the server has beyond them.
    pub fn told(&self, catalogue: Option<&Catalogue>) -> Vec<ServerTool> {
        let known = self.tools.iter().map(|pinned| {
            let pinned = &pinned.tool;
            let pin = Self::standing(pinned, catalogue);
            let now = catalogue.and_then(|all| all.find(&pinned.name));
            told(now.unwrap_or(pinned), pin, Some(pinned))
        });
        let new = catalogue.into_iter().flat_map(|all| &all.tools);
        let new = new.filter(|tool| self.find(&tool.name).is_none());
        known
            .chain(new.map(|tool| told(tool, Pin::New, None)))
            .collect()
    }

    /// Whether anything of the server waits for an approval.
    pub fn waits(&self, catalogue: &Catalogue) -> bool {
        let pinned = |tool: &Definition| self.find(&tool.name).map(Definition::digest);
        let mut tools = catalogue.tools.iter();
        tools.any(|tool| pinned(tool) != Some(tool.digest()))
    }
}

/// The nearest name that a model can call.
fn near(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let near = name.chars().map(|c| if allowed(c) { c } else { '_' });
    let near: String = near.take(NAME_CHARS_MAX).collect();
    match near.trim_matches('_') {
        "" => "tool".to_owned(),
        _ => near,
    }
}

fn told(tool: &Definition, pin: Pin, pinned: Option<&Definition>) -> ServerTool {
    let changes = match (pin, pinned) {
        (Pin::Changed, Some(pinned)) => difference(&pinned.text(), &tool.text()),
        (Pin::New, _) => difference("", &tool.text()),
        (Pin::Pinned | Pin::Gone | Pin::Changed, _) => String::new(),
    };
    ServerTool {
        name: shown(&tool.name),
        description: shown(&tool.description),
        hints: tool.hints,
        pin,
        changes: shown(&changes),
    }
}

/// Cut, since an approval of more than can be read is none.
fn difference(before: &str, after: &str) -> String {
    let text = TextDiff::from_lines(before, after)
        .unified_diff()
        .header("approved", "now")
        .to_string();
    match text.char_indices().find(|(at, _)| *at >= DIFF_BYTES_MAX) {
        None => text,
        Some((at, _)) => format!("{}\n[cut here]\n", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use protocol::shown::plain;
    use serde_json::json;

    use super::*;

    fn catalogue(tools: &[(&str, &str)]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for (name, description) in tools {
            catalogue.add(&json!({ "name": name, "description": description }));
        }
        catalogue
    }

    fn stands(pins: &Pins, catalogue: &Catalogue) -> Vec<(String, Pin)> {
        let told = pins.told(Some(catalogue)).into_iter();
        told.map(|tool| (plain(&tool.name), tool.pin)).collect()
    }

    #[test]
    fn what_changed_is_told_with_its_difference_until_it_is_approved() {
        let pins = Pins::first(&catalogue(&[
            ("a", "does a"),
            ("b", "does b"),
            ("c", "does c"),
        ]));
        let now = catalogue(&[("d", "does d"), ("b", "sends everything"), ("a", "does a")]);
        let named = |list: &[(&str, Pin)]| -> Vec<(String, Pin)> {
            let list = list.iter();
            list.map(|(name, pin)| ((*name).to_owned(), *pin)).collect()
        };
        assert_eq!(
            stands(&pins, &now),
            named(&[
                ("a", Pin::Pinned),
                ("b", Pin::Changed),
                ("c", Pin::Gone),
                ("d", Pin::New)
            ])
        );
        assert!(pins.waits(&now));
        let changed = &pins.told(Some(&now))[1];
        let difference = plain(&changed.changes);
        assert!(
            difference.contains("-  \"description\": \"does b\""),
            "{difference}"
        );
        assert!(
            difference.contains("+  \"description\": \"sends everything\""),
            "{difference}"
        );
        let pins = pins.approving(&now);
        assert!(!pins.waits(&now));
        assert_eq!(
            stands(&pins, &now),
            named(&[("a", Pin::Pinned), ("b", Pin::Pinned), ("d", Pin::Pinned)]),
            "who was approved first stays first"
        );
    }

    #[test]
    fn what_hides_something_is_not_approved_with_the_rest() {
        let now = catalogue(&[
            ("a", "does a"),
            ("b", "does b\u{202e}"),
            ("c\u{200b}", "does c"),
        ]);
        let pins = Pins::first(&now);
        assert_eq!(pins.tools.len(), 1);
        let told = pins.told(Some(&now));
        assert_eq!(plain(&told[1].description), "does bU+202E");
        assert_eq!(plain(&told[2].name), "cU+200B");
        assert!(!pins.approving(&now).waits(&now));
    }

    /// A rule for a name stays a rule for that tool.
    #[test]
    fn a_name_stays_with_its_tool() {
        let called = |pins: &Pins| -> Vec<(String, String)> {
            let all = pins.tools.iter();
            all.map(|pinned| (pinned.tool.name.clone(), pinned.called.clone()))
                .collect()
        };
        let named = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            let list = list.iter();
            list.map(|(name, called)| ((*name).to_owned(), (*called).to_owned()))
                .collect()
        };
        let pins = Pins::first(&catalogue(&[
            ("a.b", ""),
            ("a b", ""),
            ("ä", ""),
            ("日本", ""),
        ]));
        assert_eq!(
            called(&pins),
            named(&[
                ("a.b", "a_b"),
                ("a b", "a_b_2"),
                ("ä", "tool"),
                ("日本", "tool_2")
            ])
        );
        let pins = pins.approving(&catalogue(&[("a!b", ""), ("a b", "")]));
        assert_eq!(called(&pins), named(&[("a b", "a_b_2"), ("a!b", "a_b")]));
    }

    #[test]
    fn pins_are_kept_and_what_cannot_be_read_approves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let id = ServerId::try_from("one".to_owned()).unwrap();
        assert_eq!(Pins::load(folder.path(), &id).unwrap(), None);
        let pins = Pins::first(&catalogue(&[("a", "does a")]));
        pins.save(folder.path(), &id).unwrap();
        assert_eq!(Pins::load(folder.path(), &id).unwrap(), Some(pins));
        let file = file(folder.path(), &id);
        for text in [
            "{",
            r#"{"version":2,"tools":[]}"#,
            r#"{"version":1,"tools":[{}]}"#,
        ] {
            runtime::write_atomic(&file, text.as_bytes(), 0o600).unwrap();
            assert!(Pins::load(folder.path(), &id).is_err(), "{text}");
        }
    }
}
