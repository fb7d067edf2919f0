//! The masked form of an event of a settled call.

use crate::event::{CallChange, Event, EventBody};
use crate::view::masked_call::{mask_preview, mask_strings};

/// Masks an event of a settled call. Returns none if the event no longer deserializes without its secrets.
pub fn mask_event(event: &Event) -> Option<Event> {
    let mut event = event.clone();
    if let EventBody::Call {
        change: CallChange::Judged { preview, .. },
        ..
    } = &mut event.body
    {
        *preview = mask_preview(preview);
    }
    mask_strings(&event)
}
