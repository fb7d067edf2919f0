//! What a release says of the app.

pub mod metainfo;
pub mod product;
mod text;
