//! Messages of a person to an agent: text, and images.

use protocol::model::Message;
use protocol::{Content, UserError};
use tools::limits::IMAGE_BYTES_MAX;

use crate::limits::{MESSAGE_BYTES_MAX, MESSAGE_IMAGES_MAX};

/// A message of the person.
#[derive(Debug, Clone)]
pub(crate) struct UserMessage {
    pub text: String,
    /// Images; no other content.
    pub images: Vec<Content>,
}

impl UserMessage {
    /// Validates a message from outside the engine.
    ///
    /// # Errors
    /// The message is empty, too long or has too many images, or one of them is not an image, too large, or not of the
    /// declared type.
    pub fn parse(text: String, images: Vec<Content>) -> Result<Self, UserError> {
        if text.is_empty() && images.is_empty() {
            return Err(UserError::new(
                "There is nothing to say.",
                "Write something first.",
            ));
        }
        if text.len() > MESSAGE_BYTES_MAX {
            let bytes = text.len();
            return Err(UserError::new(
                format!(
                    "The message is {bytes} bytes long; at most {MESSAGE_BYTES_MAX} are taken."
                ),
                "Put the text in a file of the workspace and name the file.",
            ));
        }
        if images.len() > MESSAGE_IMAGES_MAX {
            let count = images.len();
            return Err(UserError::new(
                format!("The message has {count} images; at most {MESSAGE_IMAGES_MAX} are taken."),
                "Give the others with the next message.",
            ));
        }
        for (place, image) in images.iter().enumerate() {
            check_image(image).map_err(|reason| {
                let message = format!("Image {} of the message {reason}.", place + 1);
                UserError::new(message, "Give a PNG, JPEG, GIF or WebP of up to 3.75 MB.")
            })?;
        }
        Ok(Self { text, images })
    }

    /// Returns the message for the model.
    pub fn to_message(&self) -> Message {
        Message::User {
            text: self.text.clone(),
            images: self.images.clone(),
        }
    }
}

impl From<String> for UserMessage {
    fn from(text: String) -> Self {
        Self {
            text,
            images: Vec::new(),
        }
    }
}

/// Returns an error if an image is not acceptable.
pub(crate) fn check_image(image: &Content) -> Result<(), &'static str> {
    let Content::Image { mime, .. } = image else {
        return Err("is not an image");
    };
    let bytes = image.image_bytes().ok_or("is not base64")?;
    match protocol::detect_image_type(&bytes) {
        _ if bytes.len() as u64 > IMAGE_BYTES_MAX => Err("is too large"),
        Some(kind) if kind == mime => Ok(()),
        Some(_) | None => Err("is not of the kind that it is said to be"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

    fn refused(text: &str, images: Vec<Content>) -> String {
        let checked = UserMessage::parse(text.to_owned(), images);
        checked.map(|said| said.text).unwrap_err().message
    }

    #[test]
    fn only_images_of_their_kind_are_taken() {
        let png = Content::image(PNG).unwrap();
        let of = |mime: &str, base64: &str| Content::Image {
            mime: mime.to_owned(),
            base64: base64.to_owned(),
        };
        let said = UserMessage::parse(String::new(), vec![png.clone()]).unwrap();
        assert_eq!(said.images, std::slice::from_ref(&png));
        let mut large = PNG.to_vec();
        large.resize(usize::try_from(IMAGE_BYTES_MAX).unwrap() + 1, 0);
        for (images, wanted) in [
            (vec![], "nothing to say"),
            (
                vec![Content::text("x")],
                "Image 1 of the message is not an image",
            ),
            (
                vec![png.clone(), of("image/png", "?")],
                "Image 2 of the message is not base64",
            ),
            (vec![of("image/png", "AAAA")], "is not of the kind"),
            (vec![Content::image(&large).unwrap()], "is too large"),
            (vec![png; MESSAGE_IMAGES_MAX + 1], "has 21 images"),
        ] {
            let message = refused("", images);
            assert!(message.contains(wanted), "{message}");
        }
        let long = "x".repeat(MESSAGE_BYTES_MAX + 1);
        assert!(refused(&long, Vec::new()).contains("bytes long"));
    }
}
