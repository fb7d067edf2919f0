//! Names of tools that are unique within their source, and ids that are short enough for models.

use protocol::Digest;

use crate::limits::ID_BYTES_MAX;

/// Returns the name, or the first free one with a number at its end.
pub fn unique_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    let mut numbered = (2_u32..).map(|number| format!("{name}_{number}"));
    numbered.find(|name| !is_taken(name)).unwrap_or_default()
}

/// Builds the id of a tool, `source__tool`. Where it is too long for models, it is shortened, and ends with a part of
/// the digest of `identity`, so that it stays unique.
pub fn build_tool_id(source: &str, called: &str, identity: &str) -> String {
    let id = format!("{source}__{called}");
    if id.len() <= ID_BYTES_MAX {
        return id;
    }
    let digest = Digest::from_bytes(identity.as_bytes());
    let tail: String = digest.0.chars().take(8).collect();
    let keep = id.floor_char_boundary(ID_BYTES_MAX - tail.len() - 1);
    format!("{}_{tail}", &id[..keep])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_are_unique() {
        assert_eq!(unique_name("a", |name| matches!(name, "a" | "a_2")), "a_3");
        assert_eq!(build_tool_id("api", "a", "a"), "api__a");
        let long = "x".repeat(100);
        let id = build_tool_id("api", &long, &long);
        assert_eq!(id.len(), ID_BYTES_MAX);
        assert_ne!(id, build_tool_id("api", &long, "another"));
    }
}
