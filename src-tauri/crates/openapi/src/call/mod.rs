//! One call of an operation: the request that is built, previewed and given its credentials, and the response.

pub(crate) mod credentials;
pub(crate) mod preview;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod style;
pub(crate) mod token;
