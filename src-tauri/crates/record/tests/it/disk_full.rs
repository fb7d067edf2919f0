//! A full disk: what does not fit is refused, what was acknowledged stays, and work goes on once there is room.

use record::{Durability, RecordError};

use crate::sample_events;
use crate::support::Desk;

#[test]
fn a_full_disk_loses_nothing_acknowledged_and_leaves_no_gap() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("Fills the disk"));
    desk.record.limit_database_pages(120);
    let text = "not much, but again and again ".repeat(100);
    let mut acknowledged = vec![1];
    let error = loop {
        match desk.try_tell(
            "ses_1",
            sample_events::said(&format!("msg_{}", acknowledged.len()), &text),
        ) {
            Ok(seq) => acknowledged.push(seq),
            Err(error) => break error,
        }
        assert!(acknowledged.len() < 1000, "it never gets full");
    };
    assert!(matches!(error, RecordError::Full(_)), "{error:?}");
    let fault = error.to_user_error();
    assert!(fault.message.contains("disk is full"), "{fault}");
    assert!(fault.hint.contains("kept"), "{fault}");

    // Refused in a batch, several at once, and on disk: always whole, always without a trace.
    let acks: Vec<_> = (0..10)
        .map(|n| {
            let body = sample_events::said(&format!("lost_{n}"), &text);
            desk.record
                .append("ses_1".into(), 1, body, Durability::OnDisk)
        })
        .collect();
    for ack in acks {
        assert!(matches!(ack.wait(), Err(RecordError::Full(_))));
    }
    let kept: Vec<u64> = desk.events().iter().map(|event| event.seq).collect();
    assert_eq!(kept, acknowledged);
    assert_eq!(desk.published(), desk.events());

    desk.record.limit_database_pages(100_000);
    let last = *acknowledged.last().unwrap();
    assert_eq!(
        desk.tell("ses_1", sample_events::noted("There is room again.")),
        last + 1
    );
    let page = desk.record.search("room", 0, 0, 9).unwrap();
    assert_eq!(page.total, 1);
    let desk = desk.reopen();
    assert_eq!(desk.record.last_seq().unwrap(), last + 1);
    let (entries, _) = desk
        .record
        .transcript_before(&"ses_1".into(), None, 500)
        .unwrap();
    assert_eq!(
        entries.len(),
        acknowledged.len(),
        "every message once, and the note"
    );
}
