// The agent's words as safe HTML: no images, nothing remote, links that do not open but say where they would lead.

import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';
import { nameOf } from './shown';

const TAGS = [
  'p',
  'br',
  'hr',
  'em',
  'strong',
  'del',
  'code',
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
/**
 * Characters that turn the direction of text, take no width or move a cursor: shown by their names. In code every character
 * that cannot be seen is named, see `shown.ts`.
 */
const HIDDEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- to find just those
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ue000\ue001\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;
// Between these two a name stands while Markdown is read. Where they come from outside they are named themselves.
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

/** A part of a text: HTML that may be put into the page, code, or what holds parts of its own. */
export type Block =
  | { kind: 'html'; html: CleanHtml }
  /** `language` as the agent wrote it, empty for none; `text` letter for letter. */
  | { kind: 'code'; language: string; text: string }
  | { kind: 'quote'; blocks: readonly Block[] }
  /** `start` is the number of the first item; none for a list without numbers. */
  | { kind: 'list'; start: number | null; items: readonly (readonly Block[])[] };

/** Cache of blocks, by their Markdown: while a message grows, only its last block is made anew. */
const made = new Map<string, Block>();
const MADE_MAX = 2_000;

/** Reads Markdown as blocks, in order. Nothing in it can load, run or navigate. */
export function toBlocks(markdown: string): readonly Block[] {
  const tokens = reader.lexer(keepTabs(markdown.replace(HIDDEN, mark)));
  // A link by reference depends on more than its own text.
  const own = Object.keys(tokens.links).length === 0;
  return tokens.flatMap((token) => {
    if (isNothing(token)) return [];
    const known = own ? made.get(token.raw) : undefined;
    if (known !== undefined) return [known];
    const block = toBlock(token);
    if (made.size >= MADE_MAX) made.clear();
    if (own) made.set(token.raw, block);
    return [block];
  });
}

/** Only what holds a block of code is taken apart; everything else is HTML as a whole. */
function toBlock(token: Token): Block {
  if (isCode(token)) {
    return { kind: 'code', language: unmark(/^\S*/.exec(token.lang ?? '')?.[0] ?? ''), text: unmark(token.text) };
  }
  if (isQuote(token) && holdsCode(token)) return { kind: 'quote', blocks: partsOf(token.tokens) };
  if (isList(token) && holdsCode(token)) {
    const start = token.ordered ? Number(token.start) : null;
    return { kind: 'list', start, items: token.items.map((item) => partsOf(item.tokens)) };
  }
  return toHtml([token]);
}

/** The blocks of tokens; those between two that are taken apart are one. */
function partsOf(tokens: readonly Token[]): Block[] {
  const out: Block[] = [];
  let plain: Token[] = [];
  const flush = (): void => {
    if (plain.some((token) => !isNothing(token))) out.push(toHtml(plain));
    plain = [];
  };
  for (const token of tokens) {
    if (!holdsCode(token)) {
      plain.push(token);
      continue;
    }
    flush();
    out.push(toBlock(token));
  }
  flush();
  return out;
}

function toHtml(tokens: Token[]): Block {
  return { kind: 'html', html: clean(reader.parser(tokens).replace(NAMED, '<span class="ctl">$1</span>')) };
}

const isNothing = ({ type }: Token): boolean => type === 'space' || type === 'def';
const isCode = (token: Token): token is Tokens.Code => token.type === 'code';
const isQuote = (token: Token): token is Tokens.Blockquote => token.type === 'blockquote';
const isList = (token: Token): token is Tokens.List => token.type === 'list';

/** Tells whether a token is a block of code or holds one. */
function holdsCode(token: Token): boolean {
  if (isCode(token)) return true;
  if (isList(token)) return token.items.some(({ tokens }) => tokens.some(holdsCode));
  return isQuote(token) && token.tokens.some(holdsCode);
}

/** A hidden character as the mark that stands for it while Markdown is read. */
function mark(character: string): string {
  return `${OPEN}${nameOf(character)}${CLOSE}`;
}

/** A text with its hidden characters instead of their marks. */
function unmark(text: string): string {
  return text.replace(NAMED, (_, name: string) => String.fromCodePoint(Number.parseInt(name.slice(2), 16)));
}

const FENCE = /^((?:[ ]|[-*+>] |\d{1,9}[.)] )*)(`{3,}|~{3,})/;

/**
 * Marks the tabs of fenced code, which the reader would turn to spaces within a list. An indent up to that of the fence
 * belongs to the list and stays.
 */
function keepTabs(text: string): string {
  if (!text.includes('\t')) return text;
  let fence = '';
  let indent = 0;
  return text
    .split('\n')
    .map((line) => {
      const found = FENCE.exec(line);
      if (fence === '') {
        fence = found?.[2] ?? '';
        indent = found?.[1]?.length ?? 0;
        return line;
      }
      if (found?.[2]?.startsWith(fence) && line.slice(found[0].length).trim() === '') fence = '';
      return line.slice(0, indent).trim() === '' || indent === 0
        ? line.slice(0, indent) + line.slice(indent).replaceAll('\t', mark('\t'))
        : line;
    })
    .join('\n');
}
