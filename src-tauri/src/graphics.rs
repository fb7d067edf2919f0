//! Whether the machine can draw by itself.

/// Whether there is a graphics processor that programs may draw with; `true` where that cannot be determined.
#[cfg(target_os = "linux")]
#[allow(
    clippy::disallowed_methods,
    reason = "must be known before the window is made, and before the engine could tell"
)]
pub(crate) fn has_render_node() -> bool {
    std::fs::read_dir("/dev/dri").map_or_else(
        |error| error.kind() != std::io::ErrorKind::NotFound,
        |nodes| {
            nodes
                .flatten()
                .any(|node| node.file_name().to_string_lossy().starts_with("renderD"))
        },
    )
}
