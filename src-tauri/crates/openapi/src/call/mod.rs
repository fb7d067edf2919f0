//! One call of an operation: the request that is built, previewed and sent with its credentials, and the response.

pub(crate) mod credentials;
pub(crate) mod preview;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod send;
pub(crate) mod style;
pub(crate) mod token;
