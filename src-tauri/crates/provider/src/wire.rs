//! A provider behind a URL: one request from key to last chunk, with its retries.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use genai::adapter::AdapterKind;
use genai::chat::ChatStreamEvent;
use genai::resolver::{AuthData, Endpoint as GenaiEndpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use protocol::Fault;
use protocol::settings::Wire;
use tokio_util::sync::CancellationToken;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;

use crate::built_in::AddressSource;
use crate::diagnose::Failure;
use crate::endpoint::Endpoint;
use crate::keys::{Key, Keys};
use crate::limits::{Timing, ms};
use crate::listing::{closest_first, models};
use crate::prices::Prices;
use crate::reply::{Asked, Reply};
use crate::request::Outgoing;
use crate::tap::Tap;
use crate::{
    Chunk, ChunkStream, ModelRequest, Provider, ProviderError, Secret, http, ollama, retry,
};

/// A provider that is reached over HTTP.
pub(crate) struct WireProvider {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) wire: Wire,
    pub(crate) endpoint: Endpoint,
    /// Who says that it is reached there.
    pub(crate) from: AddressSource,
    pub(crate) key_env: Option<String>,
    /// Whether there is no point in asking without a key.
    pub(crate) needs_key: bool,
    pub(crate) prices: Prices,
    pub(crate) timing: Timing,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) memory: Mutex<Memory>,
}

/// What a provider keeps from request to request.
#[derive(Default)]
pub(crate) struct Memory {
    client: Option<(Option<Secret>, reqwest::Client)>,
    models: Vec<String>,
}

/// Why there is no key.
pub(crate) enum NoKey {
    /// None is set.
    None,
    /// The environment has none, and the keychain cannot be asked.
    Keychain(Fault),
}

impl WireProvider {
    /// Looks for the key, away from the async threads: a keychain may wait for a person.
    pub(crate) async fn key(&self) -> Result<Key, NoKey> {
        let (keys, id, env) = (self.keys.clone(), self.id.clone(), self.key_env.clone());
        let look = tokio::task::spawn_blocking(move || keys.get(&id, env.as_deref()));
        match tokio::time::timeout(ms(self.timing.keychain_ms), look).await {
            Ok(Ok(Ok(Some(key)))) => Ok(key),
            Ok(Ok(Ok(None))) => Err(NoKey::None),
            Ok(Ok(Err(fault))) => Err(NoKey::Keychain(fault)),
            Ok(Err(_)) | Err(_) => Err(NoKey::Keychain(Fault::new(
                "The system keychain did not answer.",
                "Unlock it, or use an environment variable for the key.",
            ))),
        }
    }

    /// The key, or none where none is needed.
    async fn wanted_key(&self) -> Result<Option<Key>, ProviderError> {
        let keychain = match self.key().await {
            Ok(key) => return Ok(Some(key)),
            Err(_) if !self.needs_key => return Ok(None),
            Err(NoKey::None) => None,
            Err(NoKey::Keychain(fault)) => Some(fault.message),
        };
        Err(ProviderError::NoKey {
            provider: self.title.clone(),
            key_env: self.key_env.clone(),
            keychain,
        })
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The models that were listed last.
    pub(crate) fn known_models(&self) -> Vec<String> {
        self.memory().models.clone()
    }

    /// The client for this key; made once.
    fn client(&self, key: Option<&Key>) -> Result<reqwest::Client, ProviderError> {
        let secret = key.map(|key| key.secret.clone());
        let mut memory = self.memory();
        if let Some((made_for, client)) = &memory.client
            && *made_for == secret
        {
            return Ok(client.clone());
        }
        let client = http::client(
            &self.title,
            self.wire,
            &self.endpoint,
            secret.as_ref(),
            &self.timing,
        )?;
        memory.client = Some((secret, client.clone()));
        Ok(client)
    }

    /// Asks for the model list within `timeout_ms`.
    pub(crate) async fn list(
        &self,
        key: Option<&Key>,
        timeout_ms: u64,
    ) -> Result<Vec<String>, ProviderError> {
        let client = self.client(key)?;
        let listed = models(&client, self.wire, &self.endpoint, timeout_ms).await;
        let listed = listed.map_err(|failure| self.explain(failure, 1, key))?;
        self.memory().models.clone_from(&listed);
        Ok(listed)
    }

    /// One attempt, up to its first chunk.
    async fn open(
        &self,
        client: &reqwest::Client,
        outgoing: &Outgoing,
    ) -> Result<(Chunk, Reply), Failure> {
        let tap = Arc::new(Tap::new(self.wire));
        let stream = match self.adapter() {
            Some(adapter) => self.by_genai(adapter, client, outgoing, &tap).await?,
            None => {
                let request = client.post(self.endpoint.join(&outgoing.path));
                ollama::stream(request, outgoing, tap.clone(), self.timing).await?
            }
        };
        let asked = Asked {
            provider: self.id.clone(),
            wire: self.wire,
            model: outgoing.model.clone(),
            prices: self.prices,
        };
        let mut reply = Reply::new(asked, stream, tap);
        match reply.next().await {
            Some(Ok(first)) => Ok((first, reply)),
            Some(Err(failure)) => Err(failure),
            None => Err(Failure::Cut),
        }
    }

    /// Whom `genai` speaks for; nobody where the wire is our own.
    fn adapter(&self) -> Option<AdapterKind> {
        match self.wire {
            Wire::Anthropic => Some(AdapterKind::Anthropic),
            Wire::Openai => Some(AdapterKind::OpenAI),
            Wire::Gemini => Some(AdapterKind::Gemini),
            Wire::Ollama => None,
        }
    }

    async fn by_genai(
        &self,
        adapter: AdapterKind,
        client: &reqwest::Client,
        outgoing: &Outgoing,
        tap: &Arc<Tap>,
    ) -> Result<BoxStream<'static, Result<ChatStreamEvent, Failure>>, Failure> {
        let timing = self.timing;
        let options = outgoing.options(tap, &timing);
        // The key is in the client's headers, so `genai` never sees it; with an override it asks for none.
        let target = ServiceTarget {
            endpoint: GenaiEndpoint::from_owned(self.endpoint.as_str()),
            auth: AuthData::RequestOverride {
                url: self.endpoint.join(&outgoing.path),
                headers: Headers::default(),
            },
            model: ModelIden::new(adapter, outgoing.model.as_str()),
        };
        let wrong = move |error| Failure::from_genai(error, &timing);
        let genai = genai::Client::builder()
            .with_reqwest(client.clone())
            .build()
            .map_err(wrong)?;
        let response = genai
            .exec_chat_stream(target, outgoing.chat.clone(), Some(&options))
            .with_subscriber(Dispatch::none())
            .await
            .map_err(wrong)?;
        let events = response.stream.map(move |event| event.map_err(wrong));
        Ok(events.boxed())
    }

