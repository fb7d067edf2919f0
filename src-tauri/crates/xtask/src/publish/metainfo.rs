//! The AppStream metainfo, from which software centres show the app.

use super::product::Product;
use super::text::escape_xml;
use crate::failure::Failure;
use crate::paths;

/// What differs between the packages that bring a metainfo.
#[derive(Clone, Copy, Debug)]
pub struct MetainfoOptions<'a> {
    /// Identifier of the app in this package.
    pub identifier: &'a str,
    /// Name of the desktop file that starts it.
    pub desktop_file: &'a str,
    /// Address of the repository, where it is known.
    pub repository: Option<&'a str>,
}

/// Returns the metainfo of the product. A release is in it once the changelog has a date for the version.
pub fn metainfo_text(product: &Product, options: &MetainfoOptions) -> Result<String, Failure> {
    let file = paths::repo_root().join("CHANGELOG.md");
    let changelog =
        std::fs::read_to_string(&file).map_err(|e| Failure::file_error("read", &file, &e))?;
    let release = find_release_date(&changelog, &product.version).map(|date| {
        format!(
            "  <releases>\n    <release version=\"{}\" date=\"{date}\"/>\n  </releases>\n",
            product.version
        )
    });
    let homepage = options
        .repository
        .map(|address| format!("  <url type=\"homepage\">{}</url>\n", escape_xml(address)));
    let (organization, _) = product
        .identifier
        .rsplit_once('.')
        .unwrap_or((&product.identifier, ""));
    Ok(format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<component type="desktop-application">
  <id>{identifier}</id>
  <metadata_license>{metadata_licence}</metadata_license>
  <project_license>{licence}</project_license>
  <name>{name}</name>
  <summary>{summary}</summary>
  <developer id="{organization}">
    <name>{publisher}</name>
  </developer>
  <description>
    <p>{description}</p>
  </description>
  <launchable type="desktop-id">{desktop_file}</launchable>
{homepage}  <categories>
    <category>Development</category>
  </categories>
  <content_rating type="oars-1.1"/>
{release}</component>
"#,
        identifier = options.identifier,
        metadata_licence = product.licences().first().copied().unwrap_or_default(),
        licence = product.licence,
        name = escape_xml(&product.name),
        summary = escape_xml(&product.summary),
        publisher = escape_xml(&product.publisher),
        description = escape_xml(&product.description),
        desktop_file = options.desktop_file,
        homepage = homepage.unwrap_or_default(),
        release = release.unwrap_or_default(),
    ))
}

/// Returns the date in the heading of a version, such as `2026-01-31` in `## [1.2.0] - 2026-01-31`.
pub(super) fn find_release_date<'a>(changelog: &'a str, version: &str) -> Option<&'a str> {
    let heading = format!("## [{version}] - ");
    changelog
        .lines()
        .find_map(|line| line.strip_prefix(&heading))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_the_date_of_its_heading() {
        let changelog = "## [Unreleased]\n\n## [1.2.0] - 2026-01-31\n\n## [1.1.0]\n";
        assert_eq!(find_release_date(changelog, "1.2.0"), Some("2026-01-31"));
        assert_eq!(find_release_date(changelog, "1.1.0"), None);
        assert_eq!(find_release_date(changelog, "1.2"), None);
    }
}
