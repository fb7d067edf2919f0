//! A program outside that makes a session's calls: each walks the one page, with no model turn in between.
//!
//! The session is opened like any other and says who asks. While calls of it are open a run is there, which reads rules and
//! tools anew when it begins; calls that are proven safe beside others run side by side, any other one alone, in the order in
//! which they came (M08). A call that was answered is on disk.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::depth::is_too_deep;
use protocol::event::{Asked, Client, Notice};
use protocol::model::REASONING;
use protocol::shown::in_a_sentence;
use protocol::{
    CallId, CallState, EntryBody, Event, EventBody, Fault, MessageId, ModelChoice, NoticeLevel,
    Outcome, SessionId, SessionState, Strategy, ToolCall, Trail,
};
use runtime::{Lock, Workspace};
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tools::Offer;

use crate::conversation::{Conversation, OpenCall};
use crate::desk::{Desk, Shared};
use crate::limits::{CALLS_OPEN_MAX, CLIENT_CHARS_MAX, NAME_CHARS_MAX, TOGETHER_MAX};
use crate::session::Session;
use crate::stages::{finish, found};
use crate::toolbox::Toolbox;
use crate::{one_call, rules, turn};

/// The provider of such a session: nobody, so no model can be asked in it.
pub(crate) const PROVIDER: &str = "client";

/// The provider of a session whose one call a person makes by hand, at a command line.
pub const BY_HAND: &str = "by_hand";

/// Takes what is told of a running call: words on its progress, the end of what it printed.
pub type Heard = mpsc::Sender<String>;

/// What came of a call.
#[derive(Debug, Clone)]
pub struct Answered {
    /// How it ended.
    pub outcome: Outcome,
    /// What the gates said, if it was denied by one.
    pub trail: Option<Arc<Trail>>,
}

/// A program outside, with the session of its calls. When it is dropped its calls end.
pub struct Caller {
    session: Arc<Session>,
    /// As long as the program may call.
    _held: Arc<Lock>,
    /// Room for calls that run at the same time; one that is not safe beside others takes all of it.
    room: Semaphore,
    room_max: u32,
    /// How many calls are open.
    open: Mutex<usize>,
    at_work: TaskTracker,
}

impl Desk {
    /// What a program outside would be offered in a folder.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn offers(&self, workspace: &Path) -> Result<Vec<Offer>, Fault> {
        let asked = Asked {
            client: Some(Client {
                name: String::new(),
                version: String::new(),
                by: String::new(),
            }),
            ..Asked::default()
        };
        Ok(Toolbox::of_asked(&self.shared, workspace, &asked)?.offers())
    }

    /// Reads the rules of a folder, so that what is wrong with them stands among the faults before a session is opened there.
    ///
    /// # Errors
    /// A folder that cannot be opened.
    pub fn read_rules(&self, workspace: &Path) -> Result<(), Fault> {
        let config = &self.shared.config;
        let workspace = Workspace::open(workspace)?;
        let loaded = rules::load(
            &config.data_dir,
            Some(&workspace),
            &[],
            config.rules.as_deref(),
        );
        let faults = loaded.faults.into_iter().chain(loaded.untrusted);
        self.shared
            .set_rule_faults(workspace.root(), faults.collect());
        Ok(())
    }

    /// Opens a session in a folder for the calls of a program outside.
    ///
    /// # Errors
    /// A folder that cannot be opened, and a record that cannot be written.
    pub async fn caller(&self, workspace: &Path, client: Client) -> Result<Arc<Caller>, Fault> {
        let cleaned = |text: &str| in_a_sentence(text.trim(), CLIENT_CHARS_MAX);
        let name = match cleaned(&client.name) {
            name if name.is_empty() => "a client without a name".to_owned(),
            name => name,
        };
        let client = Client {
            name,
            version: cleaned(&client.version),
            by: client.by,
        };
        let session = open(&self.shared, workspace, client).await?;
        let held = session.held.here(&session.hands.folder)?;
        let room_max = match session.strategy {
            Strategy::Sequential => 1,
            Strategy::Parallel => TOGETHER_MAX,
            Strategy::Batched { size } => TOGETHER_MAX.min(size.get() as usize),
        };
        Ok(Arc::new(Caller {
            session,
            _held: held,
            room: Semaphore::new(room_max),
            room_max: u32::try_from(room_max).unwrap_or(1),
            open: Mutex::new(0),
            at_work: TaskTracker::new(),
        }))
    }
}

