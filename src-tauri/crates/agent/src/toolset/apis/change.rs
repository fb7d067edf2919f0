//! A person's changes to services: set up, switch, look, approve, remove; each on disk before it takes effect.

use std::path::Path;
use std::sync::Arc;

use openapi::{ApiService, DocumentSource, is_document_url};
use protocol::UserError;
use protocol::op::OpReceipt;
use protocol::server::apis::{ApiAuth, ApiChange, ApiSettings, ApiSetup};
use protocol::server::mcp_servers::ServerId;
use runtime::NetworkClient;
use tokio_util::sync::CancellationToken;
use tools::config_references::has_reference;

use crate::permissions::{egress, rules};
use crate::toolset::api_context::ApiContext;

/// Carries out a change of services, one at a time.
pub(crate) async fn change_apis(
    context: &ApiContext<'_>,
    id: ServerId,
    change: ApiChange,
) -> Result<OpReceipt, UserError> {
    let apis = &context.apis.store;
    let _guard = apis.lock_changes().await;
    let result = match change {
        ApiChange::Set { setup } => save_api(context, id, *setup),
        ApiChange::Switch { enabled: true } => enable_api(context, &id).await,
        ApiChange::Switch { enabled: false } => apis.set_enabled(&id, false),
        ApiChange::Read => refresh_api(context, apis.find(&id)?).await,
        ApiChange::Approve { digest } => {
            let api = apis.find(&id)?;
            apis.approve(&api, &digest)
        }
        ApiChange::Remove => apis.find(&id).and_then(|_| apis.remove(&id)),
    };
    result.map(|()| OpReceipt::default())
}

fn save_api(context: &ApiContext<'_>, id: ServerId, setup: ApiSetup) -> Result<(), UserError> {
    // The tools of both would have one name, and a rule for one of them would hold for the other.
    let mut servers = context.servers.views().into_iter();
    if servers.any(|server| server.settings.id == id) {
        return Err(UserError::new(
            format!("There is a server of tools called `{id}` already."),
            "Choose another name.",
        ));
    }
    if let Some(scheme) = scheme_with_inline_secret(&setup) {
        return Err(UserError::new(
            format!(
                "The secret of `{scheme}` is written out, and would stand in the file of the services."
            ),
            "Put it into the keychain and write `keychain:NAME`, or set an environment variable and write `${NAME}`.",
        ));
    }
    let settings = ApiSettings {
        id,
        setup,
        enabled: false,
    };
    context.apis.store.save(&settings)
}

/// Returns the first authentication scheme whose secret is not a reference.
fn scheme_with_inline_secret(setup: &ApiSetup) -> Option<&str> {
    let mut schemes = setup.auth.iter();
    let inline = schemes.find(|(_, auth)| {
        let secret = match auth {
            ApiAuth::Token { token } => token,
            ApiAuth::Basic { password, .. } => password,
            ApiAuth::Client { client_secret, .. } => client_secret,
        };
        !has_reference(secret)
    });
    inline.map(|(scheme, _)| scheme.as_str())
}

/// Switches a service on, once its document was read; the first time this approves the operations of the document.
async fn enable_api(context: &ApiContext<'_>, id: &ServerId) -> Result<(), UserError> {
    let apis = &context.apis.store;
    let current = apis.find(id)?;
    if current.settings().enabled {
        return refresh_api(context, current).await;
    }
    let was_approved = apis.was_approved(id);
    let settings = ApiSettings {
        enabled: true,
        ..current.settings().clone()
    };
    let (api, _) = apis.build_entry(settings);
    refresh_api(context, api.clone()).await?;
    if !was_approved {
        apis.approve_initial(&api)?;
    }
    apis.replace(api);
    apis.set_enabled(id, true)
}

/// Reads the document of a service, only from the location that its person gave.
async fn refresh_api(context: &ApiContext<'_>, api: Arc<ApiService>) -> Result<(), UserError> {
    let setup = api.settings().setup.clone();
    let source = if is_document_url(&setup.document) {
        let (net, cancel) = (
            document_egress(context, &setup.document)?,
            CancellationToken::new(),
        );
        DocumentSource::fetch(&net, &setup.document, &cancel).await?
    } else {
        let read =
            move || DocumentSource::from_file(Path::new(&setup.document), setup.follow_files);
        run_blocking(read).await??
    };
    // A large document takes its time.
    run_blocking(move || api.load_document(&source).map(drop)).await?
}

async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, UserError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| UserError::new("Reading the document broke off.", "Report this."))
}

/// Returns network access to the host of the document, which the person named; the person's rules apply to that host
/// too.
fn document_egress(context: &ApiContext<'_>, document: &str) -> Result<NetworkClient, UserError> {
    let (config, now) = (&context.config, context.config.clock.now());
    let rules = rules::load_rules(&config.data_dir, None, &[], None).rules;
    let hosts = egress::check_hosts(&[document.to_owned()], &rules, now)?;
    Ok(egress::allow_hosts(
        &NetworkClient::offline(),
        hosts,
        Arc::new(rules),
        now,
    ))
}
