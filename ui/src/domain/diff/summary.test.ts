// The head of a hunk and the summary of a change, as they are drawn.

import { render, screen, within } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { changes, effectSamples } from '../../gallery/effect_samples';
import { jobs, query } from '../../gallery/sample_diffs';
import { samples } from '../../gallery/samples';
import type { FileDiff } from '../../ipc/bindings';
import { findFaults } from '../../testing/accessibility';
import { page, prepareCardPages } from '../approvals/card/card_page';
import Summary from './Summary.svelte';

prepareCardPages();

/** The lines of the summary. */
function lines(inside: HTMLElement = document.body): string[] {
  const items = within(within(inside).getByTestId('change-summary')).getAllByRole('listitem');
  return items.map((item) => (item.textContent ?? '').replace(/\s+/g, ' ').trim());
}

it('stands first in the body of a card, and its hunks say what they are in', async () => {
  const { card } = await page(samples.jobs);
  expect(lines(card)).toEqual([
    'jobs › 4711 “nightly-train”, 4712 “evaluate”, 4713 “U+202Etrain” and 6 more › status: running → cancelled',
    'jobs › 4714 “publish” added',
    'jobs › 4702 “build-docs” › retries removed: 3',
    'and 2 more changes',
  ]);
  const summary = within(card).getByTestId('change-summary');
  const hunk = within(card).getByTestId('hunk-0');
  expect(summary.compareDocumentPosition(hunk)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  expect(hunk.textContent).toContain('line 414 · jobs › 4711 “nightly-train” › status');
  expect(await findFaults(card)).toEqual([]);
});

it('stands before the command whose effects it sums up', async () => {
  const { card } = await page(effectSamples.effects);
  expect(lines(card)[0]).toBe('services/gateway/Cargo.toml dependencies › axum › version: 0.7.9 → 0.8.1');
  const end = within(card).getByTestId('effects-end');
  const summary = within(card).getByTestId('change-summary');
  expect(summary.compareDocumentPosition(end)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
});

it('names the file of each line, takes three lines of all, and counts the rest', () => {
  const diffs: FileDiff[] = changes.flatMap(({ diff }) => diff ?? []);
  render(Summary, { files: [...diffs, jobs] });
  expect(lines()).toEqual([
    'services/gateway/Cargo.toml dependencies › axum › version: 0.7.9 → 0.8.1',
    'services/gateway/Cargo.toml dependencies › axum-extra: 0.9.6 → 0.10.0',
    expect.stringMatching(/^state\/jobs\.json jobs › 4711/),
    'and 4 more changes',
  ]);
});

it('is not there where no file has one', () => {
  render(Summary, { files: [query] });
  expect(screen.queryByTestId('change-summary')).toBeNull();
});
