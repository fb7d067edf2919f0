//! The hands: the only engine crate that touches disk and process.
