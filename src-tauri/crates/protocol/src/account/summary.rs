//! Summary of an account in words: one line for each of its seven parts.

use super::{AccountLine, CallAccount};
use crate::{Decision, UndoState, Verdict};

impl CallAccount {
    /// Summarises each part of the account, in the order of the specification (`S003-73`).
    pub fn summary(&self) -> Vec<AccountLine> {
        let parts = [
            ("validated", self.describe_validation()),
            ("authorised", self.describe_authorization()),
            ("executed", self.describe_execution()),
            ("streamed", self.describe_streaming()),
            ("rendered", self.describe_rendering()),
            ("persisted", self.describe_persistence()),
            ("audited", self.describe_audit()),
        ];
        parts
            .map(|(part, text)| AccountLine {
                part: part.to_owned(),
                text,
            })
            .into()
    }

    fn describe_validation(&self) -> String {
        if self.imported {
            return match &self.forked_from {
                Some(session) => format!(
                    "Not looked at here: {session} made it, and this session was forked from that."
                ),
                None => {
                    "Not looked at here: it was read from the transcript of the agent that made it."
                        .to_owned()
                }
            };
        }
        let first = match (self.validated.passed, &self.validated.problem) {
            (Some(true), _) => format!("The arguments fit what {} takes.", self.tool),
            (Some(false), Some(problem)) => format!("Refused: {problem}"),
            (Some(false), None) => "Refused.".to_owned(),
            (None, _) => "Not looked at: the call ended before.".to_owned(),
        };
        match self.validated.edited.len() {
            0 => first,
            1 => format!("{first} A person changed them once, and they were checked again."),
            times => {
                format!("{first} A person changed them {times} times, each time checked again.")
            }
        }
    }

    fn describe_authorization(&self) -> String {
        let Some(trail) = &self.authorised.trail else {
            return match self.imported {
                true => "Not judged here.".to_owned(),
                false => "Not reached.".to_owned(),
            };
        };
        let decided = match &self.authorised.decision {
            Some(Decision::Allow { hunks: None, .. }) => " A person allowed it.".to_owned(),
            Some(Decision::Allow {
                hunks: Some(hunks), ..
            }) => {
                format!(" A person allowed {} of its changes.", hunks.len())
            }
            Some(Decision::Reject { .. }) => " A person rejected it.".to_owned(),
            Some(Decision::Answer { .. }) => " A person answered.".to_owned(),
            Some(Decision::Skip) => " A person chose not to answer.".to_owned(),
            Some(Decision::DryRun) => " A person asked for a dry run first.".to_owned(),
            Some(Decision::WithNetwork { hosts }) => format!(
                " A person asked for a dry run with access to {}.",
                hosts.join(", ")
            ),
            Some(Decision::InPlace { hosts }) if hosts.is_empty() => {
                " A person let it run for real.".to_owned()
            }
            Some(Decision::InPlace { hosts }) => format!(
                " A person let it run for real with access to {}.",
                hosts.join(", ")
            ),
            Some(Decision::Edit { .. }) => " A person changed its arguments.".to_owned(),
            None if trail.verdict == Verdict::Ask => " Nobody has decided.".to_owned(),
            None => String::new(),
        };
        let by = match self.authorised.decision_ref {
            Some(seq) => format!(" Decided by event {seq}."),
            None => String::new(),
        };
        format!("{}{decided}{by}", trail.lead)
    }

    fn describe_execution(&self) -> String {
        let state = self.executed.state.as_str();
        match (self.executed.started_at, self.executed.duration_ms) {
            (None, _) if self.forked_from.is_some() => format!("Run in that session; {state}."),
            (None, _) if self.imported => format!("Run by its agent; {state}."),
            (None, _) => format!("Never ran; {state}."),
            (Some(_), None) => format!("Began to run; {state}."),
            (Some(_), Some(ms)) if self.executed.starts > 1 => {
                format!(
                    "Ran for {ms} ms after {} beginnings; {state}.",
                    self.executed.starts
                )
            }
            (Some(_), Some(ms)) => format!("Ran for {ms} ms; {state}."),
        }
    }

    fn describe_streaming(&self) -> String {
        match (self.streamed.pieces, self.streamed.bytes) {
            (0, _) => "Nothing was reported while it ran.".to_owned(),
            (1, bytes) => format!("1 piece of live output, {bytes} bytes, for people only."),
            (pieces, bytes) => {
                format!("{pieces} pieces of live output, {bytes} bytes, for people only.")
            }
        }
    }

    fn describe_rendering(&self) -> String {
        let rendered = &self.rendered;
        let mut text = format!("Shown as “{} {}”", rendered.title, rendered.target);
        text.truncate(text.trim_end_matches([' ', '”']).len());
        text.push('”');
        if let Some(preview) = &rendered.preview {
            text.push_str(&match preview.as_str() {
                "nothing" => ", without a preview".to_owned(),
                kind => format!(", with a preview ({kind})"),
            });
        }
        match rendered.refreshed {
            0 => {}
            1 => text.push_str(", once anew"),
            times => text.push_str(&format!(", {times} times anew")),
        }
        match &rendered.message {
            Some(message) => format!("{text}. It ended with “{message}”."),
            None => format!("{text}."),
        }
    }

    fn describe_persistence(&self) -> String {
        let persistence = &self.persisted;
        let Some(bytes) = persistence.text_bytes else {
            return "No result yet.".to_owned();
        };
        let mut text = format!("{bytes} bytes of text for the model");
        if let Some(digest) = &persistence.digest {
            text.push_str(&format!(
                ", digest {}",
                digest.as_str().get(..12).unwrap_or_default()
            ));
        }
        text.push('.');
        if let Some(sidecar) = &persistence.sidecar {
            text.push_str(&match &sidecar.output_path {
                Some(path) => {
                    format!(
                        " That is the head; all {} bytes are in {path}.",
                        sidecar.bytes
                    )
                }
                None => format!(" That is the head of {} bytes.", sidecar.bytes),
            });
        }
        for place in &persistence.state {
            text.push_str(&format!(
                " It stands in the session's state at {}.",
                place.path
            ));
        }
        match (&persistence.undo, persistence.undo_state) {
            (Some(undo), Some(UndoState::Undone)) => {
                text.push_str(&format!(" Its effect was undone with {undo}."));
            }
            (Some(undo), _) => text.push_str(&format!(" {undo} can take its effect back.")),
            (None, _) => {}
        }
        text
    }

    fn describe_audit(&self) -> String {
        let count: u32 = self.audited.iter().map(|line| line.times).sum();
        match (self.audited.first(), self.audited.last()) {
            (Some(first), Some(last)) if first.seq != last.seq => {
                format!(
                    "{count} events on record, from {} to {}.",
                    first.seq, last.seq
                )
            }
            (Some(only), _) => format!("1 event on record, {}.", only.seq),
            (None, _) => "Nothing on record.".to_owned(),
        }
    }
}
