//! What a person says in an editor, as a message of ours: its text, and its images.

use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResource, EmbeddedResourceResource, ResourceLink,
};
use protocol::text::fence::fence;
use protocol::{Content, Op, SessionId, UserError};

/// A prompt of an editor.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Prompt {
    pub text: String,
    images: Vec<Content>,
}

impl Prompt {
    /// Reads the blocks of a prompt. The text of an attached resource stands between fences, below its address.
    ///
    /// # Errors
    /// A block is neither text nor an image.
    pub fn parse(blocks: Vec<ContentBlock>) -> Result<Self, UserError> {
        let mut prompt = Self::default();
        for block in blocks {
            match block {
                ContentBlock::Text(text) => prompt.text.push_str(&text.text),
                ContentBlock::Image(image) => prompt.images.push(Content::Image {
                    mime: image.mime_type,
                    base64: image.data,
                }),
                ContentBlock::ResourceLink(link) => prompt.text.push_str(&format_link(&link)),
                ContentBlock::Resource(resource) => prompt.add_resource(resource)?,
                _ => return Err(unreadable_block("Sound")),
            }
        }
        Ok(prompt)
    }

    fn add_resource(&mut self, resource: EmbeddedResource) -> Result<(), UserError> {
        match resource.resource {
            EmbeddedResourceResource::TextResourceContents(contents) => {
                let fenced = fence(&contents.text);
                self.text
                    .push_str(&format!("\n\n{}:\n{fenced}\n\n", contents.uri));
                Ok(())
            }
            EmbeddedResourceResource::BlobResourceContents(contents) => {
                let mime = contents.mime_type.unwrap_or_default();
                if !mime.starts_with("image/") {
                    return Err(unreadable_block(
                        "A resource that is neither text nor an image",
                    ));
                }
                self.images.push(Content::Image {
                    mime,
                    base64: contents.blob,
                });
                Ok(())
            }
            _ => Err(unreadable_block(
                "A resource of a kind that nobody knows here",
            )),
        }
    }

    /// Returns the op that sends the prompt.
    pub fn into_op(self, session: SessionId) -> Op {
        Op::Say {
            session,
            text: self.text.trim().to_owned(),
            images: self.images,
        }
    }
}

/// Returns a mention of a resource that the agent can read by itself.
fn format_link(link: &ResourceLink) -> String {
    format!("[{}]({})", link.name, link.uri)
}

fn unreadable_block(what: &str) -> UserError {
    UserError::new(
        format!("{what} cannot be given to the agent."),
        "Give text, an image, or the path of a file.",
    )
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{AudioContent, ImageContent, TextResourceContents};

    use super::*;

    #[test]
    fn every_kind_of_block_is_read_or_named() {
        let resource = TextResourceContents::new("fn main() {}\n", "file:///a/main.rs");
        let prompt = Prompt::parse(vec![
            "See ".into(),
            ContentBlock::ResourceLink(ResourceLink::new("lib.rs", "file:///a/lib.rs")),
            ContentBlock::Resource(EmbeddedResource::new(
                EmbeddedResourceResource::TextResourceContents(resource),
            )),
            ContentBlock::Image(ImageContent::new("AAAA", "image/png")),
        ]);
        let prompt = prompt.unwrap();
        assert_eq!(
            prompt.text,
            "See [lib.rs](file:///a/lib.rs)\n\nfile:///a/main.rs:\n```\nfn main() {}\n```\n\n"
        );
        assert_eq!(prompt.images.len(), 1);
        let sound = ContentBlock::Audio(AudioContent::new("AAAA", "audio/wav"));
        let refused = Prompt::parse(vec![sound]).unwrap_err();
        assert_eq!(refused.message, "Sound cannot be given to the agent.");
    }
}
