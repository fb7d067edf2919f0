//! `apply_patch` where it cannot be: nothing is touched, and everything that is wrong is said at once.

use serde_json::json;

use crate::patch::patch;
use crate::support::Bench;

#[tokio::test]
async fn a_patch_that_cannot_be_says_why_for_every_file() {
    let bench = Bench::with(&[
        ("a.txt", b"a\n"),
        ("bin.dat", b"\0\x01\x02"),
        ("latin.txt", b"caf\xe9\n"),
        ("dir/x", b"x\n"),
        ("crlf.txt", b"a\r\nb\r\n"),
        ("key.txt", b"password = hunter2hunter2hunter2\n"),
    ]);
    bench.put("../outside.txt", b"out\n");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.txt", bench.at("link")).unwrap();
        std::os::unix::fs::symlink("../../outside.txt", bench.at("dir/out")).unwrap();
    }
    for (body, why) in [
        (
            "*** Update File: none.txt\n@@\n-a\n+b",
            "There is no file or folder at `none.txt`.",
        ),
        (
            "*** Delete File: none.txt",
            "There is no file or folder at `none.txt`.",
        ),
        (
            "*** Update File: bin.dat\n@@\n-a\n+b",
            "`bin.dat` is a binary file",
        ),
        (
            "*** Update File: latin.txt\n@@\n-a\n+b",
            "`latin.txt` is not UTF-8 from byte 3 on",
        ),
        ("*** Update File: dir\n@@\n-a\n+b", "`dir` is a folder"),
        (
            "*** Delete File: dir",
            "`dir` is a folder; a patch deletes and moves files only. Use delete_path or bash.",
        ),
        ("*** Update File: ../outside.txt\n@@\n-out\n+in", "outside"),
        ("*** Add File: ../new.txt\n+x", "outside"),
        ("*** Update File: a.txt\n*** Move to: ../a.txt", "outside"),
        (
            "*** Add File: a.txt\n+x",
            "`a.txt` is there already, so no file can be added or moved there. Update it instead.",
        ),
        ("*** Add File: dir\n+x", "`dir` is there already"),
        (
            "*** Add File: new/\n+x",
            "`new/` ends with `/`, so it names a folder; name the file.",
        ),
        ("*** Add File: a.txt/x\n+x", "a.txt"),
        (
            "*** Update File: crlf.txt\n*** Move to: a.txt",
            "`a.txt` is there already",
        ),
        (
            "*** Add File: n\n+x\n*** Add File: n/m\n+x",
            "`n/m`: the patch writes a file `n`, so nothing can be below it.",
        ),
        (
            "*** Update File: a.txt\n@@\n-a\n+b\n*** Update File: ./a.txt\n@@\n-a\n+c",
            "`./a.txt`: the patch names this file twice. Put all its hunks under one head.",
        ),
        (
            "*** Update File: a.txt\n@@\n-a\n+b\n*** Delete File: dir/../a.txt",
            "the patch names this file twice",
        ),
        #[cfg(unix)]
        (
            "*** Delete File: link",
            "`link` is a symbolic link; a patch deletes and moves files only.",
        ),
        #[cfg(unix)]
        (
            "*** Update File: link\n@@\n-a\n+b\n*** Delete File: a.txt",
            "the patch names this file twice",
        ),
        #[cfg(unix)]
        ("*** Update File: dir/out\n@@\n-out\n+in", "outside"),
    ] {
        let error = bench.error("apply_patch", &patch(body)).await;
        assert!(error.contains(why), "{body}\n{error}");
    }
    // Everything that is wrong at once.
    let error = bench
        .error("apply_patch", &patch("*** Update File: a.txt\n@@\n-b\n+c\n*** Delete File: none\n*** Add File: fine\n+x\n*** Add File: a.txt\n+"))
        .await;
    assert_eq!(error.lines().count(), 4, "{error}");
    // A deletion that tells another content.
    let unified = json!({ "patch": "--- a/crlf.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n" });
    let error = bench.error("apply_patch", &unified).await;
    assert!(
        error.contains("it has more lines than the patch says"),
        "{error}"
    );
    // It is read before it is judged.
    let error = bench
        .error(
            "apply_patch",
            &json!({ "patch": "*** Begin Patch\n*** Add File: a\n+x" }),
        )
        .await;
    assert!(
        error.contains("`patch` does not end with `*** End Patch`"),
        "{error}"
    );

    assert_eq!(
        bench
            .said(
                "apply_patch",
                &patch("*** Update File: crlf.txt\n@@\n a\n-b\n+B\n+c\n*** Delete File: bin.dat")
            )
            .await,
        "Changed `crlf.txt`: +2 -1 lines, the first at line 2; it has 9 bytes now.\nDeleted `bin.dat` (3 bytes)."
    );
    assert_eq!(bench.text("crlf.txt"), "a\r\nB\r\nc\r\n");
}

#[tokio::test]
async fn a_secret_is_not_replaced_by_its_mask() {
    let secret = "token = \"ghp_0123456789abcdefghijklmnopqrstuvwxyz\"\n";
    let bench = Bench::with(&[("key.txt", secret.as_bytes())]);
    let whole = secret.trim_end();
    let moved =
        format!("*** Update File: key.txt\n*** Move to: keys.txt\n@@\n-{whole}\n+token = \"***\"");
    let error = bench.error("apply_patch", &patch(&moved)).await;
    assert!(error.contains("the secret would be lost"), "{error}");
    let masked = "*** Update File: key.txt\n@@\n-token = \"***\"\n+token = \"x\"";
    let error = bench.error("apply_patch", &patch(masked)).await;
    assert!(
        error.contains("stands for a secret that was masked"),
        "{error}"
    );
}
