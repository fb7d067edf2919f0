// Hostile text in every field that an agent, a server or a file can fill, and what of it the page must not hold.

import { HIDDEN } from '../widgets/shown';

/** Fields that others fill with text. */
const FOREIGN = new Set(
  (
    'title target text path lead otherwise reasoning description label header question reason note notes hint message ' +
    'section workspace folder place host host_name url server server_name summary before after why detail snippet file ' +
    'user_facing_name command program args line content output stdout stderr old_string new_string value arguments'
  ).split(' '),
);
/** Members whose texts are parts that the engine has marked already. */
const MARKED = new Set(['parts', 'spans']);

/** Fills every field of foreign text within a value with more text. */
export function spoil<T>(value: T, text: string, field = ''): T {
  if (typeof value === 'string') return (FOREIGN.has(field) && value !== '' ? `${value}${text}` : value) as T;
  if (Array.isArray(value)) return value.map((item) => spoil(item, text, field)) as T;
  if (typeof value !== 'object' || value === null || 'control' in value) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      // The message of a fault has a hint beside it; elsewhere it is an id.
      const kept = MARKED.has(name) || (name === 'message' && !('hint' in value));
      return [name, kept ? member : spoil(member, text, field === 'arguments' ? field : name)];
    }),
  ) as T;
}

/** Blanks that prose keeps, and what makes a character an emoji. */
// eslint-disable-next-line no-misleading-character-class -- to find just those
const PROSE = /[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000\ufe00-\ufe0f]/g;
/** Attributes that a person sees or hears. */
const SHOWN = new Set(['title', 'alt', 'placeholder', 'label', 'aria-label', 'aria-description', 'aria-valuetext']);
/** Elements that load, run or navigate. */
const ACTIVE = 'script, iframe, object, embed, img, video, audio, link, meta, base, a[href], [action], [srcdoc]';

/** What a page holds and must not: active elements, handlers, and characters that hide or reorder text. */
export function findInterpreted(): string[] {
  const all = [...document.body.querySelectorAll('*')];
  const active = [...document.body.querySelectorAll(ACTIVE)].map((element) => `active: ${element.outerHTML}`);
  const attributes = all.flatMap((element) =>
    [...element.attributes].flatMap(({ name, value }) => {
      if (name.startsWith('on')) return [`handler: ${name}=${value} in ${element.tagName}`];
      return SHOWN.has(name) && hides(value) ? [`hidden in ${name} of ${describe(element)}: ${escape(value)}`] : [];
    }),
  );
  const texts: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent ?? '';
    const hidden = walker.currentNode.parentElement?.closest('.prose') ? text.replace(PROSE, '') : text;
    if (hides(hidden))
      texts.push(`hidden in the text of ${describe(walker.currentNode.parentElement)}: ${escape(text)}`);
  }
  const title = hides(document.title) ? [`hidden in the title of the window: ${escape(document.title)}`] : [];
  return [...new Set([...active, ...attributes, ...texts, ...title])];
}

const hides = (text: string): boolean => text.search(HIDDEN) >= 0;
const escape = (text: string): string => JSON.stringify(text.slice(0, 60));
function describe(element: Element | null): string {
  const near = element?.closest('[data-testid]')?.getAttribute('data-testid');
  return `${element?.tagName.toLowerCase()}.${element?.classList[0] ?? ''} (${near})`;
}
