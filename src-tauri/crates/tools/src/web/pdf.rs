//! Extracts the text of a PDF document, page by page.

use std::time::Instant;

use lopdf::{Document, LoadOptions};

use super::WebPage;
use crate::limits::{MARKDOWN_BYTES_MAX, PDF_PAGES_MAX, PDF_STREAM_BYTES_MAX};
use crate::text::format_count;

/// Extracts the text of the document.
///
/// # Errors
/// The problem of the document, as a sentence with the next step.
pub(super) fn pdf_to_page(bytes: &[u8], deadline: Instant) -> Result<WebPage, String> {
    let options = LoadOptions::with_max_decompressed_size(PDF_STREAM_BYTES_MAX);
    let document = Document::load_mem_with_options(bytes, options).map_err(|error| {
        let error = protocol::text::display_text::to_single_line(&error.to_string(), 200);
        format!("The PDF document cannot be read: {error}. Look for another form of it.")
    })?;
    if document.is_encrypted() {
        return Err(
            "The PDF document is locked with a password. Look for another form of it.".to_owned(),
        );
    }
    let pages: Vec<u32> = document.get_pages().into_keys().collect();
    let mut page = WebPage {
        title: find_title(&document),
        ..WebPage::default()
    };
    let mut unread = 0_u64;
    let mut read = 0_usize;
    for number in pages.iter().take(PDF_PAGES_MAX) {
        if Instant::now() > deadline || page.text.len() > MARKDOWN_BYTES_MAX {
            break;
        }
        read += 1;
        match document.extract_text_with_limit(&[*number], PDF_STREAM_BYTES_MAX) {
            Ok(words) if words.trim().is_empty() => {}
            Ok(words) => page
                .text
                .push_str(&format!("[Page {number}]\n{}\n\n", words.trim())),
            Err(_) => unread += 1,
        }
    }
    if page.text.is_empty() {
        return Err(format!(
            "The PDF document has {} and no words that can be read: it may be made of pictures. Look for another form of it.",
            format_count(pages.len() as u64, "page", "pages")
        ));
    }
    if unread > 0 {
        let pages = format_count(unread, "page", "pages");
        page.notes
            .push(format!("Left out: {pages} whose words could not be read."));
    }
    if read < pages.len() {
        let all = pages.len();
        page.notes
            .push(format!("The first {read} of {all} pages were read."));
    }
    Ok(page)
}

fn find_title(document: &Document) -> String {
    let info = document
        .trailer
        .get(b"Info")
        .and_then(|info| document.dereference(info));
    let info = info.and_then(|(_, info)| info.as_dict());
    let title = info
        .and_then(|info| info.get(b"Title"))
        .and_then(lopdf::decode_text_string);
    title.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lopdf::content::{Content, Operation};
    use lopdf::{Object, Stream, dictionary};

    use super::*;

    /// Builds a document with one page for each line, with streams compressed if wanted.
    fn document(lines: &[&str], content: Option<Vec<u8>>) -> Vec<u8> {
        let mut document = Document::with_version("1.5");
        let pages = document.new_object_id();
        let font = document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
        });
        let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
        let kids: Vec<Object> = lines
            .iter()
            .map(|line| {
                let operations = vec![
                    Operation::new("BT", vec![]),
                    Operation::new("Tf", vec!["F1".into(), 12.into()]),
                    Operation::new("Td", vec![10.into(), 20.into()]),
                    Operation::new("Tj", vec![Object::string_literal(*line)]),
                    Operation::new("ET", vec![]),
                ];
                let plain = Content { operations }.encode().unwrap();
                let mut stream = Stream::new(dictionary! {}, content.clone().unwrap_or(plain));
                stream.compress().unwrap();
                let content = document.add_object(stream);
                let page = document.add_object(dictionary! {
                    "Type" => "Page", "Parent" => pages, "Contents" => content, "Resources" => resources,
                    "MediaBox" => vec![0.into(), 0.into(), 100.into(), 100.into()],
                });
                page.into()
            })
            .collect();
        let count = i64::try_from(kids.len()).unwrap();
        let tree = dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count };
        document.objects.insert(pages, Object::Dictionary(tree));
        let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
        let info =
            document.add_object(dictionary! { "Title" => Object::string_literal("A paper") });
        document.trailer.set("Root", catalog);
        document.trailer.set("Info", info);
        let mut bytes = Vec::new();
        document.save_to(&mut bytes).unwrap();
        bytes
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn its_words_are_given_page_by_page() {
        let page = pdf_to_page(&document(&["Hello there", "", "The end"], None), soon()).unwrap();
        assert_eq!(page.title, "A paper");
        assert_eq!(
            page.text.trim(),
            "[Page 1]\nHello there\n\n[Page 3]\nThe end"
        );
        assert_eq!(page.notes, [""; 0]);
    }

    #[test]
    fn one_without_words_is_named() {
        let message = pdf_to_page(&document(&["", ""], None), soon()).unwrap_err();
        assert!(message.contains("2 pages and no words"), "{message}");
    }

    /// A stream of a few kilobytes that decompresses to more than the limit.
    #[test]
    fn a_stream_that_unpacks_to_too_much_is_left_out() {
        let bomb = vec![b' '; PDF_STREAM_BYTES_MAX + 1];
        let bytes = document(&["x"], Some(bomb));
        assert!(bytes.len() < 1024 * 1024);
        let message = pdf_to_page(&bytes, soon()).unwrap_err();
        assert!(message.contains("no words that can be read"), "{message}");
    }

    /// However a document is truncated, reordered or overwritten, the result is words or a sentence.
    #[test]
    fn broken_documents_are_read_or_refused() {
        let whole = document(&["Hello there", "The end"], None);
        for at in (0..whole.len()).step_by(7) {
            let _ = pdf_to_page(&whole[..at], soon());
            let mut turned = whole.clone();
            turned[at] ^= 0x55;
            let _ = pdf_to_page(&turned, soon());
        }
    }
}
