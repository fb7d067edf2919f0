//! A relay before the made-up model: names of tools that nobody knows before an agent starts are put into the model's answers.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What stands in a name in the place of what is not known.
const UNKNOWN: char = 'N';

/// A running relay; it ends with the test.
pub struct NamedTools {
    base_url: String,
}

impl NamedTools {
    /// Starts a relay before a model. `prefix` is the beginning of the names, with `N`s for what is not known: what an agent
    /// says it has in their place is put into the answers.
    pub fn start(model: &str, prefix: &'static str) -> Self {
        let (_, host) = model.split_once("://").unwrap();
        let host = host.to_owned();
        let listener = TcpListener::bind("localhost:0").unwrap();
        let base_url = format!("http://localhost:{}", listener.local_addr().unwrap().port());
        let known = Arc::new(Mutex::new(None));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (model, known) = (TcpStream::connect(&host).unwrap(), known.clone());
                std::thread::spawn(move || relay(client.unwrap(), model, prefix, &known));
            }
        });
        Self { base_url }
    }

    /// Returns the address, without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

fn relay(
    client: TcpStream,
    model: TcpStream,
    prefix: &'static str,
    known: &Arc<Mutex<Option<String>>>,
) {
    let (mut asks, mut told) = (client.try_clone().unwrap(), model.try_clone().unwrap());
    let learnt = known.clone();
    std::thread::spawn(move || {
        let (mut text, mut piece) = (String::new(), [0; 64 * 1024]);
        while let Ok(read @ 1..) = asks.read(&mut piece) {
            text.push_str(&String::from_utf8_lossy(&piece[..read]));
            if let Some(name) = find_name(&text, prefix) {
                *learnt.lock().unwrap() = Some(name);
            }
            if told.write_all(&piece[..read]).is_err() {
                break;
            }
        }
        // The other side may have ended before.
        let _ = told.shutdown(Shutdown::Write);
    });
    let (mut answers, mut client) = (BufReader::new(model), client);
    let mut line = Vec::new();
    // An event of an answer is a line.
    while let Ok(1..) = answers.read_until(b'\n', &mut line) {
        let name = known.lock().unwrap().clone();
        let text = String::from_utf8(std::mem::take(&mut line)).unwrap();
        let named = name.map_or(text.clone(), |name| text.replace(prefix, &name));
        if client.write_all(named.as_bytes()).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

/// Finds a name that is the prefix but for what is not known.
fn find_name(text: &str, prefix: &str) -> Option<String> {
    let (start, rest) = prefix.split_once(UNKNOWN)?;
    let end = rest.trim_start_matches(UNKNOWN);
    let mut places = text.match_indices(start).map(|(at, _)| at);
    places.find_map(|at| {
        let name = text.get(at..at + prefix.len())?;
        let unknown = &name[start.len()..name.len() - end.len()];
        let is_name = unknown.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (is_name && name.ends_with(end) && !name.contains(prefix)).then(|| name.to_owned())
    })
}
