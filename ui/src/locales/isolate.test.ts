// What others wrote, within a sentence that runs from the right.

import { render } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { list } from '../widgets/figures';
import Inline from '../widgets/Inline.svelte';
import { named, nameOf } from '../widgets/shown';
import Shown from '../widgets/Shown.svelte';
import { chooseLanguage } from './language.svelte';
import { fillIsolated, isolate } from './isolate';
import { getRuntime, showCatalogue } from './main.loader.svelte';

const START = '\u2068';
const END = '\u2069';

beforeEach(() => chooseLanguage('ar'));
afterEach(async () => {
  await chooseLanguage('en');
  localStorage.removeItem('language');
});

/** A catalogue of one message. */
const show = (language: string, ...parts: (string | number)[]) =>
  showCatalogue({ c: [parts], p: undefined } as never, language);

test('a value of an Arabic sentence is isolated from it, and one of an English sentence is not', () => {
  show('ar', 'في ', 0, '، سطر ', 1, '.');
  expect(named(getRuntime()(0, ['/tmp/.env', 7]))).toBe(`في ${START}/tmp/.env${END}، سطر 7.`);
  show('en', 'in ', 0, ', line ', 1, '.');
  expect(getRuntime()(0, ['/tmp/.env', 7])).toBe('in /tmp/.env, line 7.');
});

test('a part of a message with markup is filled like the whole of one', () => {
  expect(named(getRuntime().x([3, 'من ', 0] as never, ['.git']))).toBe(`من ${START}.git${END}`);
});

test('isolates stand in what is drawn and in labels, and those of somebody else by their names', () => {
  const foreign = `a${START}b${END}`;
  const marked = `a${nameOf(START)}b${nameOf(END)}`;
  expect(named(`لا ${String(isolate(foreign))}`)).toBe(`لا ${START}${marked}${END}`);
  for (const text of [foreign, `لا ${String(isolate(foreign))}`]) {
    const { container, unmount } = render(Shown, { text });
    expect([...container.querySelectorAll('.ctl')].map((chip) => chip.textContent)).toEqual(['U+2068', 'U+2069']);
    expect(container.textContent).toContain(marked);
    unmount();
  }
});

test('code within a sentence is drawn letter for letter', () => {
  const text = fillIsolated(['شغّل `', 0, '` في ', 1, '.'], ['cargo test', '~/a']);
  const { container } = render(Inline, { text });
  expect(container.querySelector('code')?.textContent).toBe('cargo test');
  expect(container.textContent).toBe(`شغّل cargo test في ${START}~/a${END}.`);
});

test('what a list names keeps its own direction', () => {
  expect(named(list(['.env', '/tmp']))).toBe(`${START}.env${END} و${START}/tmp${END}`);
});
