//! The language servers of a desk: one for each folder and language, started when it is first needed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use protocol::ToolError;
use protocol::languages::LanguageServer;
use protocol::shown::in_a_sentence;
use runtime::{Inherited, Workspace};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::languages::{Answered, Document, Languages, Question};

use crate::known::{known, options};
use crate::limits::{ID_BYTES_MAX, REASON_CHARS_MAX, SERVERS_MAX, STEADY_AFTER};
use crate::link::{Link, Patience, UNUSED};
use crate::wire::Failure;
use crate::{question, settings};

/// What is said where nobody knows a language.
const NOBODY: &str = "No language server is switched on, so nothing was asked. The person can switch one on in the settings under \
    Language servers. Until then use grep and read.";
/// Why nothing goes to a server any more.
const LET_GO: &str = "it was switched off";

/// All of them. When it goes, they go.
pub struct LanguageServers {
    inherited: Inherited,
    patience: Patience,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Those that are on.
    on: Vec<LanguageServer>,
    at_work: HashMap<(PathBuf, String), Arc<AtWork>>,
}

/// One server for one folder.
struct AtWork {
    settings: LanguageServer,
    root: PathBuf,
    inherited: Inherited,
    patience: Patience,
    /// Held while it is started.
    tried: tokio::sync::Mutex<Tried>,
    link: Mutex<Option<Arc<Link>>>,
    stop: CancellationToken,
}

/// How it went so far.
#[derive(Default)]
struct Tried {
    failed: usize,
    /// Why it is not there, and when it may be started again.
    lost: Option<(String, Instant)>,
}

impl LanguageServers {
    /// Nobody yet. What is started inherits these variables.
    pub fn new(inherited: Inherited, patience: Patience) -> Self {
        Self {
            inherited,
            patience,
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // A panic while the lock was held leaves plain data behind; going on with it is safe.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts these settings in force: those that are off any more, or are set up otherwise, are ended. One that cannot be used
    /// is off.
    pub fn set(&self, servers: &[LanguageServer]) {
        let on = servers.iter().take(SERVERS_MAX).filter(|one| one.enabled);
        let usable = on.filter(|one| settings::wrong(std::slice::from_ref(*one)).is_empty());
        let mut known = self.known();
        known.on = usable.cloned().collect();
        let on = known.on.clone();
        known.at_work.retain(|_, one| {
            let stays = on.contains(&one.settings);
            if !stays {
                one.let_go();
            }
            stays
        });
    }

    /// Ends all of them.
    pub fn close(&self) {
        let mut known = self.known();
        known.on.clear();
        for (_, one) in known.at_work.drain() {
            one.let_go();
        }
    }

    /// The server that knows a file of a folder, and the id of the file's language.
    fn of_file(&self, root: &Path, file: &str) -> Result<(Arc<AtWork>, String), ToolError> {
        let name = file.rsplit('/').next().unwrap_or(file).to_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let mut known = self.known();
        let found = known.on.iter().find_map(|one| {
            let language = one.files.get(ending)?;
            Some((one.clone(), language.clone()))
        });
        let Some((settings, language)) = found else {
            return Err(ToolError::Failed(nobody_for(file, &known.on)));
        };
        let key = (root.to_owned(), settings.id.clone());
        let (inherited, patience) = (self.inherited.clone(), self.patience.clone());
        let one = known.at_work.entry(key).or_insert_with(|| {
            Arc::new(AtWork {
                settings,
                root: root.to_owned(),
                inherited,
                patience,
                tried: tokio::sync::Mutex::default(),
                link: Mutex::default(),
                stop: CancellationToken::new(),
            })
        });
        Ok((one.clone(), language))
    }
}

fn nobody_for(file: &str, on: &[LanguageServer]) -> String {
    if on.is_empty() {
        return NOBODY.to_owned();
    }
    let told = |one: &LanguageServer| {
        let endings: Vec<&str> = one.files.keys().map(String::as_str).collect();
        format!("{} ({})", one.id, endings.join(", "))
    };
    let told: Vec<String> = on.iter().map(told).collect();
    format!(
        "No language server that is switched on knows `{}`; on are {}. The person can switch another one on in the settings \
         under Language servers. Until then use grep and read.",
        in_a_sentence(file, 200),
        told.join(", ")
    )
}

impl Drop for LanguageServers {
    fn drop(&mut self) {
        self.close();
    }
}

#[async_trait]
impl Languages for LanguageServers {
    fn missing(&self) -> Option<String> {
        self.known().on.is_empty().then(|| NOBODY.to_owned())
    }

    async fn ask(
        &self,
        workspace: &Workspace,
        document: &Document,
        question: &Question,
        cancel: &CancellationToken,
    ) -> Result<Answered, ToolError> {
        let mut again = true;
        loop {
            let (one, language) = self.of_file(workspace.root(), &document.path)?;
            let title = one.title();
            let link = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ToolError::Cancelled),
                link = one.link() => link.map_err(|why| unavailable(&title, &why))?,
            };
            let about = (document, language.as_str());
            match question::ask(&link, workspace, about, question, cancel).await {
                Ok((known, loading)) => {
                    return Ok(Answered {
                        known,
                        encoding: link.encoding,
                        server: title,
                        loading,
                    });
                }
                // It was ended because nobody asked it, just as somebody did.
                Err(Failure::Gone) if again && link.wire.why().as_deref() == Some(UNUSED) => {
                    again = false;
                }
                Err(failure) => return Err(failed(&title, failure, &link).await),
            }
        }
    }
}

