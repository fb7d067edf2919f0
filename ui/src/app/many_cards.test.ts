// The Desk with more cards than anybody answers at once.

import { fireEvent, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, test } from 'vitest';
import { SampleHost } from '../gallery/host';
import { samples } from '../gallery/samples';
import { Desk } from '../state/desk.svelte';
import App from './App.svelte';
import { click, text } from './app_page';

/** Calls that wait, each in a folder of its own: no two stand on one card. */
const waiting = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    ...samples.hunks,
    id: `call_${i}`,
    seq: i + 1,
    body: { ...samples.hunks.body, target: `part_${i}/lib.rs` },
  }));
const drawn = () => document.querySelectorAll('[data-testid=desk-cards] [data-card]');

test('cards that wait are drawn page by page, and the keys find each of them', async () => {
  const desk = await Desk.open(new SampleHost(waiting(80)));
  desk.navigation.go('desk');
  render(App, { desk });
  await tick();
  expect(drawn()).toHaveLength(20);
  expect(text('more-cards')).toBe('Show 60 more cards');

  // The card with the focus and some after it are always drawn.
  const last = drawn()[19] as HTMLElement;
  last.focus();
  await tick();
  expect(drawn()).toHaveLength(30);
  await fireEvent.keyDown(last, { key: 'j' });
  await tick();
  expect(document.activeElement).toBe(drawn()[20]);
  await click('more-cards');
  expect(drawn()).toHaveLength(80);
});
