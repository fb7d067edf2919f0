//! Properties of one session, used in its events and its views.

pub mod agent_options;
pub mod answer_check;
pub mod attachments;
pub mod deletion;
pub mod grant;
pub mod list_place;
pub mod parent_call;
pub mod skipped_asks;
pub mod state_location;
