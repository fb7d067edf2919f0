//! The person's settings of the sandbox that commands run in.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::text::define_checked_text;

/// Settings of the sandbox that commands run in, in addition to its defaults. Holds for programs started from now on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxSettings {
    /// Files and folders that no command in the sandbox may open, beside those that are known to hold credentials.
    pub closed: Vec<DeniedPath>,
    /// The most memory that one sandbox may use, in MiB, at least 256; half of the machine's memory if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub memory_mib: Option<NonZeroU32>,
}

impl SandboxSettings {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A path that begins at the root, or with `~/` at the home folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct DeniedPath(String);

define_checked_text!(DeniedPath, |path| {
    let begins = path.starts_with("~/") || std::path::Path::new(path).is_absolute();
    match begins && path.trim_end_matches('/').len() > 1 {
        true => Ok(()),
        false => Err(format!(
            "`{}` is not a path that begins with `/` or `~/`",
            path.escape_debug()
        )),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_path_begins_at_the_root_or_at_home() {
        for (path, is_one) in [
            ("~/keys", true),
            ("/srv/keys/", true),
            ("keys", false),
            ("", false),
            ("/", false),
            ("~/", false),
            ("~other/keys", false),
        ] {
            assert_eq!(
                DeniedPath::try_from(path.to_owned()).is_ok(),
                is_one,
                "{path}"
            );
        }
        let error = serde_json::from_str::<SandboxSettings>(r#"{"closed": ["keys"]}"#).unwrap_err();
        assert!(
            error.to_string().contains("begins with `/` or `~/`"),
            "{error}"
        );
    }
}
