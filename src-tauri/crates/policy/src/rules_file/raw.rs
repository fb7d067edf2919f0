//! A rules file as it is written.

use protocol::RuleAction;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRulesFile {
    pub default: Option<RuleAction>,
    #[serde(default)]
    pub rule: Vec<Spanned<RawRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    pub permission: Spanned<String>,
    pub pattern: Option<Spanned<String>>,
    #[serde(default)]
    pub action: RuleAction,
    pub reason: Option<String>,
    #[serde(default, rename = "match")]
    pub matching: Vec<Spanned<String>>,
    #[serde(default)]
    pub not_match: Vec<Spanned<String>>,
    pub expires: Option<Spanned<toml::Value>>,
    pub max_uses: Option<u32>,
}
