//! A provider behind a URL: one request from key to last chunk, with its retries.

pub(crate) mod conversation;
pub(crate) mod explanation;
pub(crate) mod frame_tap;
pub(crate) mod images;
pub(crate) mod model_list;
pub(crate) mod ollama;
pub(crate) mod opaque;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod strict_schema;

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use backon::{ExponentialBuilder, Retryable};
use futures::StreamExt;
use futures::stream::BoxStream;
use genai::adapter::AdapterKind;
use genai::chat::ChatStreamEvent;
use genai::resolver::{AuthData, Endpoint as GenaiEndpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use protocol::UserError;
use protocol::settings::WireFormat;
use tokio_util::sync::CancellationToken;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;

use crate::built_in::AddressSource;
use crate::endpoint::Endpoint;
use crate::failure::WireFailure;
use crate::keys::{ApiKey, KeyStore};
use crate::limits::{Timing, duration_from_ms};
use crate::prices::Prices;
use crate::wire::frame_tap::FrameTap;
use crate::wire::model_list::{fetch_models, sort_by_similarity};
use crate::wire::reply::{Reply, ReplyContext};
use crate::wire::request::OutgoingRequest;
use crate::{Chunk, ChunkStream, ModelRequest, Provider, ProviderError, Secret, http};

/// A provider that is reached over HTTP.
pub(crate) struct WireProvider {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) wire: WireFormat,
    pub(crate) endpoint: Endpoint,
    /// Source of the endpoint's address.
    pub(crate) from: AddressSource,
    pub(crate) key_env: Option<String>,
    /// Whether there is no point in asking without a key.
    pub(crate) needs_key: bool,
    pub(crate) prices: Prices,
    pub(crate) timing: Timing,
    pub(crate) keys: Arc<dyn KeyStore>,
    pub(crate) memory: Mutex<ProviderCache>,
}

/// State that a provider keeps from request to request.
#[derive(Default)]
pub(crate) struct ProviderCache {
    client: Option<(Option<Secret>, reqwest::Client)>,
    models: Vec<String>,
}

/// Why there is no key.
pub(crate) enum MissingKey {
    /// None is set.
    None,
    /// The environment has none, and the keychain cannot be asked.
    KeychainError(UserError),
}

impl WireProvider {
    /// Looks for the key, away from the async threads: a keychain may wait for a person.
    pub(crate) async fn load_key(&self) -> Result<ApiKey, MissingKey> {
        let (keys, id, env) = (self.keys.clone(), self.id.clone(), self.key_env.clone());
        let look = tokio::task::spawn_blocking(move || keys.get(&id, env.as_deref()));
        match tokio::time::timeout(duration_from_ms(self.timing.keychain_ms), look).await {
            Ok(Ok(Ok(Some(key)))) => Ok(key),
            Ok(Ok(Ok(None))) => Err(MissingKey::None),
            Ok(Ok(Err(fault))) => Err(MissingKey::KeychainError(fault)),
            Ok(Err(_)) | Err(_) => Err(MissingKey::KeychainError(UserError::new(
                "The system keychain did not answer.",
                "Unlock it, or use an environment variable for the key.",
            ))),
        }
    }

    /// The key, or none where none is needed.
    async fn key_if_needed(&self) -> Result<Option<ApiKey>, ProviderError> {
        let keychain = match self.load_key().await {
            Ok(key) => return Ok(Some(key)),
            Err(_) if !self.needs_key => return Ok(None),
            Err(MissingKey::None) => None,
            Err(MissingKey::KeychainError(fault)) => Some(fault.message),
        };
        Err(ProviderError::NoKey {
            provider: self.title.clone(),
            key_env: self.key_env.clone(),
            keychain,
        })
    }

    fn lock_cache(&self) -> std::sync::MutexGuard<'_, ProviderCache> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The models that were listed last.
    pub(crate) fn known_models(&self) -> Vec<String> {
        self.lock_cache().models.clone()
    }

