//! What a person does with services: set up, switch, look, approve, remove; each on disk before it is in force.

use std::path::Path;
use std::sync::Arc;

use openapi::{Api, Pins, Source, is_address, pin};
use protocol::apis::{ApiAuth, ApiChange, ApiSettings, ApiSetup};
use protocol::op::Receipt;
use protocol::servers::ServerId;
use protocol::{Digest, Fault};
use runtime::Net;
use tokio_util::sync::CancellationToken;
use tools::refs::refers;

use crate::desk::Shared;
use crate::shelf::{Shelf, stale};
use crate::{rules, way_out};

/// Does what the person asks, one after the other.
pub(crate) async fn change(
    shared: &Shared,
    id: ServerId,
    change: ApiChange,
) -> Result<Receipt, Fault> {
    let apis = &shared.apis.shelf;
    let _alone = apis.alone().await;
    let done = match change {
        ApiChange::Set { setup } => set(shared, id, *setup),
        ApiChange::Switch { enabled: true } => switch_on(shared, &id).await,
        ApiChange::Switch { enabled: false } => apis.switch(&id, false),
        ApiChange::Read => look(shared, apis.find(&id)?).await,
        ApiChange::Approve { digest } => approve(apis, &id, &digest),
        ApiChange::Remove => remove(apis, &id),
    };
    done.map(|()| Receipt::default())
}

fn set(shared: &Shared, id: ServerId, setup: ApiSetup) -> Result<(), Fault> {
    // The tools of both would have one name, and a rule for one of them would hold for the other.
    let mut servers = shared.servers.views().into_iter();
    if servers.any(|server| server.settings.id == id) {
        return Err(Fault::new(
            format!("There is a server of tools called `{id}` already."),
            "Choose another name.",
        ));
    }
    if let Some(scheme) = written_out(&setup) {
        return Err(Fault::new(
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
    shared.apis.shelf.set(&settings)
}

/// The first scheme whose secret is no reference.
fn written_out(setup: &ApiSetup) -> Option<&str> {
    let mut all = setup.auth.iter();
    let found = all.find(|(_, auth)| {
        let secret = match auth {
            ApiAuth::Token { token } => token,
            ApiAuth::Basic { password, .. } => password,
            ApiAuth::Client { client_secret, .. } => client_secret,
        };
        !refers(secret)
    });
    found.map(|(scheme, _)| scheme.as_str())
}

/// It is on only once its document was read, with what that says approved the first time.
async fn switch_on(shared: &Shared, id: &ServerId) -> Result<(), Fault> {
    let apis = &shared.apis.shelf;
    let known = apis.find(id)?;
    if known.settings().enabled {
        return look(shared, known).await;
    }
    // What cannot be read is looked at again, not approved again.
    let pins = Pins::load(apis.data_dir(), id);
    let is_first = matches!(pins, Ok(None));
    let settings = ApiSettings {
        enabled: true,
        ..known.settings().clone()
    };
    let (api, _) = apis.made(settings);
    look(shared, api.clone()).await?;
    if is_first && let Some(looked) = api.looked() {
        let first = Pins::first(&looked.document);
        first.save(apis.data_dir(), id)?;
        api.set_pins(first);
    }
    apis.put(api);
    apis.switch(id, true)
}

/// Reads the document of a service, from where its person said that it stands and nowhere else.
async fn look(shared: &Shared, api: Arc<Api>) -> Result<(), Fault> {
    let setup = api.settings().setup.clone();
    let source = if is_address(&setup.document) {
        let (net, cancel) = (way_to(shared, &setup.document)?, CancellationToken::new());
        Source::address(&net, &setup.document, &cancel).await?
    } else {
        let read = move || Source::file(Path::new(&setup.document), setup.follow_files);
        spawned(read).await??
    };
    // A large document takes its time.
    spawned(move || api.look(&source).map(drop)).await?
}

async fn spawned<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Fault::new("Reading the document broke off.", "Report this."))
}

/// A way to the host of the document, which the person named; their rules hold for it too.
fn way_to(shared: &Shared, document: &str) -> Result<Net, Fault> {
    let (config, now) = (&shared.config, shared.config.clock.now());
    let rules = rules::load(&config.data_dir, None, &[], None).rules;
    let hosts = way_out::named(&[document.to_owned()], &rules, now)?;
    Ok(way_out::opened(&Net::closed(), hosts, Arc::new(rules), now))
}

fn approve(apis: &Shelf<Api>, id: &ServerId, digest: &Digest) -> Result<(), Fault> {
    let api = apis.find(id)?;
    let looked = api.looked().ok_or_else(|| stale(id))?;
    if looked.document.digest() != *digest {
        return Err(stale(id));
    }
    let pins = api.pins().approving(&looked.document);
    pins.save(apis.data_dir(), id)?;
    api.set_pins(pins);
    Ok(())
}

fn remove(apis: &Shelf<Api>, id: &ServerId) -> Result<(), Fault> {
    apis.find(id)?;
    apis.remove(id, &pin::file(apis.data_dir(), id))
}
