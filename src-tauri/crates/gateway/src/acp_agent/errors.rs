//! Errors as an editor shows them.

use agent_client_protocol::v1::schema;
use agent_client_protocol::{Error, ErrorCode};
use protocol::UserError;

/// Returns the error for a request that asks for something impossible.
pub(super) fn invalid_request(fault: &UserError) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS, fault.to_string())
}

/// Returns the error for a request that could not be carried out.
pub(super) fn failed_request(fault: &UserError) -> Error {
    Error::new(ErrorCode::INTERNAL_ERROR, fault.to_string())
}

/// Returns the error for a request about a session that is not open on this connection, or not on record.
pub(super) fn unknown_session(session: &schema::SessionId) -> Error {
    schema::Error::session_not_found(session.clone()).into()
}
