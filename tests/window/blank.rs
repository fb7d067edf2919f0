//! How often the window stays blank: the app started under load with cold caches, and reloaded in the middle of a busy session.
//!
//! These measure and take long. `COUNTERSIGN_REPEATS=200 cargo xtask test --only window -- --ignored blank --nocapture`

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Rig;
use crate::support::site::{Site, call};

/// How long a transcript may take to show its entries before it counts as blank.
const SHOWN_WITHIN: Duration = Duration::from_secs(10);
/// Time after which what was shown must still be there.
const STAYS: Duration = Duration::from_millis(600);
/// Programs that do nothing but keep the processors busy.
const BUSY: usize = 2;

fn repeats() -> usize {
    let asked = std::env::var("COUNTERSIGN_REPEATS").ok();
    asked.map_or(20, |text| {
        text.parse().expect("COUNTERSIGN_REPEATS is a number")
    })
}

/// Keeps the processors busy until it is dropped.
struct Load(Vec<Child>);

impl Load {
    fn begin() -> Self {
        let busy = |_| {
            let mut command = Command::new("sh");
            command
                .args(["-c", "while :; do :; done"])
                .stdin(Stdio::null());
            command.spawn().unwrap()
        };
        Self((0..BUSY).map(busy).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Has the system forget what it read of files, where it may; says whether it could.
fn drop_caches() -> bool {
    let _ = Command::new("sync").status();
    std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}

/// Whether the transcript shows entries soon, and still does a moment later.
async fn fills(rig: &Rig) -> bool {
    let shown = "const at = document.querySelector('[data-testid=transcript]'); return at !== null && at.querySelector('[data-row]') !== null";
    let is_shown = async |rig: &Rig| {
        let answer = rig.window().execute(shown, vec![]).await;
        answer.is_ok_and(|answer| answer.json() == true)
    };
    if !rig.comes(SHOWN_WITHIN, is_shown).await {
        return false;
    }
    tokio::time::sleep(STAYS).await;
    is_shown(rig).await
}

/// A session that reads, and reads on, for as long as the test runs.
async fn busy_session(turns: usize) -> (Site, Rig, String) {
    let read = |at: usize| call("read", json!({ "path": format!("file-{}.txt", at % 50) }));
    let turns: Vec<Value> = (0..turns).map(read).collect();
    let site = Site::open(vec![], vec![("reader", turns.into())]).await;
    let rig =
        Rig::start_on(|data| std::fs::write(data.join("settings.toml"), site.settings()).unwrap())
            .await;
    let place = rig.data_dir().parent().unwrap().canonicalize().unwrap();
    let folder = place.join("busy");
    std::fs::create_dir(&folder).unwrap();
    for at in 0..50 {
        std::fs::write(folder.join(format!("file-{at}.txt")), format!("{at}\n")).unwrap();
    }
    let session = rig.begin(&folder, "reader", "Read on.").await;
    (site, rig, session)
}

#[tokio::test]
#[ignore = "it measures; see the head of the file"]
async fn blank_after_a_reload_in_a_busy_session() {
    let repeats = repeats();
    let (_site, rig, session) = busy_session(20_000).await;
    let _load = Load::begin();
    assert!(fills(&rig).await);
    let (began, mut blank) = (Instant::now(), 0);
    for at in 1..=repeats {
        // It came to the end of what one run may use.
        if rig.find_all("stop").await.is_empty() {
            rig.submit(json!({ "type": "say", "session": session, "text": "Go on." }))
                .await;
        }
        rig.window().refresh().await.unwrap();
        if !fills(&rig).await {
            blank += 1;
            println!("reload {at} is blank:\n{}", rig.page_text().await);
        }
        if at % 10 == 0 {
            println!(
                "{at} reloads, {blank} blank, {:.0} s",
                began.elapsed().as_secs_f64()
            );
        }
    }
    println!("blank after a reload: {blank} of {repeats}");
    assert_eq!(blank, 0);
    rig.end().await;
}

#[tokio::test]
#[ignore = "it measures; see the head of the file"]
async fn blank_after_a_cold_start_under_load() {
    let repeats = repeats();
    let mut rig = Rig::start().await;
    rig.play().await;
    let _load = Load::begin();
    let (began, mut blank, mut cold) = (Instant::now(), 0, 0);
    for at in 1..=repeats {
        rig.reopen(|_| cold += usize::from(drop_caches())).await;
        if !fills(&rig).await {
            blank += 1;
            println!("start {at} is blank:\n{}", rig.page_text().await);
        }
        if at % 10 == 0 {
            println!(
                "{at} starts, {blank} blank, {:.0} s",
                began.elapsed().as_secs_f64()
            );
        }
    }
    println!("blank after a start: {blank} of {repeats}, {cold} of them with cold caches");
    assert_eq!(blank, 0);
    rig.end().await;
}