    /// The client for this key; made once.
    fn http_client(&self, key: Option<&ApiKey>) -> Result<reqwest::Client, ProviderError> {
        let secret = key.map(|key| key.secret.clone());
        let mut memory = self.lock_cache();
        if let Some((made_for, client)) = &memory.client
            && *made_for == secret
        {
            return Ok(client.clone());
        }
        let client = http::build_client(
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
    pub(crate) async fn list_models(
        &self,
        key: Option<&ApiKey>,
        timeout_ms: u64,
    ) -> Result<Vec<String>, ProviderError> {
        let client = self.http_client(key)?;
        let listed = fetch_models(&client, self.wire, &self.endpoint, timeout_ms).await;
        let listed = listed.map_err(|failure| self.explain_failure(failure, 1, key))?;
        self.lock_cache().models.clone_from(&listed);
        Ok(listed)
    }

    /// One attempt, up to its first chunk.
    async fn open_stream(
        &self,
        client: &reqwest::Client,
        outgoing: &OutgoingRequest,
    ) -> Result<(Chunk, Reply), WireFailure> {
        let tap = Arc::new(FrameTap::new(self.wire));
        let stream = match self.genai_adapter() {
            Some(adapter) => {
                self.start_genai_stream(adapter, client, outgoing, &tap)
                    .await?
            }
            None => {
                let request = client.post(self.endpoint.join(&outgoing.path));
                ollama::start_stream(request, outgoing, tap.clone(), self.timing).await?
            }
        };
        let context = ReplyContext {
            provider: self.id.clone(),
            wire: self.wire,
            model: outgoing.model.clone(),
            prices: self.prices,
        };
        let mut reply = Reply::new(context, stream, tap);
        match reply.next().await {
            Some(Ok(first)) => Ok((first, reply)),
            Some(Err(failure)) => Err(failure),
            None => Err(WireFailure::Truncated),
        }
    }

    /// Returns the adapter of `genai` for the wire format; none where the wire is our own.
    fn genai_adapter(&self) -> Option<AdapterKind> {
        match self.wire {
            WireFormat::Anthropic => Some(AdapterKind::Anthropic),
            WireFormat::Openai => Some(AdapterKind::OpenAI),
            WireFormat::Gemini => Some(AdapterKind::Gemini),
            WireFormat::Ollama => None,
        }
    }

    async fn start_genai_stream(
        &self,
        adapter: AdapterKind,
        client: &reqwest::Client,
        outgoing: &OutgoingRequest,
        tap: &Arc<FrameTap>,
    ) -> Result<BoxStream<'static, Result<ChatStreamEvent, WireFailure>>, WireFailure> {
        let timing = self.timing;
        let options = outgoing.chat_options(tap, &timing);
        // The key is in the client's headers, so `genai` never sees it; with an override it asks for none.
        let target = ServiceTarget {
            endpoint: GenaiEndpoint::from_owned(self.endpoint.as_str()),
            auth: AuthData::RequestOverride {
                url: self.endpoint.join(&outgoing.path),
                headers: Headers::default(),
            },
            model: ModelIden::new(adapter, outgoing.model.as_str()),
        };
        let wrong = move |error| WireFailure::from_genai(error, &timing);
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

    /// Attempts until one works or the trouble is not of the passing kind. The pause that the provider asks for wins
    /// over our own; where it is longer than we grant, there is no further attempt.
    async fn open_with_retries(
        &self,
        client: &reqwest::Client,
        outgoing: &OutgoingRequest,
    ) -> Result<(Chunk, Reply), (WireFailure, u32)> {
        let pause_max = duration_from_ms(self.timing.retry_after_ms_max);
        let pauses = ExponentialBuilder::new()
            .with_min_delay(duration_from_ms(self.timing.backoff_ms))
            .with_max_delay(pause_max)
            .with_max_times(self.timing.attempts_max.saturating_sub(1) as usize)
            .with_jitter();
        let mut attempts = 1;
        let opened = (|| self.open_stream(client, outgoing))
            .retry(pauses)
            .when(WireFailure::is_transient)
            .adjust(|failure, pause| match failure.retry_after_ms() {
                Some(asked_ms) => pause
                    .map(|_| duration_from_ms(asked_ms))
                    .filter(|asked| *asked <= pause_max),
                None => pause,
            })
            .notify(|_, pause| {
                tracing::debug!(provider = self.id, attempts, ?pause, "trying again");
                attempts += 1;
            })
            .await;
        opened.map_err(|failure| (failure, attempts))
    }

    /// The failure of a request. For a 404 the models that exist are looked up.
    async fn explain_request_failure(
        &self,
        failure: WireFailure,
        attempts: u32,
        key: Option<&ApiKey>,
        model: &str,
    ) -> ProviderError {
        if !matches!(failure, WireFailure::Status { status: 404, .. }) {
            return self.explain_failure(failure, attempts, key);
        }
        let known = self.list_models(key, self.timing.list_ms).await;
        match self.explain_failure(failure, attempts, key) {
            ProviderError::Refused {
                provider, message, ..
            } => ProviderError::UnknownModel {
                provider,
                model: model.to_owned(),
                known: sort_by_similarity(model, &known.unwrap_or_default()),
                message,
            },
            other => other,
        }
    }

    async fn begin_turn(
        self: Arc<Self>,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> TurnStart {
        let key = self.key_if_needed().await?;
        let client = self.http_client(key.as_ref())?;
        let model = request.model.clone();
        let outgoing = OutgoingRequest::new(&self.id, self.wire, request);
        match self.open_with_retries(&client, &outgoing).await {
            Ok((first, reply)) => Ok(TurnStream {
                provider: self.clone(),
                key,
                first: Some(first),
                reply: Some(reply),
                cancel,
            }),
            Err((failure, attempts)) => {
                tracing::debug!(provider = self.id, attempts, "request failed");
                Err(self
                    .explain_request_failure(failure, attempts, key.as_ref(), &model)
                    .await)
            }
        }
    }
}

type TurnStart = Result<TurnStream, ProviderError>;

/// A turn on its way to the caller.
struct TurnStream {
    provider: Arc<WireProvider>,
    key: Option<ApiKey>,
    first: Option<Chunk>,
    reply: Option<Reply>,
    cancel: CancellationToken,
}

impl TurnStream {
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
                // A broken connection is a cut: the chunks before it stand.
                Err(WireFailure::Connection(_)) => Err(ProviderError::Cut { provider: self.provider.title.clone() }),
                Err(failure) => Err(self.provider.explain_failure(failure, 1, self.key.as_ref())),
            },
        };
        if chunk.is_err() {
            self.reply = None;
        }
        Some((chunk, self))
    }
}

/// The provider as the trait wants it.
pub(crate) struct WireProviderHandle(pub(crate) Arc<WireProvider>);

#[async_trait]
impl Provider for WireProviderHandle {
    fn id(&self) -> &str {
        &self.0.id
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ProviderError> {
        let begin = self.0.clone().begin_turn(request, cancel.clone());
        let flow = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ProviderError::Cancelled),
            flow = begin => flow?,
        };
        Ok(futures::stream::unfold(flow, TurnStream::next).boxed())
    }

    async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let key = self.0.key_if_needed().await?;
        self.0
            .list_models(key.as_ref(), self.0.timing.list_ms)
            .await
    }
}
