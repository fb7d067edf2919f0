//! Trust in a project's rules file, which may loosen only then: the person trusts the content, so a changed file asks
//! again.

use protocol::{Digest, Trust};
use similar::TextDiff;

/// One text that the person trusted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedFile {
    /// The workspace root, absolute and real.
    pub workspace: String,
    /// Digest of the text.
    pub digest: Digest,
    /// The text itself, so that a change can be shown as a difference.
    pub text: String,
}

/// Checks whether the rules file of a workspace is trusted.
pub fn check_trust(workspace: &str, text: &str, trusted: &[TrustedFile]) -> Trust {
    let here = trusted.iter().filter(|one| one.workspace == workspace);
    let digest = text_digest(text);
    let mut trust = Trust::Unknown;
    for one in here {
        match one.digest == digest {
            true => return Trust::Trusted,
            false => trust = Trust::Changed,
        }
    }
    trust
}

/// Returns the changes since a text at this place was last trusted, as a unified diff; empty if none was trusted or
/// none changed.
pub fn diff_since_trusted(workspace: &str, text: &str, trusted: &[TrustedFile]) -> String {
    let last = trusted.iter().rev().find(|one| one.workspace == workspace);
    last.filter(|one| one.text != text)
        .map_or_else(String::new, |one| {
            TextDiff::from_lines(one.text.as_str(), text)
                .unified_diff()
                .context_radius(3)
                .header("trusted", "now")
                .to_string()
        })
}

/// Returns the digest by which a text is trusted.
pub fn text_digest(text: &str) -> Digest {
    Digest::from_bytes(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_not_trusted_any_more() {
        let trusted = [TrustedFile {
            workspace: "/w".into(),
            digest: text_digest("one"),
            text: "one".into(),
        }];
        for (workspace, text, trust) in [
            ("/w", "one", Trust::Trusted),
            ("/w", "two", Trust::Changed),
            ("/v", "one", Trust::Unknown),
        ] {
            assert_eq!(
                check_trust(workspace, text, &trusted),
                trust,
                "{workspace} {text}"
            );
            assert_eq!(trust.can_loosen(), trust == Trust::Trusted);
        }
    }
}
