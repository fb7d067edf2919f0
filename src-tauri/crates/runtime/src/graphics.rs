//! Whether the machine can draw by itself.

/// Whether there is a graphics processor that programs may draw with; `true` where that cannot be determined.
#[cfg(target_os = "linux")]
pub fn has_render_node() -> bool {
    std::fs::read_dir("/dev/dri").map_or_else(
        |error| error.kind() != std::io::ErrorKind::NotFound,
        |nodes| {
            nodes
                .flatten()
                .any(|node| node.file_name().to_string_lossy().starts_with("renderD"))
        },
    )
}
