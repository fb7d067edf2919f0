//! Compiles the window's access list into the app: what the web view may ask for, and nothing else.

/// Where the commands of the app get their names as permissions.
const PERMISSIONS: &str = "src-tauri/permissions";

/// One file for each window, listing the permissions that the window has.
const CAPABILITIES: &str = "src-tauri/capabilities";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // With a custom place for both, Tauri leaves the watching to us. An app manifest is what turns
    // the access check on for our own commands: without one, every window may call every command.
    println!("cargo:rerun-if-changed={PERMISSIONS}");
    println!("cargo:rerun-if-changed={CAPABILITIES}");
    // The UI is compiled into the app, so a new UI is a new app.
    println!("cargo:rerun-if-changed=ui/dist");
    let attributes = tauri_build::Attributes::new()
        .app_manifest(
            tauri_build::AppManifest::new()
                .permissions_path_pattern("./src-tauri/permissions/*.toml"),
        )
        .capabilities_path_pattern("./src-tauri/capabilities/*.json");
    tauri_build::try_build(attributes)?;
    Ok(())
}
