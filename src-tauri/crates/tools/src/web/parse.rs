//! Parses a page into a tree of bounded size, because a few bytes of open tags can create more elements than any
//! machine can hold.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::Instant;

use dom_query::{Document, NodeId};
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, ParseOpts, QualName, parse_document};

use crate::limits::{ELEMENTS_MAX, PARSE_CHUNK_BYTES};

/// Parses a page into a tree.
///
/// The parser is fed piece by piece, each with at most one tag, so that elements that a tag reopens are counted in
/// time.
///
/// # Errors
/// The reason why there is no tree, as the end of a sentence.
pub(super) fn parse_tree(html: &str, deadline: Instant) -> Result<Document, &'static str> {
    let mut options = ParseOpts::default();
    options.tree_builder.scripting_enabled = false;
    let mut parser = parse_document(BoundedTreeSink::default(), options);
    for piece in html.split_inclusive('>') {
        let mut rest = piece;
        while !rest.is_empty() {
            let now = protocol::text::cut::take_head(rest, PARSE_CHUNK_BYTES);
            rest = &rest[now.len()..];
            parser.process(StrTendril::from(now));
            if parser.tokenizer.sink.sink.elements.get() > ELEMENTS_MAX {
                return Err("it has too many elements");
            }
            if Instant::now() >= deadline {
                return Err("it is too tangled");
            }
        }
    }
    Ok(parser.finish())
}

/// A document that counts its elements while it is built.
#[derive(Default)]
struct BoundedTreeSink {
    document: Document,
    elements: Cell<usize>,
}

impl TreeSink for BoundedTreeSink {
    type Handle = NodeId;
    type Output = Document;
    type ElemName<'a> = <Document as TreeSink>::ElemName<'a>;

    fn finish(self) -> Document {
        self.document
    }

    /// Ignores parse errors: pages are full of them, and nobody reads them.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        self.document.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Self::ElemName<'a> {
        self.document.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        self.elements.set(self.elements.get() + 1);
        self.document.create_element(name, attrs, flags)
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.document.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.document.create_pi(target, data)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.document.append(parent, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        before: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        self.document
            .append_based_on_parent_node(element, before, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.document
            .append_doctype_to_document(name, public, system);
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.document.get_template_contents(target)
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.document.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        self.document.append_before_sibling(sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<Attribute>) {
        self.document.add_attrs_if_missing(target, attrs);
    }

    fn remove_from_parent(&self, target: &NodeId) {
        TreeSink::remove_from_parent(&self.document, target);
    }

    fn reparent_children(&self, node: &NodeId, parent: &NodeId) {
        self.document.reparent_children(node, parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &NodeId) -> bool {
        self.document
            .is_mathml_annotation_xml_integration_point(handle)
    }
}
