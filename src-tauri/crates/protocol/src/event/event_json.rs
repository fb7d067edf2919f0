//! Reading events: the `type` says which group an event belongs to, so that only that group is tried.

use std::fmt;
use std::iter;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::event::{CallChange, CallProposal, EventBody, MessageChange, SessionEvent};

/// Names of events in the records of earlier versions, each with the present name.
const EARLIER_NAMES: [(&str, &str); 7] = [
    ("call_answered", "server_request_answered"),
    ("call_asked", "server_request_received"),
    ("call_hooked", "hook_answered"),
    ("call_lent", "sampling_finished"),
    ("call_waits", "call_waiting"),
    ("errand_ended", "sub_agent_finished"),
    ("noted", "notice_added"),
];

/// Returns the present name of an event.
fn present_name(stored: &str) -> &str {
    let earlier = EARLIER_NAMES.iter().find(|(name, _)| *name == stored);
    earlier.map_or(stored, |(_, present)| present)
}

impl<'de> Deserialize<'de> for EventBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = EventBody;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<EventBody, A::Error> {
        let missing_type = || A::Error::missing_field("type");
        let first: String = map.next_key()?.ok_or_else(missing_type)?;
        if first != "type" {
            // Events are written with their type first; another order is put right.
            let mut members = Map::from_iter([(first, map.next_value()?)]);
            while let Some((key, value)) = map.next_entry()? {
                members.insert(key, value);
            }
            let name: Value = members.remove("type").ok_or_else(missing_type)?;
            let members = iter::once(("type".to_owned(), name)).chain(members);
            return self
                .visit_map(MapDeserializer::new(members))
                .map_err(|error: serde_json::Error| A::Error::custom(error));
        }
        let name: String = map.next_value()?;
        let name = present_name(&name);
        if SessionEvent::NAMES.contains(&name) {
            let (event, _) = Members::deserialize_group(name, None, map)?;
            Ok(EventBody::Session(event))
        } else if MessageChange::NAMES.contains(&name) {
            let (change, id) = Members::deserialize_group(name, Some("message"), map)?;
            let message = id.ok_or_else(|| A::Error::missing_field("message"))?.into();
            Ok(EventBody::Message { change, message })
        } else if CallChange::NAMES.contains(&name) {
            let (change, id) = Members::deserialize_group(name, Some("call"), map)?;
            let call = id.ok_or_else(|| A::Error::missing_field("call"))?.into();
            Ok(EventBody::Call { change, call })
        } else if name == CallProposal::NAME {
            let (proposal, _) = Members::deserialize_group(name, None, map)?;
            Ok(EventBody::Proposal(proposal))
        } else {
            Err(A::Error::custom(format_args!("there is no event `{name}`")))
        }
    }
}

