//! What every manifest says of the product. It stands in Cargo.toml and tauri.conf.json, and is read from there.

use crate::failure::Failure;
use crate::paths;

/// The product as its manifests describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// The version, without `v`.
    pub version: String,
    /// The name of the app.
    pub name: String,
    /// The identifier of the app, in reverse domain notation.
    pub identifier: String,
    /// Who publishes it.
    pub publisher: String,
    /// One line, without a full stop.
    pub summary: String,
    /// A paragraph.
    pub description: String,
    /// The licence, an SPDX expression.
    pub licence: String,
}

impl Product {
    /// Reads the product of this checkout.
    pub fn read() -> Result<Self, Failure> {
        let file = paths::repo_root().join("tauri.conf.json");
        let settings =
            std::fs::read_to_string(&file).map_err(|e| Failure::file_error("read", &file, &e))?;
        let value = |key: &str| {
            read_json_text(&settings, key).ok_or_else(|| {
                Failure::new(
                    format!("tauri.conf.json has no plain text as `{key}`."),
                    "Write it there: the manifests say it.",
                )
            })
        };
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: value("productName")?,
            identifier: value("identifier")?,
            publisher: value("publisher")?,
            summary: value("shortDescription")?,
            description: value("longDescription")?,
            licence: env!("CARGO_PKG_LICENSE").to_owned(),
        })
    }

    /// Returns the licences of which a user may choose one.
    pub fn licences(&self) -> Vec<&str> {
        self.licence.split(" OR ").collect()
    }
}

/// Returns the text behind the first such key. `None` where there is none, or one with escapes, which no manifest could
/// take over as it stands.
fn read_json_text(json: &str, key: &str) -> Option<String> {
    let (_, rest) = json.split_once(&format!("\"{key}\": \""))?;
    let (text, _) = rest.split_once('"')?;
    (!text.contains('\\')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_manifests_say_stands_in_the_settings() {
        let product = Product::read().unwrap();
        assert_eq!(product.name, "Countersign");
        assert_eq!(product.identifier, "app.countersign.desktop");
        assert_eq!(product.licences(), ["MIT", "Apache-2.0"]);
    }

    #[test]
    fn a_text_with_escapes_is_not_taken_over() {
        let json = r#"{ "a": "plain", "b": "with \"quotes\"" }"#;
        assert_eq!(read_json_text(json, "a").as_deref(), Some("plain"));
        assert_eq!(read_json_text(json, "b"), None);
        assert_eq!(read_json_text(json, "c"), None);
    }
}
