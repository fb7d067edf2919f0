//! `read`: lines and bytes of files of any size.

use serde_json::json;

use crate::support::{Bench, told};

#[tokio::test]
async fn lines_come_with_their_numbers_s002_12_s001_48() {
    let bench = Bench::with(&[
        ("a.txt", b"one\ntwo\nthree\nfour"),
        ("crlf.txt", b"one\r\ntwo\r\n"),
        ("empty.txt", b""),
        ("one.txt", b"\n"),
    ]);
    for (arguments, text, message) in [
        (
            json!({"path": "a.txt"}),
            "     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n",
            "4 lines",
        ),
        (
            json!({"path": "a.txt", "offset": 2, "limit": 2}),
            "     2\ttwo\n     3\tthree\n[Lines 2 to 3 of 4 lines. Go on with offset=4.]",
            "lines 2–3",
        ),
        (
            json!({"path": "a.txt", "offset": 4}),
            "     4\tfour\n[Lines 4 to 4 of 4 lines: the end of the file.]",
            "lines 4–4",
        ),
        (
            json!({"path": "crlf.txt"}),
            "     1\tone\n     2\ttwo\n",
            "2 lines",
        ),
        (json!({"path": "one.txt"}), "     1\t\n", "1 line"),
        (
            json!({"path": "empty.txt"}),
            "`empty.txt` is empty: it stands there with 0 bytes.",
            "empty",
        ),
        (
            json!({"path": "a.txt", "byte_offset": 4, "byte_limit": 4}),
            "two\n\n[Bytes 4 to 8 of 18: go on with byte_offset=8.]",
            "4 bytes",
        ),
        (
            json!({"path": "a.txt", "byte_offset": 14}),
            "four\n[Bytes 14 to 18 of 18: the end of the file.]",
            "4 bytes",
        ),
    ] {
        let output = bench.call("read", &arguments).await.unwrap();
        assert_eq!(
            (told(&output), output.message.as_str()),
            (text, message),
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn a_file_of_any_size_is_read_in_ranges_s002_72_m07() {
    // Ranges work beyond every limit on whole files.
    let line = "x".repeat(119);
    let content: String = (1..=100_000).map(|n| format!("{n:>6} {line}\n")).collect();
    let bench = Bench::with(&[("big.log", content.as_bytes())]);

    let head = bench
        .call("read", &json!({"path": "big.log"}))
        .await
        .unwrap();
    assert!(head.text.len() <= 200 * 1024, "{}", head.text.len());
    assert!(head.truncated.is_none(), "a read never goes to the sidecar");
    assert_eq!(head.data.unwrap()["is_whole"], false);
    bench.put("small.log", b"a line\n");
    let whole = bench
        .call("read", &json!({"path": "small.log"}))
        .await
        .unwrap();
    assert_eq!(whole.data.unwrap()["is_whole"], true);
    let note = head.text.lines().last().unwrap();
    let (last, next) = (head.text.lines().count() - 1, head.text.lines().count());
    assert_eq!(
        note,
        format!("[Lines 1 to {last} of a file of 12.7 MB. Go on with offset={next}.]")
    );

    let deep = bench
        .said("read", &json!({"path": "big.log", "offset": 99_999}))
        .await;
    let expected = format!(
        " 99999\t 99999 {line}\n100000\t100000 {line}\n[Lines 99999 to 100000 of a file of 12.7 MB: the end of the file.]"
    );
    assert_eq!(deep, expected);

    let bytes = bench
        .said(
            "read",
            &json!({"path": "big.log", "byte_offset": 12_699_873, "byte_limit": 6}),
        )
        .await;
    assert_eq!(
        bytes,
        "100000\n[Bytes 12699873 to 12699879 of 12700000: go on with byte_offset=12699879.]"
    );
}

#[tokio::test]
async fn a_long_line_and_a_cut_character_are_gone_on_from() {
    let long = format!("{}\nend\n", "é".repeat(200_000));
    let bench = Bench::with(&[("min.js", long.as_bytes()), ("é.txt", "aéb".as_bytes())]);
    let text = bench.said("read", &json!({"path": "min.js"})).await;
    assert!(text.len() <= 200 * 1024);
    let note = text.lines().last().unwrap();
    assert!(
        note.starts_with("[Line 1 is too long to be shown whole; it goes on at byte ")
            && note.ends_with("offset=2.]"),
        "{note}"
    );
    let at: u64 = note
        .split("byte_offset=")
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let next = bench
        .said(
            "read",
            &json!({"path": "min.js", "byte_offset": at, "byte_limit": 4}),
        )
        .await;
    assert!(next.starts_with("éé\n[Bytes"), "{next}");
    assert!(
        bench
            .said("read", &json!({"path": "min.js", "offset": 2}))
            .await
            .starts_with("     2\tend\n")
    );

    // An offset within a character moves on to the next one; a limit within one stops before it.
    let tail = bench
        .said("read", &json!({"path": "é.txt", "byte_offset": 2}))
        .await;
    assert_eq!(tail, "b\n[Bytes 3 to 4 of 4: the end of the file.]");
    let head = bench
        .said(
            "read",
            &json!({"path": "é.txt", "byte_offset": 0, "byte_limit": 2}),
        )
        .await;
    assert_eq!(head, "a\n[Bytes 0 to 1 of 4: go on with byte_offset=1.]");
    let none = bench
        .error(
            "read",
            &json!({"path": "é.txt", "byte_offset": 1, "byte_limit": 1}),
        )
        .await;
    assert_eq!(
        none,
        "Invalid arguments: byte_limit 1 ends within a character at byte 1; use at least 4"
    );
}

#[tokio::test]
async fn what_is_past_the_end_says_where_the_end_is() {
    let bench = Bench::with(&[("two.txt", b"one\ntwo\n")]);
    for (arguments, error) in [
        (
            json!({"path": "two.txt", "offset": 3}),
            "`two.txt` has 2 lines, so offset 3 is past its end. Use an offset from 1 to 2.",
        ),
        (
            json!({"path": "two.txt", "byte_offset": 8}),
            "`two.txt` has 8 bytes, so byte_offset 8 is past its end. Use a smaller one.",
        ),
        (
            json!({"path": "two.txt", "offset": 1, "byte_offset": 1}),
            "Invalid arguments: `offset` and `limit` count lines, `byte_offset` and `byte_limit` count bytes; give one \
             pair of them",
        ),
    ] {
        assert_eq!(bench.error("read", &arguments).await, error, "{arguments}");
    }
}

/// An image is given as what it is (`S001-17`); one that is too large says so.
#[tokio::test]
async fn an_image_is_looked_at() {
    let png = b"\x89PNG\r\n\x1a\n\0\0";
    let mut large = png.to_vec();
    large.resize(4_000_000, 0);
    let bench = Bench::with(&[("a.png", png), ("large.png", &large)]);
    let output = bench.call("read", &json!({"path": "a.png"})).await.unwrap();
    assert_eq!(
        output.content,
        [protocol::Content::Image {
            mime: "image/png".to_owned(),
            base64: "iVBORw0KGgoAAA==".to_owned()
        }]
    );
    assert_eq!(output.message, "image, 10 bytes");
    let error = bench.call("read", &json!({"path": "large.png"})).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("a PNG image of 4.0 MB"), "{error}");
}

/// Every part of a secret is masked, however ranges cut it: bytes within it, a line within a private key.
#[tokio::test]
async fn a_secret_cut_by_ranges_is_masked_in_each() {
    let secret = concat!("AKIA", "IOSFODNN7EXAMPLE");
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEabc\nDEFghi\n-----END PRIVATE KEY-----\nafter\n";
    let line = format!("id {secret} end\n");
    let bench = Bench::with(&[("a.txt", line.as_bytes()), ("key.pem", key.as_bytes())]);
    for (from, count) in [(0, 10), (3, 10), (8, 4), (10, 17)] {
        let arguments = json!({"path": "a.txt", "byte_offset": from, "byte_limit": count});
        let output = bench.call("read", &arguments).await.unwrap();
        let shown = output.text.split("\n[Bytes").next().unwrap().to_owned();
        assert_eq!(output.secrets_masked, 1, "{from} {count}");
        let plain = shown.replace("***", "");
        assert!(
            "id  end\n".contains(&plain) && shown.contains("***"),
            "{shown}"
        );
    }
    let output = bench
        .call("read", &json!({"path": "key.pem", "offset": 2}))
        .await
        .unwrap();
    assert_eq!(
        (output.text.as_str(), output.secrets_masked),
        (
            "     2\t***\n     3\t***\n     4\t***\n     5\tafter\n[Lines 2 to 5 of 5 lines: the end of the file.]",
            1
        )
    );
}

/// One line of a gigabyte: its start by line, any part of it by bytes (`S002-72`, M07).
#[tokio::test]
async fn a_line_of_a_gigabyte_is_read_in_parts_s002_72_m07() {
    use std::io::{Seek, SeekFrom, Write};
    const GIGABYTE: u64 = 1 << 30;
    let bench = Bench::with(&[("long.txt", "x".repeat(300_000).as_bytes())]);
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .open(bench.at("long.txt"))
        .unwrap();
    // A hole between the two ends, so that the disk is not filled.
    file.seek(SeekFrom::Start(GIGABYTE)).unwrap();
    file.write_all("grün".as_bytes()).unwrap();
    let head = bench
        .call("read", &json!({"path": "long.txt"}))
        .await
        .unwrap();
    assert!(
        head.text
            .contains("is too long to be shown whole; it goes on at byte")
    );
    let arguments = json!({"path": "long.txt", "byte_offset": GIGABYTE, "byte_limit": 100});
    let tail = bench.call("read", &arguments).await.unwrap();
    let total = GIGABYTE + 5;
    assert_eq!(
        tail.text,
        format!("grün\n[Bytes {GIGABYTE} to {total} of {total}: the end of the file.]")
    );
    let past = json!({"path": "long.txt", "byte_offset": total});
    let error = bench.call("read", &past).await.unwrap_err().to_string();
    assert!(
        error.contains("is past its end. Use a smaller one."),
        "{error}"
    );
}
