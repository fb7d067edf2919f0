//! The parameters of an operation: where each goes, how it is written, and what its argument is called.

use protocol::shown::in_a_sentence;
use serde_json::{Map, Value, json};

use crate::limits::{NAMED_CHARS_MAX, PARAMETERS_MAX};
use crate::names;
use crate::operation::{Parameter, Style, Where};
use crate::reader::{Place, Reader};
use crate::schema::Schemas;

/// Headers that the document cannot set: what kind of body or answer, who asks, and what the connection itself says.
const OWN_HEADERS: [&str; 14] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A parameter as it stands in the document.
struct Written<'a> {
    parameter: Parameter,
    at: Place<'a>,
    schema: Option<Place<'a>>,
}

/// The parameters of an operation, with the members of the schema that take them.
pub(crate) struct Parameters {
    pub all: Vec<Parameter>,
    pub members: Map<String, Value>,
}

/// Reads the parameters of a path and of its operation, which come before those.
///
/// # Errors
/// Why one of them cannot be sent, as a clause.
pub(crate) fn read<'a>(
    schemas: &mut Schemas<'a, '_>,
    item: Place<'a>,
    operation: Place<'a>,
    path: &str,
) -> Result<Parameters, String> {
    let mut all: Vec<Written<'a>> = Vec::new();
    for at in item
        .items("parameters")
        .chain(operation.items("parameters"))
    {
        let Some(written) = one(schemas.reader, at)? else {
            continue;
        };
        let is_same = |known: &Written<'a>| {
            let (known, written) = (&known.parameter, &written.parameter);
            known.name == written.name && known.place == written.place
        };
        match all.iter_mut().find(|known| is_same(known)) {
            Some(known) => *known = written,
            None => all.push(written),
        }
    }
    // Those of the path are what stands in it, whether the document speaks of them or not.
    let placeholders = placeholders(path)?;
    all.retain(|written| {
        let parameter = &written.parameter;
        parameter.place != Where::Path || placeholders.contains(&parameter.name.as_str())
    });
    for name in placeholders {
        let is_it = |written: &Written<'a>| {
            written.parameter.place == Where::Path && written.parameter.name == name
        };
        if !all.iter().any(is_it) {
            all.push(unspoken(name, operation));
        }
    }
    if all.len() > PARAMETERS_MAX {
        return Err(format!("it has more than {PARAMETERS_MAX} parameters"));
    }
    call(&mut all);
    let mut members = Map::new();
    for written in &all {
        let member = member(schemas, written);
        members.insert(written.parameter.argument.clone(), member);
    }
    Ok(Parameters {
        all: all.into_iter().map(|written| written.parameter).collect(),
        members,
    })
}

/// One parameter; none if it is a header that is not the document's to set.
fn one<'a>(reader: &Reader<'a>, at: Place<'a>) -> Result<Option<Written<'a>>, String> {
    let at = reader.follow(at)?;
    let Some(name) = at.text("name").filter(|name| !name.is_empty()) else {
        return Err("one of its parameters has no name".to_owned());
    };
    let named = in_a_sentence(name, NAMED_CHARS_MAX);
    let place = match at.text("in") {
        Some("path") => Where::Path,
        Some("query") => Where::Query,
        Some("header") if OWN_HEADERS.contains(&name.to_lowercase().as_str()) => return Ok(None),
        Some("header") => Where::Header,
        Some("cookie") => Where::Cookie,
        other => {
            let other = in_a_sentence(other.unwrap_or("nowhere"), NAMED_CHARS_MAX);
            return Err(format!(
                "its parameter `{named}` goes to a place that is not known ({other})"
            ));
        }
    };
    if matches!(place, Where::Header | Where::Cookie) && !is_token(name) {
        return Err(format!(
            "its parameter `{named}` cannot be the name of a {}",
            place.as_str()
        ));
    }
    let style = style(at, place).map_err(|why| format!("its parameter `{named}` {why}"))?;
    let content = at.members("content").next();
    // What is no JSON is text.
    let json = content.is_some_and(|(media, _)| crate::body::is_json(media));
    let schema = match content {
        Some((_, content)) => content.member("schema"),
        None => at.member("schema"),
    };
    let parameter = Parameter {
        name: name.to_owned(),
        argument: String::new(),
        place,
        required: place == Where::Path || at.is("required"),
        style,
        explode: match at.value.get("explode").and_then(Value::as_bool) {
            Some(explode) => explode,
            None => style == Style::Form,
        },
        reserved: place == Where::Query && at.is("allowReserved"),
        json,
    };
    Ok(Some(Written {
        parameter,
        at,
        schema,
    }))
}