fn unavailable(title: &str, why: &str) -> ToolError {
    ToolError::Failed(format!(
        "The language server {title} is not available: {}. Use grep and read meanwhile.",
        in_a_sentence(why.trim_end_matches('.'), 2 * REASON_CHARS_MAX)
    ))
}

/// A failure as the model reads it.
async fn failed(title: &str, failure: Failure, link: &Link) -> ToolError {
    match failure {
        Failure::Cancelled => ToolError::Cancelled,
        Failure::TimedOut(limit) => ToolError::TimedOut(format!(
            "The language server {title} gave no answer within {} s. It may still be loading: ask again later, or use grep and \
             read.",
            limit.as_secs_f64()
        )),
        Failure::Gone => unavailable(title, &link.why_gone().await),
        Failure::Refused { message, .. } => ToolError::Failed(format!(
            "The language server {title} says: {}",
            in_a_sentence(&message, REASON_CHARS_MAX)
        )),
        Failure::Strange(why) => ToolError::Failed(format!(
            "The language server {title} could not help: {}. Use grep and read.",
            in_a_sentence(&why, 2 * REASON_CHARS_MAX)
        )),
    }
}

impl AtWork {
    /// What people call it.
    fn title(&self) -> String {
        let id = &self.settings.id;
        known(id).map_or_else(
            || in_a_sentence(id, ID_BYTES_MAX).to_string(),
            |known| known.title.to_owned(),
        )
    }

    fn held(&self) -> MutexGuard<'_, Option<Arc<Link>>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn let_go(&self) {
        self.stop.cancel();
        if let Some(link) = self.held().take() {
            link.close(LET_GO);
        }
    }

    /// The connection: there, or made now by whoever asks first. The making goes on if they give up.
    async fn link(self: Arc<Self>) -> Result<Arc<Link>, String> {
        let making = tokio::spawn(async move { self.made().await });
        let broken = |_| Err("starting it broke off".to_owned());
        making.await.unwrap_or_else(broken)
    }

    async fn made(&self) -> Result<Arc<Link>, String> {
        let mut tried = self.tried.lock().await;
        let held = self.held().clone();
        if let Some(link) = held {
            if !link.is_gone() {
                return Ok(link);
            }
            self.held().take();
            self.heed(&mut tried, &link).await;
        }
        if let Some((why, until)) = &tried.lost {
            let rest = until.saturating_duration_since(Instant::now());
            if !rest.is_zero() {
                let rest = rest.as_secs() + 1;
                return Err(format!("{why}. It may be started again in {rest} s"));
            }
        }
        let Some(program) = settings::program(&self.settings) else {
            let command = in_a_sentence(&self.settings.command, REASON_CHARS_MAX);
            return Err(format!("its program `{command}` is not installed"));
        };
        let how = (program.as_path(), self.settings.args.as_slice());
        let options = options(&self.settings.id);
        let (root, inherited) = (&self.root, &self.inherited);
        let opened = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(LET_GO.to_owned()),
            opened = Link::open(how, options.as_ref(), root, inherited, &self.patience) => opened,
        };
        match opened {
            Ok(link) => {
                tried.lost = None;
                *self.held() = Some(link.clone());
                // It may have been switched off in the meantime.
                if self.stop.is_cancelled() {
                    self.let_go();
                    return Err(LET_GO.to_owned());
                }
                Ok(link)
            }
            Err(why) => {
                self.lose(&mut tried, why.clone());
                Err(why)
            }
        }
    }

    /// Learns from how a connection ended.
    async fn heed(&self, tried: &mut Tried, link: &Link) {
        let why = link.why_gone().await;
        if link.since.elapsed() >= STEADY_AFTER {
            tried.failed = 0;
        }
        if why != UNUSED {
            self.lose(tried, why);
        }
    }

    /// The next start waits, longer each time.
    fn lose(&self, tried: &mut Tried, why: String) {
        let pauses = &self.patience.retry_after;
        let pause = pauses.get(tried.failed).or(pauses.last()).copied();
        tried.failed = tried.failed.saturating_add(1);
        tried.lost = pause.map(|pause| (why, Instant::now() + pause));
    }
}