/// Members of an event's JSON as its group reads them: with the present name as their type, and without the id of the
/// message or call.
struct Members<'n, A> {
    /// The name; none once it was read.
    name: Option<&'n str>,
    /// Key of the id, if the group has one.
    id_key: Option<&'static str>,
    /// The id, once it was met.
    id: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> Members<'_, A> {
    /// Reads the part of an event that its group knows, and the id.
    fn deserialize_group<T: Deserialize<'de>>(
        name: &str,
        id_key: Option<&'static str>,
        rest: A,
    ) -> Result<(T, Option<String>), A::Error> {
        let mut members = Members {
            name: Some(name),
            id_key,
            id: None,
            rest,
        };
        let part = T::deserialize(MapAccessDeserializer::new(&mut members))?;
        Ok((part, members.id))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        if self.name.is_some() {
            return seed.deserialize("type".into_deserializer()).map(Some);
        }
        while let Some(key) = self.rest.next_key::<String>()? {
            if self.id_key != Some(key.as_str()) {
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
            self.id = Some(self.rest.next_value()?);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.name.take() {
            Some(name) => seed.deserialize(name.into_deserializer()),
            None => self.rest.next_value_seed(seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Events as earlier versions wrote them, each with the same event as it is written now.
    const EARLIER_EVENTS: [(&str, &str); 13] = [
        (
            r#"{"type":"session_opened","title":"A","workspace":"/w","model":{"provider":"demo","model":""},"asked":{"instructions":"Be brief."}}"#,
            r#"{"type":"session_opened","title":"A","workspace":"/w","model":{"provider":"demo","model":""},"options":{"instructions":"Be brief."}}"#,
        ),
        (
            r#"{"type":"errand_ended","message":"m","child":"ses_2","title":"Look","text":"Found.","failed":false}"#,
            r#"{"type":"sub_agent_finished","child":"ses_2","title":"Look","text":"Found.","failed":false,"message":"m"}"#,
        ),
        (
            r#"{"type":"call_judged","call":"c","tool":"bash","title":"Bash","target":"ls","mode":null,"kind":"execute","trail":{"verdict":"ask","lead":"","otherwise":"","steps":[]},"preview":{"type":"came","hosts":["docs.rs"],"text":[]},"undo":{"type":"pictured"},"grounds":{"facts":[],"tried":{"effects":[],"refused":0,"came":["docs.rs"],"agreed":false,"nothing_is_allowed":false},"confinement":"room"}}"#,
            r#"{"type":"call_judged","tool":"bash","title":"Bash","target":"ls","mode":null,"kind":"execute","trail":{"verdict":"ask","lead":"","otherwise":"","steps":[]},"preview":{"type":"response","hosts":["docs.rs"],"text":[]},"undo":{"type":"snapshot"},"evidence":{"facts":[],"dry_run":{"effects":[],"refused":0,"response_hosts":["docs.rs"],"agreed":false,"nothing_is_allowed":false},"confinement":"sandboxed"},"call":"c"}"#,
        ),
        (
            r#"{"type":"call_waits","call":"c","digest":"d","grants":[],"refreshed":null,"expires_at":null}"#,
            r#"{"type":"call_waiting","digest":"d","grants":[],"refreshed":null,"expires_at":null,"call":"c"}"#,
        ),
        (
            r#"{"type":"call_hooked","call":"c","hook":"the log","refused":null}"#,
            r#"{"type":"hook_answered","hook":"the log","refused":null,"call":"c"}"#,
        ),
        (
            r#"{"type":"call_started","call":"c"}"#,
            r#"{"type":"call_started","call":"c"}"#,
        ),
        (
            r#"{"type":"call_progress","call":"c","tool":"bash","message":"half"}"#,
            r#"{"type":"call_progress","tool":"bash","text":"half","call":"c"}"#,
        ),
        (
            r#"{"type":"call_asked","call":"c","ask":"ask_1","asked":{"server":"one","message":[],"wants":{"type":"form","fields":[]}},"expires_at":null}"#,
            r#"{"type":"server_request_received","request_id":"ask_1","request":{"server":"one","message":[],"wants":{"type":"form","fields":[]}},"expires_at":null,"call":"c"}"#,
        ),
        (
            r#"{"type":"call_answered","call":"c","ask":"ask_1","answer":{"type":"declined"},"why":null}"#,
            r#"{"type":"server_request_answered","request_id":"ask_1","answer":{"type":"declined"},"why":null,"call":"c"}"#,
        ),
        (
            r#"{"type":"call_lent","call":"c","ask":"ask_1","said":{"model":"m","text":"Hi","usage":{"input_tokens":2,"cached_tokens":0,"output_tokens":1,"cost_usd":null}}}"#,
            r#"{"type":"sampling_finished","request_id":"ask_1","result":{"model":"m","text":"Hi","usage":{"input_tokens":2,"cached_tokens":0,"output_tokens":1,"cost_usd":null}},"call":"c"}"#,
        ),
        (
            r#"{"type":"noted","notice":{"level":"note","fault":{"message":"A","hint":"","context":[]}}}"#,
            r#"{"type":"notice_added","notice":{"level":"note","fault":{"message":"A","hint":"","context":[]}}}"#,
        ),
        (
            r#"{"type":"undo_applied","call":"c","entry":"und_1","paths":4,"act":"und_2"}"#,
            r#"{"type":"undo_applied","entry":"und_1","paths":4,"action":"und_2","call":"c"}"#,
        ),
        (
            r#"{"type":"redo_applied","call":"c","entry":"und_1","paths":4,"act":"und_3"}"#,
            r#"{"type":"redo_applied","entry":"und_1","paths":4,"action":"und_3","call":"c"}"#,
        ),
    ];

    #[test]
    fn events_of_earlier_versions_are_read_as_their_present_form() {
        for (earlier, present) in EARLIER_EVENTS {
            let event: EventBody = serde_json::from_str(earlier).unwrap();
            assert_eq!(serde_json::from_str::<EventBody>(present).unwrap(), event);
            assert_eq!(serde_json::to_string(&event).unwrap(), present);
            let stored: Value = serde_json::from_str(present).unwrap();
            assert_eq!(stored["type"], event.name());
        }
    }

    #[test]
    fn members_are_read_in_any_order() {
        let event = json!({"call": "c", "text": "half", "tool": "bash", "type": "call_progress"});
        let event: EventBody = serde_json::from_value(event).unwrap();
        assert_eq!(
            serde_json::to_value(event).unwrap(),
            json!({"type": "call_progress", "tool": "bash", "text": "half", "call": "c"})
        );
    }

    #[test]
    fn an_error_names_what_is_wrong() {
        for (json, problem) in [
            (
                r#"{"type":"call_sung","call":"c"}"#,
                "there is no event `call_sung`",
            ),
            (
                r#"{"type":"call_output","text":"a"}"#,
                "missing field `call`",
            ),
            (
                r#"{"type":"call_output","call":"c"}"#,
                "missing field `text`",
            ),
            (r#"{"call":"c"}"#, "missing field `type`"),
        ] {
            let error = serde_json::from_str::<EventBody>(json)
                .unwrap_err()
                .to_string();
            assert!(error.contains(problem), "{json} gave {error}");
        }
    }
}
