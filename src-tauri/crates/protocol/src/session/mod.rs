//! What belongs to one session, in its events and in what is shown of it.

pub mod answer_check;
pub mod grant;
pub mod parent_call;
pub mod state_location;
