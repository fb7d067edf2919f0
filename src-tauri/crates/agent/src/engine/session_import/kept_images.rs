//! Images of an imported message or result, within the limits of live sessions.

use protocol::Content;

use crate::limits::MESSAGE_IMAGES_MAX;
use crate::session::user_message::check_image;

/// The images that are recorded, and the number of those that are not.
pub(super) struct KeptImages {
    pub images: Vec<Content>,
    left_out: usize,
}

impl KeptImages {
    /// Chooses the images that are what they are said to be, not too large, and not too many.
    pub fn choose(images: &[Content]) -> Self {
        let acceptable = images.iter().filter(|image| check_image(image).is_ok());
        let kept: Vec<Content> = acceptable.take(MESSAGE_IMAGES_MAX).cloned().collect();
        Self {
            left_out: images.len() - kept.len(),
            images: kept,
        }
    }

    /// Adds to a text how many images were left out.
    pub fn add_note(&self, text: String) -> String {
        match self.left_out {
            0 => text,
            count => format!("{text}\n\n[Left out: {count} of the images. They are in the transcript of the agent.]")
                .trim_start()
                .to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_beyond_the_limits_are_left_out_and_counted() {
        let png = Content::image(b"\x89PNG\r\n\x1a\n").unwrap();
        let broken = Content::Image {
            mime: "image/png".to_owned(),
            base64: "?".to_owned(),
        };
        let kept = KeptImages::choose(&[broken.clone(), png.clone()]);
        assert_eq!(kept.images, std::slice::from_ref(&png));
        assert!(
            kept.add_note("Look.".to_owned())
                .starts_with("Look.\n\n[Left out: 1 of")
        );
        assert!(kept.add_note(String::new()).starts_with("[Left out: 1 of"));
        let many = vec![png; MESSAGE_IMAGES_MAX + 2];
        let kept = KeptImages::choose(&many);
        assert_eq!((kept.images.len(), kept.left_out), (MESSAGE_IMAGES_MAX, 2));
        assert_eq!(
            KeptImages::choose(&many[..1]).add_note("Look.".to_owned()),
            "Look."
        );
    }
}
