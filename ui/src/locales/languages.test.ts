// The languages: complete or not offered, shown at once, and nothing outside of the catalogue.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cleanup, screen, waitFor } from '@testing-library/svelte';
import { tick, unmount } from 'svelte';
import type { CompiledElement } from 'wuchale';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { findComplete, findMissing, readCatalogue, readSources } from '../../languages/catalogues';
import { loadAll } from '../app/routes.svelte';
import { pages } from '../gallery/pages';
import { list, plural } from '../widgets/figures';
import * as english from './.wuchale/main.main.en.compiled.js';
import { isolate } from './isolate';
import { applyLanguage, chooseLanguage, offeredLanguages, shownLanguage } from './language.svelte';
import { showCatalogue } from './main.loader.svelte';

await loadAll();

/** A catalogue entry with every text of it marked: ⟦so⟧. */
function marked(entry: CompiledElement): CompiledElement {
  if (typeof entry === 'string') return `⟦${entry}⟧`;
  if (!Array.isArray(entry)) return entry;
  return entry.map((part) => (typeof part === 'number' ? part : marked(part as CompiledElement))) as CompiledElement;
}
const pseudo = { c: english.c.map(marked), p: english.p };

afterEach(async () => {
  cleanup();
  showCatalogue(english, 'en');
  localStorage.removeItem('language');
  await applyLanguage();
});

