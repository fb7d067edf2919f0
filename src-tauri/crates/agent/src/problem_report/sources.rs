//! Servers and services that are set up, by number: how many there are, and how each is reached and switched.

use std::collections::BTreeSet;
use std::path::Path;

use mcp::catalogue::ToolCatalogue;
use mcp::config::ServersFile;
use protocol::server::audience::Audience;
use protocol::server::mcp_servers::{ServerId, ServerSettings, ServerTransport};
use serde::Serialize;
use tools::config_table::{self, ConfigTable};
use tools::sources::Catalogue;

use super::text::NumberedName;

/// The servers or the services.
#[derive(Debug, Default, Serialize)]
pub(super) struct SourcesReport {
    state: SourcesState,
    list: Vec<SourceReport>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
enum SourcesState {
    #[default]
    Readable,
    Unreadable,
}

#[derive(Debug, Serialize)]
struct SourceReport {
    name: NumberedName,
    transport: &'static str,
    enabled: bool,
    /// Whether tools of it were approved.
    approved: bool,
    sandboxed: bool,
    audience: Option<Audience>,
    timeout_ms: u32,
    /// Number of variables or headers that it gets.
    values: usize,
}

/// Reads which servers are set up.
pub(super) fn read_servers(data_dir: &Path) -> SourcesReport {
    let describe = |settings: &ServerSettings| {
        let ServerSettings {
            id: _,
            transport,
            timeout_ms,
            audience,
            enabled,
        } = settings;
        let (transport, sandboxed, values) = match transport {
            ServerTransport::Stdio { env, sandbox, .. } => ("stdio", sandbox.is_some(), env.len()),
            ServerTransport::Http { headers, .. } => ("http", false, headers.len()),
        };
        SourceReport {
            name: unnamed("server"),
            transport,
            enabled: *enabled,
            approved: false,
            sandboxed,
            audience: *audience,
            timeout_ms: *timeout_ms,
            values,
        }
    };
    read_sources::<ServersFile>(data_dir, ToolCatalogue::FOLDER, &describe)
}

/// Reads which services are set up.
#[cfg(feature = "openapi")]
pub(super) fn read_services(data_dir: &Path) -> SourcesReport {
    use openapi::ApiDocument;
    use openapi::config::ApisFile;
    use protocol::server::apis::ApiSettings;

    let describe = |settings: &ApiSettings| SourceReport {
        name: unnamed("service"),
        transport: match runtime::net::parse_server_url(&settings.setup.document) {
            Ok(_) => "document at an address",
            Err(_) => "document in a file",
        },
        enabled: settings.enabled,
        approved: false,
        sandboxed: false,
        audience: settings.setup.audience,
        timeout_ms: settings.setup.timeout_ms(),
        values: settings.setup.headers.len() + settings.setup.auth.len(),
    };
    read_sources::<ApisFile>(data_dir, ApiDocument::FOLDER, &describe)
}

/// This build has no services.
#[cfg(not(feature = "openapi"))]
pub(super) fn read_services(_data_dir: &Path) -> SourcesReport {
    SourcesReport::default()
}

fn unnamed(thing: &'static str) -> NumberedName {
    NumberedName { thing, index: 0 }
}

fn read_sources<F: ConfigTable>(
    data_dir: &Path,
    approvals: &str,
    describe: &dyn Fn(&F::TableItem) -> SourceReport,
) -> SourcesReport {
    let text = runtime::read_text(&data_dir.join(F::FILE)).map(Option::unwrap_or_default);
    let items = text
        .ok()
        .and_then(|text| config_table::parse_items::<F>(&text).ok());
    let Some(items) = items else {
        return SourcesReport {
            state: SourcesState::Unreadable,
            list: Vec::new(),
        };
    };
    let approved = list_approved(&data_dir.join(approvals));
    let list = items.iter().enumerate().map(|(index, item)| {
        let (id, _) = F::id_and_enabled(item);
        let mut report = describe(item);
        report.name.index = index;
        report.approved = approved.contains(id);
        report
    });
    SourcesReport {
        state: SourcesState::Readable,
        list: list.collect(),
    }
}

/// Returns the servers or services that have approvals in a folder.
fn list_approved(folder: &Path) -> BTreeSet<ServerId> {
    let names = runtime::list_file_names(folder).unwrap_or_default();
    let ids = names.iter().filter_map(|name| name.strip_suffix(".json"));
    ids.filter_map(|id| ServerId::try_from(id.to_owned()).ok())
        .collect()
}
