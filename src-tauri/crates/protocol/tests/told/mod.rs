//! Sessions as the engine would tell them, made up: runs, turns, and calls that live side by side in every way.

use proptest::prelude::*;
use protocol::{Event, EventBody};
use serde_json::{Value, json};

/// The session's id.
pub fn session() -> &'static str {
    "ses_1"
}

/// One way that a call can live, as the kinds of its events.
const LIVES: [&[&str]; 14] = [
    &["unknown"],
    &["allow", "start", "end"],
    &["allow", "undo", "start", "out", "out", "end"],
    &["allow", "start", "progress", "out", "fail"],
    &["allow", "start", "state", "end"],
    &["deny", "denied"],
    &["ask", "wait", "yes", "undo", "start", "end"],
    &["ask", "wait", "no", "rejected"],
    &["ask", "wait", "edit", "ask", "wait", "yes", "start", "end"],
    // The file changed at the last moment: it is shown anew.
    &[
        "allow", "start", "ask", "wait", "yes", "start", "out", "end",
    ],
    &["skipped"],
    &["allow", "hook", "start", "out", "end"],
    &["ask", "wait", "yes", "kept", "skipped"],
    &["hook", "unknown"],
];

/// One run: pieces of each turn (true for reasoning), whether it is cut off, and its calls' lives.
type Turn = (Vec<bool>, bool, Vec<usize>);

/// A session from its opening to the end of its last run.
pub fn stream() -> impl Strategy<Value = Vec<Event>> {
    let turn = (
        prop::collection::vec(any::<bool>(), 0..4),
        prop::bool::weighted(0.1),
        prop::collection::vec(0..LIVES.len(), 0..4),
    );
    let run = (prop::collection::vec(turn, 1..4), 0..3_usize, any::<bool>());
    let runs = prop::collection::vec(run, 1..3);
    (runs, prop::collection::vec(any::<u8>(), 16)).prop_map(|(runs, order)| {
        let mut teller = Teller::default();
        teller.say(json!({"type":"session_opened","title":"t","workspace":"/w","model":{"provider":"p","model":"m"}}));
        for (turns, state, said_first) in &runs {
            teller.run(turns, *state, *said_first, &order);
        }
        teller.events
    })
}

#[derive(Default)]
struct Teller {
    events: Vec<Event>,
    ids: usize,
    turns: u32,
}

impl Teller {
    fn say(&mut self, body: Value) {
        let seq = self.events.len() as u64 + 1;
        let body: EventBody = serde_json::from_value(body).unwrap();
        self.events.push(Event {
            seq,
            session: session().into(),
            at: 1_767_225_600_000 + seq as i64,
            body,
        });
    }

    fn id(&mut self, of: &str) -> String {
        self.ids += 1;
        format!("{of}_{}", self.ids)
    }

    fn run(&mut self, turns: &[Turn], state: usize, said_first: bool, order: &[u8]) {
        let said =
            json!({"type":"person_said","message":self.id("msg"),"text":"Go.","steering":false});
        let running = json!({"type":"session_changed","state":"running"});
        let (first, second) = if said_first {
            (said, running)
        } else {
            (running, said)
        };
        self.say(first);
        self.say(second);
        for (pieces, cut_off, calls) in turns {
            self.turn(pieces, *cut_off, calls, order);
        }
        let state = ["done", "failed", "interrupted"][state];
        if state == "interrupted" {
            self.say(json!({"type":"limit_reached","limit":"turns","used":3.0,"max":3.0}));
        }
        self.say(json!({"type":"session_changed","state":state}));
    }

    fn turn(&mut self, pieces: &[bool], cut_off: bool, calls: &[usize], order: &[u8]) {
        self.turns += 1;
        let (turn, message) = (self.turns, self.id("msg"));
        self.say(json!({"type":"turn_started","turn":turn,"message":message}));
        for reasoning in pieces {
            self.say(
                json!({"type":"agent_said","message":message,"text":"piece","reasoning":reasoning}),
            );
        }
        let error = cut_off.then(|| json!({"message":"Cut off.","hint":"Go on."}));
        self.say(json!({"type":"turn_ended","turn":turn,"message":message,"duration_ms":1,"error":error,"opaque":null,
            "usage":{"input_tokens":1,"cached_tokens":0,"output_tokens":1,"cost_usd":null}}));
        let mut open: Vec<(String, &[&str])> = Vec::new();
        for life in calls {
            let call = self.id("call");
            self.say(
                json!({"type":"call_proposed","message":message,"reasoning":null,
                "call":{"id":call,"name":"read","arguments":{"path":"a"}}}),
            );
            open.push((call, LIVES[*life]));
        }
        let mut next = order.iter().cycle();
        while !open.is_empty() {
            let place = usize::from(*next.next().unwrap()) % open.len();
            let (call, steps) = &mut open[place];
            let (step, rest) = steps.split_first().unwrap();
            *steps = rest;
            let (call, over) = (call.clone(), rest.is_empty());
            self.step(&call, step);
            if over {
                open.remove(place);
            }
        }
    }

    fn step(&mut self, call: &str, step: &str) {
        let judged = |verdict: &str| {
            json!({"type":"call_judged","call":call,"tool":"read","title":"Read","target":"a","mode":"read","kind":"read",
                "preview":{"type":"nothing"},"undo":{"type":"not_needed"},
                "trail":{"verdict":verdict,"lead":"Because.","otherwise":"","steps":[
                    {"gate":"watchdog","verdict":verdict,"text":"Looked."}]}})
        };
        let decided = |decision: Value| json!({"type":"call_decided","call":call,"digest":"d","decision":decision});
        let ended = |state: &str| {
            json!({"type":"call_ended","call":call,"outcome":{"state":state,"text":"out","message":"m","duration_ms":1,
                "needs_followup":true,"terminal":false,"digest":"d"}})
        };
        let body = match step {
            "allow" | "ask" | "deny" => judged(step),
            "wait" => {
                json!({"type":"call_waiting","call":call,"digest":"d","grants":[],"refreshed":null,"expires_at":null})
            }
            "yes" => decided(json!({"type":"allow","hunks":null,"note":""})),
            "no" => decided(json!({"type":"reject","note":"no","stop":false})),
            "edit" => {
                self.say(decided(json!({"type":"edit","arguments":{"path":"b"}})));
                json!({"type":"call_edited","call":call,"arguments":{"path":"b"}})
            }
            "undo" => {
                json!({"type":"undo_prepared","call":call,"entry":{"id":"und_1","session":session(),"call":call,"at":1,
                "workspace":"/w","title":"t","paths":1,"bytes":1,"shown":[],"state":"prepared"}})
            }
            "hook" => json!({"type":"hook_answered","call":call,"hook":"the log","refused":null}),
            "kept" => json!({"type":"hook_answered","call":call,"hook":"the log","refused":"no"}),
            "start" => json!({"type":"call_started","call":call}),
            "progress" => {
                json!({"type":"call_progress","call":call,"tool":"read","text":"half"})
            }
            "out" => json!({"type":"call_output","call":call,"text":"piece"}),
            "state" => json!({"type":"state_written","call":call,"path":"report","value":{"a":1}}),
            "end" => ended("done"),
            "fail" | "unknown" => ended("failed"),
            state => ended(state),
        };
        self.say(body);
    }
}
