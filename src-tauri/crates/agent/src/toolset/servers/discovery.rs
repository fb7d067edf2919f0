//! Servers that are set up in other products or in the project: offered for import, never used by themselves.

use std::path::Path;

use mcp::import;
use protocol::UserError;
use protocol::server::mcp_servers::ServerImportSource;

use crate::limits::IMPORTED_BYTES_MAX;
use crate::toolset::servers::Servers;

/// Returns every existing file that names servers, with the servers that could be imported from it.
pub(crate) fn find_servers(servers: &Servers, workspace: Option<&Path>) -> Vec<ServerImportSource> {
    servers.store().reload();
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    let places = import::import_locations(home.as_deref(), workspace).into_iter();
    let mut all: Vec<ServerImportSource> = places.filter_map(|place| read_source(&place)).collect();
    let known = servers.store().map_entries(|one| one.settings().id.clone());
    for found in all.iter_mut().flat_map(|source| &mut source.found) {
        let settings = found.settings.as_ref();
        found.known = settings.is_some_and(|one| known.contains(&one.id));
    }
    all
}

/// Returns the servers that could be imported from a given file, of a product named as on the command line. From the
/// personal file of Claude Code that includes its servers for `workspace` alone.
///
/// # Errors
/// The product is unknown, or there is no such file with servers in it.
pub fn servers_from_file(
    product: &str,
    file: &Path,
    workspace: &Path,
) -> Result<Vec<ServerImportSource>, UserError> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (file, workspace) = (absolute(file), absolute(workspace));
    let known = import::ServerImportProduct::ALL.into_iter();
    let known = known.filter(|(name, _)| *name == product);
    let places =
        known.flat_map(|(_, product)| import::locations_for_file(product, &file, Some(&workspace)));
    let found: Vec<ServerImportSource> = places.filter_map(|place| read_source(&place)).collect();
    match found.is_empty() {
        false => Ok(found),
        true => Err(UserError::new(
            format!("{} names no servers of {product}.", file.display()),
            "Check the path, and whose file it is.",
        )),
    }
}

/// Returns the servers that could be imported from a file; none if the file does not exist, or has other content.
fn read_source(place: &import::ImportLocation) -> Option<ServerImportSource> {
    let read = match runtime::read_text_within(&place.file, IMPORTED_BYTES_MAX) {
        Ok(None) => return None,
        Ok(Some(text)) => import::parse_servers(place.product, &text, &place.scope),
        Err(error) => Err(error.into()),
    };
    let (found, fault) = match read {
        Ok(found) if found.is_empty() => return None,
        // It is told once, of the place that is the whole file.
        Err(_) if matches!(place.scope, import::ImportScope::Local(_)) => return None,
        Ok(found) => (found, None),
        Err(fault) => (Vec::new(), Some(fault)),
    };
    let title = place.product.title();
    Some(ServerImportSource {
        product: match &place.scope {
            import::ImportScope::Local(_) => format!("{title}, for this folder"),
            import::ImportScope::Person | import::ImportScope::Project(_) => title.to_owned(),
        },
        file: place.file.display().to_string(),
        fault,
        found,
    })
}
