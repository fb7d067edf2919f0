//! What is kept of a verdict beside the log.

use protocol::EventBody;
use protocol::backtest::PersonSaid;
use protocol::grounds::{Grounds, Tried};
use serde_json::json;

use crate::story;
use crate::support::Desk;

#[test]
fn a_call_that_is_judged_again_keeps_what_the_person_said_of_it() {
    let mut desk = Desk::new();
    desk.tell(
        "ses_1",
        story::proposed("c1", "bash", json!({ "command": "make" })),
    );
    desk.tell("ses_1", story::judged("c1", "bash", "make"));
    desk.tell("ses_1", story::waits("c1"));
    desk.tell("ses_1", story::decided("c1", ""));
    let tried = Tried {
        refused: 2,
        agreed: true,
        ..Tried::default()
    };
    let mut again = story::judged("c1", "bash", "make");
    if let EventBody::CallJudged { grounds, .. } = &mut again {
        *grounds = Some(Box::new(Grounds {
            tried: Some(tried.clone()),
            ..Grounds::default()
        }));
    }
    desk.tell("ses_1", again);

    let page = desk.record.judged(None, 10).unwrap();
    assert_eq!(page.calls.len(), 1, "one call, judged twice");
    assert_eq!(page.calls[0].said, Some(PersonSaid::Allowed));
    let (grounds, _) = page.calls[0].grounds().unwrap().unwrap();
    assert_eq!(grounds.tried, Some(tried), "the last verdict counts");
}