/// Opens the session and says in it who asks.
async fn open(
    shared: &Arc<Shared>,
    workspace: &Path,
    client: Client,
) -> Result<Arc<Session>, Fault> {
    let told = client.told();
    let by = client.by.clone();
    let asked = Asked {
        client: Some(client),
        ..Asked::default()
    };
    let model = ModelChoice {
        provider: PROVIDER.to_owned(),
        model: told.clone(),
    };
    let id = SessionId(shared.config.ids.next("ses"));
    let conversation = Conversation::beginning(asked.clone(), None);
    let session = shared.admit(id, workspace, model.clone(), conversation)?;
    let opened = EventBody::SessionOpened {
        title: format!("Calls of {told}"),
        workspace: session.hands.workspace.root().display().to_string(),
        model,
        parent: None,
        asked: Some(Box::new(asked)),
    };
    session.journal.tell(opened);
    let fault = Fault::new(
        format!("{told} makes the calls of this session itself, by {by}. No model of ours asks."),
        "Its name is what it says of itself.",
    );
    let level = NoticeLevel::Note;
    let notice = Notice { level, fault };
    session.journal.keep(EventBody::Noted { notice }).await?;
    Ok(session)
}

/// What a person is told who wants an answer of a model where none is.
pub(crate) fn no_model() -> Fault {
    Fault::new(
        "A program outside makes the calls of this session, and no model answers in it.",
        "Begin a session of your own in the same folder.",
    )
}

impl Caller {
    /// The session that its calls are recorded in.
    pub fn session(&self) -> &SessionId {
        &self.session.id
    }

    /// Makes a call and gives what came of it, once that is on disk. `cancel` ends this call alone; so does dropping this.
    ///
    /// # Errors
    /// The record cannot be written, too many calls are open, or all of this was closed.
    pub async fn call(
        self: &Arc<Self>,
        name: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
        heard: Option<Heard>,
    ) -> Result<Answered, Fault> {
        self.enter()?;
        let entered = Entered(self.clone());
        let shared = &self.session.shared;
        let mut events = match &heard {
            Some(_) => Some(shared.listen(shared.record.last_seq()?)),
            None => None,
        };
        let stop = self.session.stop_token().child_token();
        let _stops = stop.clone().drop_guard();
        let open = self.proposed(name, arguments);
        let id = open.call.id.clone();
        let mut ended = self.at_work.spawn(one(entered, open, stop.clone()));
        loop {
            let next = async {
                match &mut events {
                    Some(events) => events.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                outcome = &mut ended => {
                    let outcome = outcome.map_err(|_| broke_off())??;
                    self.session.journal.settle().await?;
                    return self.answered(&id, outcome);
                }
                () = cancel.cancelled(), if !stop.is_cancelled() => stop.cancel(),
                batch = next => match batch {
                    Ok(Some(batch)) => batch.iter().filter_map(|event| told(event, &self.session.id, &id)).for_each(|word| {
                        // Whoever does not keep up misses a word; the result has everything.
                        let _ = heard.as_ref().map(|heard| heard.try_send(word));
                    }),
                    Ok(None) | Err(_) => events = None,
                },
            }
        }
    }

    /// What came of a call, with the gates of one that was denied.
    fn answered(&self, call: &CallId, outcome: Outcome) -> Result<Answered, Fault> {
        let mut trail = None;
        if outcome.state == CallState::Denied {
            let record = &self.session.shared.record;
            let entry = record.entry(&self.session.id, call.as_str())?;
            trail = match entry.map(|entry| entry.body) {
                Some(EntryBody::Call(view)) => view.trail,
                _ => None,
            };
        }
        Ok(Answered { outcome, trail })
    }

    /// Ends the calls that are open.
    pub fn stop(&self) {
        self.session.stop();
    }

    /// Ends the calls that are open, and waits until everything is on disk. No further one begins.
    ///
    /// # Errors
    /// The record cannot be written.
    pub async fn close(&self) -> Result<(), Fault> {
        {
            let _nobody_enters = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            self.at_work.close();
            self.stop();
        }
        self.at_work.wait().await;
        self.session.journal.settle().await
    }

    /// One more call is open; with the first one a run begins.
    fn enter(&self) -> Result<(), Fault> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if self.at_work.is_closed() {
            return Err(Fault::new("The connection was closed.", "Connect again."));
        }
        if *open >= CALLS_OPEN_MAX {
            return Err(Fault::new(
                format!("{CALLS_OPEN_MAX} calls are open already."),
                "Wait until some of them are over.",
            ));
        }
        if *open == 0 {
            self.session.begin_run();
            self.session.reload_rules();
            self.session.reload_tools();
            self.session.becomes(SessionState::Running);
        }
        *open += 1;
        Ok(())
    }