    /// Attempts until one works or the trouble is not of the passing kind.
    async fn insist(
        &self,
        client: &reqwest::Client,
        outgoing: &Outgoing,
    ) -> Result<(Chunk, Reply), (Failure, u32)> {
        let mut attempt = 1;
        loop {
            let failure = match self.open(client, outgoing).await {
                Ok(opened) => return Ok(opened),
                Err(failure) => failure,
            };
            let pause_ms = retry::pause_ms(
                &self.timing,
                attempt,
                failure.retry_after_ms(),
                retry::random(),
            );
            let passing = failure.is_passing() && attempt < self.timing.attempts_max;
            match pause_ms.filter(|_| passing) {
                None => return Err((failure, attempt)),
                Some(pause_ms) => {
                    tracing::debug!(provider = self.id, attempt, pause_ms, "trying again");
                    tokio::time::sleep(ms(pause_ms)).await;
                }
            }
            attempt += 1;
        }
    }

    /// The failure of a request. For a 404 the models that exist are looked up.
    async fn explain_request(
        &self,
        failure: Failure,
        attempts: u32,
        key: Option<&Key>,
        model: &str,
    ) -> ProviderError {
        if !matches!(failure, Failure::Status { status: 404, .. }) {
            return self.explain(failure, attempts, key);
        }
        let known = self.list(key, self.timing.list_ms).await;
        match self.explain(failure, attempts, key) {
            ProviderError::Refused {
                provider, message, ..
            } => ProviderError::UnknownModel {
                provider,
                model: model.to_owned(),
                known: closest_first(model, known.unwrap_or_default()),
                message,
            },
            other => other,
        }
    }

    async fn begin(self: Arc<Self>, request: ModelRequest, cancel: CancellationToken) -> Begun {
        let key = self.wanted_key().await?;
        let client = self.client(key.as_ref())?;
        let model = request.model.clone();
        let outgoing = Outgoing::new(&self.id, self.wire, request);
        match self.insist(&client, &outgoing).await {
            Ok((first, reply)) => Ok(Flow {
                provider: self.clone(),
                key,
                first: Some(first),
                reply: Some(reply),
                cancel,
            }),
            Err((failure, attempts)) => {
                tracing::debug!(provider = self.id, attempts, "request failed");
                Err(self
                    .explain_request(failure, attempts, key.as_ref(), &model)
                    .await)
            }
        }
    }
}

type Begun = Result<Flow, ProviderError>;

/// A turn on its way to the caller.
struct Flow {
    provider: Arc<WireProvider>,
    key: Option<Key>,
    first: Option<Chunk>,
    reply: Option<Reply>,
    cancel: CancellationToken,
}

impl Flow {
    async fn next(mut self) -> Option<(Result<Chunk, ProviderError>, Self)> {
        let reply = self.reply.as_mut()?;
        let chunk = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(ProviderError::Cancelled),
            chunk = async { match self.first.take() {
                Some(first) => Some(Ok(first)),
                None => reply.next().await,
            } } => match chunk? {
                Ok(chunk) => Ok(chunk),
                // What came before stands, and a broken connection is a cut.
                Err(Failure::Connection(_)) => Err(ProviderError::Cut { provider: self.provider.title.clone() }),
                Err(failure) => Err(self.provider.explain(failure, 1, self.key.as_ref())),
            },
        };
        if chunk.is_err() {
            self.reply = None;
        }
        Some((chunk, self))
    }
}

/// The provider as the trait wants it.
pub(crate) struct Wired(pub(crate) Arc<WireProvider>);

#[async_trait]
impl Provider for Wired {
    fn id(&self) -> &str {
        &self.0.id
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let begin = self.0.clone().begin(request, cancel.clone());
        let flow = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ProviderError::Cancelled),
            flow = begin => flow?,
        };
        Ok(futures::stream::unfold(flow, Flow::next).boxed())
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let key = self.0.wanted_key().await?;
        self.0.list(key.as_ref(), self.0.timing.list_ms).await
    }
}
