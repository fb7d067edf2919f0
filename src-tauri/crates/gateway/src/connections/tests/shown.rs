//! A change in two steps, as the window makes it: it is shown, and only what was shown is made.

use protocol::connection::ConnectionPlan;

use super::*;

const ID: &str = "claude-code";
const BEFORE: &str = "{\n  \"model\": \"opus\"\n}\n";

fn show(home: &Home, action: ConnectionAction) -> ConnectionPlan {
    let planned = plan_change(ID, action, &home.place()).unwrap();
    planned.expect("there is something to change")
}

#[test]
fn what_was_shown_is_made_and_taken_back() {
    let home = Home::new();
    home.write(agent(ID), BEFORE);
    let plan = show(&home, ConnectionAction::Connect);
    assert_eq!(home.read(agent(ID)).as_deref(), Some(BEFORE));
    let config = home.place().config_file(agent(ID));
    assert_eq!(Path::new(&plan.diff.path), config);
    // The line before the hooks gets a comma.
    assert_eq!((plan.diff.exists, plan.diff.removed), (true, 1));
    let copy = plan.copy.expect("what was there is kept");
    make_shown_change(ID, ConnectionAction::Connect, &plan.digest, &home.place()).unwrap();
    assert_eq!(home.state(agent(ID)), ConnectionState::Connected);
    assert_eq!(read_file(Path::new(&copy)).as_deref(), Some(BEFORE));

    let plan = show(&home, ConnectionAction::Disconnect);
    assert_eq!((plan.diff.added, plan.copy.as_ref()), (1, None));
    make_shown_change(
        ID,
        ConnectionAction::Disconnect,
        &plan.digest,
        &home.place(),
    )
    .unwrap();
    assert_eq!(home.read(agent(ID)).as_deref(), Some(BEFORE));
}

#[test]
fn a_file_that_comes_and_goes_is_shown_as_such() {
    let home = Home::new();
    let plan = show(&home, ConnectionAction::Connect);
    assert_eq!((plan.diff.exists, plan.diff.gone), (false, false));
    make_shown_change(ID, ConnectionAction::Connect, &plan.digest, &home.place()).unwrap();
    let plan = show(&home, ConnectionAction::Disconnect);
    assert_eq!((plan.diff.exists, plan.diff.gone), (true, true));
}

#[test]
fn another_change_than_the_shown_one_is_not_made() {
    let home = Home::new();
    home.write(agent(ID), BEFORE);
    let shown = show(&home, ConnectionAction::Connect).digest;
    let make = |action| make_shown_change(ID, action, &shown, &home.place());
    let other = BEFORE.replace("opus", "sonnet");
    home.write(agent(ID), &other);
    let error = make(ConnectionAction::Connect).unwrap_err();
    let config = home.place().config_file(agent(ID));
    let names_file = error.message.starts_with(&config.display().to_string());
    assert!(
        names_file && error.message.contains("changed since"),
        "{error}"
    );
    assert!(error.hint.contains("Look at it again."), "{error}");
    assert_eq!(home.read(agent(ID)), Some(other));

    home.write(agent(ID), BEFORE);
    make(ConnectionAction::Connect).unwrap();
    let connected = home.read(agent(ID));
    // What was shown to connect says nothing about what disconnects, and is made once.
    for action in [ConnectionAction::Disconnect, ConnectionAction::Connect] {
        assert!(make(action).is_err(), "{action:?}");
        assert_eq!(home.read(agent(ID)), connected);
    }
}

#[test]
fn without_our_program_nothing_is_connected_but_what_is_can_be_taken_back() {
    let home = Home::new();
    let lost = ConnectionPlace {
        program: None,
        ..home.place()
    };
    let error = plan_connect(agent(ID), &lost).unwrap_err();
    assert!(error.message.contains("`countersign`"), "{error}");
    assert_eq!(home.read(agent(ID)), None);
    home.connect(agent(ID));
    let change = plan_disconnect(agent(ID), &lost).unwrap().unwrap();
    change.apply().unwrap();
    assert_eq!(home.read(agent(ID)), None);
}
