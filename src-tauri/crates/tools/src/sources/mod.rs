//! Sources of other people's tools, servers and services: the tools that a source offers, those of them that a person
//! approved, and the difference.

mod catalogue;
mod names;
mod pinned_catalogue;
mod pins;
pub mod settings;

pub use catalogue::{Catalogue, SourceTool, record_left_out};
pub use names::{build_tool_id, unique_name};
pub use pinned_catalogue::{PinnedCatalogue, ToolComparison};
pub use pins::{PinnedTool, Pins};

/// Media types of the images in an answer of a source that models accept.
pub const SUPPORTED_IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
