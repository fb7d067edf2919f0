//! A rules file as it is written.

use protocol::Action;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub default: Option<Action>,
    #[serde(default)]
    pub rule: Vec<Spanned<Written>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub permission: Spanned<String>,
    pub pattern: Option<Spanned<String>>,
    #[serde(default)]
    pub action: Action,
    pub reason: Option<String>,
    #[serde(default, rename = "match")]
    pub matching: Vec<Spanned<String>>,
    #[serde(default)]
    pub not_match: Vec<Spanned<String>>,
    pub expires: Option<Spanned<toml::Value>>,
    pub max_uses: Option<u32>,
}
