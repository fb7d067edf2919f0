//! A notification server on the bus of a rig, as a desktop has one: it keeps what the app shows, and a test chooses there.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::timeout;
use zbus::blocking::{Connection, MessageIterator, connection};
use zbus::message::{Message, Type};
use zbus::zvariant::OwnedValue;

use super::{Rig, WAIT};

const SERVER: &str = "org.freedesktop.Notifications";
const OBJECT: &str = "/org/freedesktop/Notifications";

/// The body of a request to show a notification: the app's name, what is replaced, icon, title, text, actions, hints, and
/// for how long.
type NotifyBody = (
    String,
    u32,
    String,
    String,
    String,
    Vec<String>,
    HashMap<String, OwnedValue>,
    i32,
);

/// What an app asked of the server.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// To show a notification.
    Show(Notification),
    /// To close the notification with that id.
    Close(u32),
}

/// A notification that is shown.
#[derive(Debug, PartialEq, Eq)]
pub struct Notification {
    pub id: u32,
    pub title: String,
    pub text: String,
    /// Ids of what can be chosen, each with its label.
    pub actions: Vec<(String, String)>,
}

/// The server.
pub struct NotificationServer {
    bus: Connection,
    requests: UnboundedReceiver<Request>,
}

impl NotificationServer {
    /// Starts the server on the bus of a rig.
    pub fn start(rig: &Rig) -> Self {
        let bus = connection::Builder::address(rig.bus_address())
            .and_then(|bus| bus.name(SERVER))
            .and_then(connection::Builder::build)
            .unwrap();
        let (sender, requests) = mpsc::unbounded_channel();
        let serving = bus.clone();
        std::thread::spawn(move || serve(&serving, &sender));
        Self { bus, requests }
    }

    /// Waits for the next request.
    pub async fn next(&mut self) -> Request {
        let next = timeout(WAIT, self.requests.recv()).await;
        let next = next.expect("the app asks something of the notification server");
        next.expect("the notification server runs")
    }

    /// Returns whether nothing is asked within a while.
    pub async fn is_quiet(&mut self, within: Duration) -> bool {
        timeout(within, self.requests.recv()).await.is_err()
    }

    /// Chooses an action of a notification, as a person does.
    pub fn choose(&self, id: u32, action: &str) {
        let chosen = (id, action);
        self.bus
            .emit_signal(None::<&str>, OBJECT, SERVER, "ActionInvoked", &chosen)
            .unwrap();
    }
}

/// Answers requests until the bus is gone.
fn serve(bus: &Connection, sender: &UnboundedSender<Request>) {
    let mut shown = 0;
    for message in MessageIterator::from(bus).map_while(Result::ok) {
        if message.message_type() != Type::MethodCall {
            continue;
        }
        let header = message.header();
        let answered = match header.member().map(|member| member.as_str()) {
            Some("Notify") => {
                shown += 1;
                let notification = read_notification(&message, shown);
                let answered = bus.reply(&header, &shown);
                // A test that is over asks no more.
                let _ = sender.send(Request::Show(notification));
                answered
            }
            Some("CloseNotification") => {
                let id: u32 = message.body().deserialize().unwrap();
                let _ = sender.send(Request::Close(id));
                bus.reply(&header, &()).and_then(|()| tell_closed(bus, id))
            }
            Some("GetCapabilities") => bus.reply(&header, &vec!["actions", "body"]),
            _ => bus.reply_error(&header, "org.freedesktop.DBus.Error.UnknownMethod", &()),
        };
        if answered.is_err() {
            return;
        }
    }
}

/// Tells who listens that a notification was closed at the wish of its app.
fn tell_closed(bus: &Connection, id: u32) -> zbus::Result<()> {
    const BY_REQUEST: u32 = 3;
    let closed = (id, BY_REQUEST);
    bus.emit_signal(None::<&str>, OBJECT, SERVER, "NotificationClosed", &closed)
}

fn read_notification(message: &Message, id: u32) -> Notification {
    let body: NotifyBody = message.body().deserialize().unwrap();
    let (_, _, _, title, text, actions, _, _) = body;
    let actions = actions
        .chunks_exact(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect();
    Notification {
        id,
        title,
        text,
        actions,
    }
}