describe('catalogues', () => {
  const placeholders = (text: string) => (text.match(/\{\d+\}|<\/?\d+\/?>|^#|(?<= )#/g) ?? []).toSorted();

  test('every language lacks nothing, and is offered', () => {
    expect({ de: findMissing('de'), ar: findMissing('ar') }).toEqual({ de: [], ar: [] });
    expect(findComplete()).toEqual(['en', 'de', 'ar']);
    expect(offeredLanguages.map(({ id }) => id)).toEqual(findComplete());
  });

  test.each(['de', 'ar'])('%s: what is translated has the placeholders of the English, and its outer spaces', (of) => {
    const broken = readCatalogue(of)
      .filter(({ msgid_plural }) => !msgid_plural)
      .flatMap(({ msgid, msgstr: [text = ''] }) =>
        text !== '' &&
        (placeholders(text).join() !== placeholders(msgid).join() ||
          /^\s/.test(text) !== /^\s/.test(msgid) ||
          /\s$/.test(text) !== /\s$/.test(msgid))
          ? [msgid]
          : [],
      );
    expect(broken).toEqual([]);
  });

  test.each(['de', 'ar'])('%s: every entry is used by a source, and is in the English catalogue', (of) => {
    const known = new Set(readCatalogue('en').map(({ msgid }) => msgid));
    expect(readCatalogue(of).filter(({ msgid, references }) => !known.has(msgid) || references.length === 0)).toEqual(
      [],
    );
    expect(readCatalogue(of)).toHaveLength(known.size);
  });

  test('the English catalogue has every string of the sources; else run `npm run languages`', async () => {
    const known = new Set(readCatalogue('en').map(({ msgid }) => msgid));
    const used = await readSources();
    expect(used.size).toBeGreaterThan(1_000);
    expect([...used].filter((text) => !known.has(text))).toEqual([]);
  });
});

describe('change', () => {
  test('the language and its direction change at once, and are kept', async () => {
    await chooseLanguage('ar');
    expect([document.documentElement.lang, document.documentElement.dir]).toEqual(['ar', 'rtl']);
    expect(localStorage.getItem('language')).toBe('ar');
    expect([shownLanguage(), list(['a', 'b'])]).toEqual(['ar', `${isolate('a')} و${isolate('b')}`]);
    await chooseLanguage('en');
    expect([shownLanguage(), list(['a', 'b'])]).toEqual(['en', 'a and b']);
    expect([document.documentElement.lang, document.documentElement.dir]).toEqual(['en', 'ltr']);
  });

  test('the language of the system is shown if it is offered, and English otherwise', async () => {
    for (const [tags, shown] of [
      [['fr-FR', 'de-AT', 'en'], 'de'],
      [['c'], 'en'],
      [[], 'en'],
    ] as const) {
      vi.spyOn(navigator, 'languages', 'get').mockReturnValue(tags);
      await chooseLanguage('system');
      expect(document.documentElement.lang).toBe(shown);
    }
    await chooseLanguage('en');
  });

  test('a page that is drawn follows the catalogue without being drawn anew', async () => {
    const target = document.body.appendChild(document.createElement('div'));
    const settings = pages.find(({ id }) => id.includes('settings-appearance'));
    const drawn = settings?.draw(target, 'light') ?? {};
    const theme = await screen.findByTestId('set-theme');
    await waitFor(() => expect(theme.textContent).toContain('Light'));
    showCatalogue(pseudo, 'en');
    await tick();
    expect(theme.isConnected).toBe(true);
    expect(theme.textContent).toContain('⟦Light⟧');
    await unmount(drawn);
    target.remove();
  });

  test('nouns take the forms of the language', () => {
    const arabic = (value: number) => (value === 2 ? 1 : 0);
    expect(plural(2, ['one', 'two of #'], arabic)).toBe('two of 2');
  });
});

/** What the gallery and the recorded engines say: not ours to translate. */
const src = resolve(import.meta.dirname, '..');
const recorded = ['gallery', 'ipc', 'testing']
  .flatMap((folder) =>
    readdirSync(join(src, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|svelte)$/.test(name) && !name.startsWith('bindings'))
      .map((name) => readFileSync(join(src, folder, name), 'utf8')),
  )
  .concat(readFileSync(join(src, '../../tests/golden/sample.jsonl'), 'utf8'))
  .join('\n')
  .replaceAll(/\\'/g, "'")
  .toLowerCase();
/** Letter for letter, whoever wrote it. */
const VERBATIM = 'code, pre, kbd, samp, .mono, .path, .output, .diff, .prose, script, style, [lang="en"]:not(html)';
const TEXT_ATTRIBUTES = ['aria-label', 'title', 'placeholder', 'alt'];
/** Figures with their units, and days: the engine of the browser writes them in the language. */
const FIGURE = /(?<!\p{L})[+−-]?\d[\d.,:]*(?:\s?(?:[kMG]?B|[kM]|[mµ]?s|min|h|px|%))?(?![\p{L}\d])/gu;
const DAY = /\d+ (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?: \d{4})?|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b/g;
/** What a page shows besides: initials, keys, rules as a file has them, and a call by its title and target. */
const DATA = /^\p{Lu}{2}$|^(?:(?:Ctrl|Alt|Meta) )+\S$|^Issue 482$|^Send message$|^(?:bash|fs\.read) /u;
/** Languages as they name themselves. */
const names: readonly string[] = offeredLanguages.map(({ name }) => name);

/** Returns what stands outside of the marks of the catalogue, which may lie within one another. */
function unmarked(text: string): string[] {
  const rest = text.replaceAll(/⟦[^⟦⟧]*⟧/g, '\n');
  // A string with `code` in it is drawn in parts: the mark begins in one and ends in another.
  return rest === text ? text.replace(/⟦[^⟦⟧]*$|^[^⟦⟧]*⟧/g, '\n').split('\n') : unmarked(rest);
}

/** Finds words in a page that came neither out of the catalogue nor from a recorded engine. */
function findStrays(root: Element): string[] {
  const texts: string[] = [];
  for (const element of root.querySelectorAll('*')) {
    if (element.closest(VERBATIM)) continue;
    for (const name of TEXT_ATTRIBUTES) texts.push(element.getAttribute(name) ?? '');
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) texts.push(node.textContent ?? '');
  }
  return texts
    .flatMap(unmarked)
    .flatMap((text) => text.split(/[·:,;()“”/]|\. /))
    .map((text) => text.trim().replace(/[.…]$/, ''))
    .filter(
      (text) =>
        /\p{L}{2,}/u.test(text.replaceAll(DAY, '').replaceAll(FIGURE, '')) &&
        !DATA.test(text) &&
        !names.includes(text) &&
        !recorded.includes(text.toLowerCase()),
    );
}

test('a string outside of the catalogue is found', () => {
  const page = document.body.appendChild(document.createElement('div'));
  page.innerHTML =
    '<p title="A plain title">⟦Translated⟧ <b>A plain string</b> <i>3 plain strings</i> <u>3 Nov 12:04</u> <u>8.4 s</u><code>cargo test</code></p>';
  expect(findStrays(page)).toEqual(['A plain title', 'A plain string', '3 plain strings']);
  page.remove();
});

const screens = pages.filter(({ id }) => id.startsWith('screen-'));
test.each(screens.map((page) => [page.id, page] as const))(
  '%s: every string is out of the catalogue',
  async (_, page) => {
    showCatalogue(pseudo, 'en');
    const target = document.body.appendChild(document.createElement('div'));
    const drawn = page.draw(target, 'light');
    await waitFor(() => expect(target.querySelector('main')?.textContent?.trim()).toBeTruthy());
    const strays = findStrays(target);
    await unmount(drawn);
    target.remove();
    expect(strays).toEqual([]);
  },
);
