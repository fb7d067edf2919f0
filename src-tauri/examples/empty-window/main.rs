//! A window of Tauri with an empty page: what `bench start` compares the app's start and memory with.

fn main() -> Result<(), tauri::Error> {
    let context = tauri::generate_context!("src-tauri/examples/empty-window/tauri.conf.json");
    tauri::Builder::default().run(context)
}
