//! Servers that other products, or the project, are set up with: offered, never used by themselves.

use std::path::Path;

use mcp::import;
use protocol::Fault;
use protocol::servers::ServerSource;

use super::Servers;

/// Every file that is there and names servers, with what could be taken from it.
pub(crate) fn found(servers: &Servers, workspace: Option<&Path>) -> Vec<ServerSource> {
    servers.shelf().read();
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
    let places = import::places(home.as_deref(), workspace).into_iter();
    let mut all: Vec<ServerSource> = places
        .filter_map(|(product, file, project)| source(product, &file, project.as_deref()))
        .collect();
    let known = servers.shelf().each(|one| one.settings().id.clone());
    for found in all.iter_mut().flat_map(|source| &mut source.found) {
        let settings = found.settings.as_ref();
        found.known = settings.is_some_and(|one| known.contains(&one.id));
    }
    all
}

/// What could be taken from a file that is named, of a product as the command line calls it.
///
/// # Errors
/// There is no such product, or no such file with servers in it.
pub fn servers_of_file(product: &str, file: &Path) -> Result<ServerSource, Fault> {
    let known = import::Product::ALL.into_iter();
    let known = known.filter(|(name, _)| *name == product);
    let mut found = known.filter_map(|(_, product)| source(product, file, file.parent()));
    found.next_back().ok_or_else(|| {
        Fault::new(
            format!("{} names no servers of {product}.", file.display()),
            "Check the path, and whose file it is.",
        )
    })
}

/// What could be taken from a file; nothing if it is not there, or is about something else.
fn source(product: import::Product, file: &Path, project: Option<&Path>) -> Option<ServerSource> {
    let read = match runtime::read_text(file) {
        Ok(None) => return None,
        Ok(Some(text)) => import::read(product, &text, project),
        Err(error) => Err(error.into()),
    };
    let (found, fault) = match read {
        Ok(found) if found.is_empty() => return None,
        Ok(found) => (found, None),
        Err(fault) => (Vec::new(), Some(fault)),
    };
    Some(ServerSource {
        product: product.title().to_owned(),
        file: file.display().to_string(),
        fault,
        found,
    })
}