    /// Records what is asked for.
    fn proposed(&self, name: &str, mut arguments: Map<String, Value>) -> OpenCall {
        let ids = &self.session.shared.config.ids;
        // No tool has so long a name; of what is none the beginning says enough.
        let name = match name.char_indices().nth(NAME_CHARS_MAX) {
            Some((cut, _)) => format!("{}…", &name[..cut]),
            None => name.to_owned(),
        };
        if is_too_deep(&arguments) {
            let written = Value::Object(arguments).to_string();
            arguments = Map::from_iter([("nested_too_deeply".to_owned(), written.into())]);
        }
        let reasoning = arguments.get(REASONING).and_then(Value::as_str);
        let reasoning = reasoning.map(str::to_owned);
        let call = ToolCall {
            id: CallId(ids.next("call")),
            name,
            arguments,
        };
        self.session.journal.tell(EventBody::CallProposed {
            call: call.clone(),
            message: MessageId(ids.next("msg")),
            reasoning,
        });
        OpenCall {
            call,
            edited: None,
            waiting: false,
            started: false,
        }
    }
}

/// A call that is open; with the last one the run ends.
struct Entered(Arc<Caller>);

impl Drop for Entered {
    fn drop(&mut self) {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open = open.saturating_sub(1);
        if *open == 0 {
            let session = &self.0.session;
            let state = match session.stop_token().is_cancelled() {
                true => SessionState::Interrupted,
                false => SessionState::Done,
            };
            session.end_run(state);
        }
    }
}

/// Waits for its room and walks the page.
async fn one(entered: Entered, open: OpenCall, stop: CancellationToken) -> Result<Outcome, Fault> {
    let (caller, session) = (&entered.0, &entered.0.session);
    let wanted = match found::is_safe_beside_others(session, &open) {
        true => 1,
        false => caller.room_max,
    };
    let room = tokio::select! {
        biased;
        () = stop.cancelled() => None,
        room = caller.room.acquire_many(wanted) => room.ok(),
    };
    let id = &open.call.id;
    let outcome = match room {
        Some(_room) => {
            session.stops.put(id.clone(), stop);
            let outcome = one_call::run(session, &open).await;
            session.stops.take(id);
            outcome?
        }
        None => {
            let text = "Cancelled by whoever asked for it, before it began.".to_owned();
            let outcome = finish::ended(CallState::Skipped, text.clone(), text);
            turn::end_call(session, id, outcome.clone());
            outcome
        }
    };
    Ok(outcome)
}

/// What is told of a running call to whoever asked for it.
fn told(event: &Event, session: &SessionId, of: &CallId) -> Option<String> {
    let last_line = |text: &str| {
        let mut lines = text.lines().rev().map(str::trim);
        let line = lines.find(|line| !line.is_empty())?;
        Some(in_a_sentence(line, CLIENT_CHARS_MAX))
    };
    match &event.body {
        EventBody::CallProgress { call, message, .. }
            if event.session == *session && call == of =>
        {
            last_line(message)
        }
        EventBody::CallOutput { call, text } if event.session == *session && call == of => {
            last_line(text)
        }
        EventBody::CallUpdate { call, partial } if event.session == *session && call == of => {
            last_line(&partial.in_words())
        }
        _ => None,
    }
}

fn broke_off() -> Fault {
    Fault::new(
        "The call broke off by a fault of ours.",
        "Look at the session for what it did.",
    )
}