/// How it is written: as it says, if that can be where it goes.
fn style(at: Place<'_>, place: Where) -> Result<Style, String> {
    let (usual, others): (Style, &[(&str, Style)]) = match place {
        Where::Path => (
            Style::Simple,
            &[
                ("simple", Style::Simple),
                ("label", Style::Label),
                ("matrix", Style::Matrix),
            ],
        ),
        Where::Query => (
            Style::Form,
            &[
                ("form", Style::Form),
                ("spaceDelimited", Style::SpaceDelimited),
                ("pipeDelimited", Style::PipeDelimited),
                ("deepObject", Style::DeepObject),
            ],
        ),
        Where::Header => (Style::Simple, &[("simple", Style::Simple)]),
        Where::Cookie => (Style::Form, &[("form", Style::Form)]),
    };
    let Some(written) = at.value.get("style") else {
        return Ok(usual);
    };
    let written = written.as_str().unwrap_or_default();
    let found = others.iter().find(|(name, _)| *name == written);
    found.map(|(_, style)| *style).ok_or_else(|| {
        let written = in_a_sentence(written, NAMED_CHARS_MAX);
        format!("has a style that is none of its place ({written})")
    })
}

/// A placeholder that the document does not speak of.
fn unspoken<'a>(name: &str, at: Place<'a>) -> Written<'a> {
    Written {
        parameter: Parameter {
            name: name.to_owned(),
            argument: String::new(),
            place: Where::Path,
            required: true,
            style: Style::Simple,
            explode: false,
            reserved: false,
            json: false,
        },
        at: at.with(&Value::Null),
        schema: None,
    }
}

/// The names between braces in a path, in order.
///
/// # Errors
/// Why it is no path, as a clause.
fn placeholders(path: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, left)) = after.split_once('}') else {
            return Err("its path has a brace that is not closed".to_owned());
        };
        if !names.contains(&name) {
            names.push(name);
        }
        rest = left;
    }
    Ok(names)
}

/// Gives every parameter an argument. Those of one name in several places are told apart by the place.
fn call(all: &mut [Written<'_>]) {
    let near: Vec<String> = all
        .iter()
        .map(|written| names::near(&written.parameter.name, written.parameter.place.as_str()))
        .collect();
    let mut taken: Vec<String> = Vec::new();
    for (at, written) in all.iter_mut().enumerate() {
        let Some(mine) = near.get(at) else { continue };
        let is_shared = near.iter().filter(|other| *other == mine).count() > 1;
        let wanted = match is_shared {
            true => format!("{}_{mine}", written.parameter.place.as_str()),
            false => mine.clone(),
        };
        let argument = names::free(&wanted, |name| taken.iter().any(|known| known == name));
        taken.push(argument.clone());
        written.parameter.argument = argument;
    }
}

/// The member of the tool's schema that takes a parameter.
fn member<'a>(schemas: &mut Schemas<'a, '_>, written: &Written<'a>) -> Value {
    let mut member = match written.schema {
        Some(schema) => schemas.convert(schema, 2),
        None if written.at.value.is_null() => json!({ "type": "string" }),
        None => json!({}),
    };
    if let Value::Bool(_) = member {
        member = json!({});
    }
    let said = written
        .at
        .text("description")
        .map(str::trim)
        .unwrap_or_default();
    let Value::Object(members) = &mut member else {
        return member;
    };
    let mut told = match said {
        "" => members
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        said => crate::document::readable(said, crate::limits::MEMBER_CHARS_MAX),
    };
    if written.at.is("deprecated") {
        members.insert("deprecated".to_owned(), Value::Bool(true));
    }
    let parameter = &written.parameter;
    if parameter.argument != parameter.name {
        let kept_apart = format!(
            "The {} parameter `{}`.",
            parameter.place.as_str(),
            in_a_sentence(&parameter.name, NAMED_CHARS_MAX)
        );
        told = match told.is_empty() {
            true => kept_apart,
            false => format!("{kept_apart} {told}"),
        };
    }
    if !told.is_empty() {
        members.insert("description".to_owned(), told.into());
    }
    member
}

/// Whether a text can be the name of a header or a cookie.
pub(crate) fn is_token(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(allowed)
}
