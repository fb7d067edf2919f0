// The agent's words as safe HTML: no images, nothing remote, links that do not open but say where they would lead.

import DOMPurify from 'dompurify';
import { Marked, type Tokens } from 'marked';

const TAGS = [
  'p',
  'br',
  'hr',
  'em',
  'strong',
  'del',
  'code',
  'pre',
  'blockquote',
  'ul',
  'ol',
  'li',
  'h3',
  'h4',
  'h5',
  'h6',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
  'span',
];
/** Characters that turn the direction of text or take no width: shown by their names. */
const HIDDEN = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
// Between these two a name stands while Markdown is read; neither can come from outside.
const OPEN = '\ue000';
const CLOSE = '\ue001';
const SHORT_CODE = 32;
const NAMED = /\ue000(U\+[0-9A-F]+)\ue001/g;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escape(text: string): string {
  return text.replace(NAMED, '[$1]').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

function hostOf(address: string): string {
  try {
    const url = new URL(address);
    return url.host || url.protocol;
  } catch {
    return address;
  }
}

const reader = new Marked({ gfm: true, breaks: false });
reader.use({
  renderer: {
    // The page has its own headings above: a message begins below them.
    heading({ tokens, depth }: Tokens.Heading) {
      const level = Math.min(6, depth + 2);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    code({ text }: Tokens.Code) {
      return `<pre><code>${escape(text)}</code></pre>`;
    },
    // A short piece of code is never broken at a hyphen.
    codespan({ text }: Tokens.Codespan) {
      return `<code${text.length <= SHORT_CODE ? ' class="short"' : ''}>${escape(text)}</code>`;
    },
    link({ href, tokens }: Tokens.Link) {
      const text = this.parser.parseInline(tokens);
      const host = escape(hostOf(href));
      const said = text.includes(host) ? '' : ` <span class="host">${host}</span>`;
      return `<span class="link" title="${escape(href)}">${text}${said}</span>`;
    },
    image({ href, text }: Tokens.Image) {
      return `<span class="link" title="${escape(href)}">image: ${escape(text || hostOf(href))}</span>`;
    },
    html({ text }: Tokens.HTML | Tokens.Tag) {
      return escape(text);
    },
    checkbox({ checked }: Tokens.Checkbox) {
      return checked ? '☑ ' : '☐ ';
    },
  },
});

function clean(html: string) {
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ['class', 'title', 'start'],
    ALLOW_DATA_ATTR: false,
    RETURN_TRUSTED_TYPE: true,
  });
}

/** HTML that was cleaned; of the trusted type where the window asks for one. */
type CleanHtml = ReturnType<typeof clean>;

/** Cache of rendered blocks, by their Markdown: while a message grows, only its last block is parsed anew. */
const made = new Map<string, CleanHtml>();
const MADE_MAX = 2_000;

/** Renders Markdown as blocks of HTML that may be put into the page, in order. */
export function toBlocks(markdown: string): CleanHtml[] {
  const text = markdown
    .replace(/[\ue000\ue001]/g, '')
    .replace(
      HIDDEN,
      (character) => `${OPEN}U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}${CLOSE}`,
    );
  const tokens = reader.lexer(text);
  return tokens.flatMap((token) => {
    if (token.type === 'space' || token.type === 'def') return [];
    // A link by reference depends on more than its own text.
    const own = Object.keys(tokens.links).length === 0;
    const known = own ? made.get(token.raw) : undefined;
    if (known !== undefined) return [known];
    const html = clean(reader.parser([token]).replace(NAMED, '<span class="ctl">$1</span>'));
    if (made.size >= MADE_MAX) made.clear();
    if (own) made.set(token.raw, html);
    return [html];
  });
}
