// A long difference is drawn as far as it was seen.

import { cleanup, render } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { DiffLayout } from '../../ipc/bindings';
import { line } from '../../gallery/sample_diffs';
import Lines from './Lines.svelte';

type Tell = (changes: { isIntersecting: boolean }[]) => void;

/** What tells of each observed element that it came into view. */
let tells: Map<Element, Tell>;

beforeEach(() => {
  tells = new Map();
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      readonly #tell: Tell;
      constructor(tell: Tell) {
        this.#tell = tell;
      }
      observe(target: Element): void {
        tells.set(target, this.#tell);
      }
      disconnect(): void {}
    },
  );
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const lines = [
  ...Array.from({ length: 500 }, (_, i) => line('removed', i + 1, null, `old ${i + 1}`)),
  ...Array.from({ length: 500 }, (_, i) => line('added', null, i + 1, `new ${i + 1}`)),
];
function show(layout: DiffLayout): HTMLElement {
  return render(Lines, { lines, layout, parser: null, language: 'text', label: 'Hunk 1' }).container;
}
async function bringIntoView(element: Element | undefined): Promise<void> {
  if (!element) throw new Error('this stretch of the difference is missing');
  tells.get(element)?.([{ isIntersecting: true }]);
  await tick();
}
const rowsOf = (stretch: Element) => stretch.querySelectorAll('td.cd').length;
const undrawnRowsOf = (stretch: Element) =>
  stretch.querySelector<HTMLElement>('.undrawn')?.style.getPropertyValue('--rows');

it('draws the first rows at once, and keeps the height of those that follow', () => {
  const stretches = [...show('unified').querySelectorAll('tbody')];
  expect(stretches.map(rowsOf)).toEqual([200, 0, 0, 0, 0]);
  expect(stretches.map(undrawnRowsOf)).toEqual([undefined, '200', '200', '200', '200']);
});

it('draws the rows that come into view, and those after them', async () => {
  const container = show('unified');
  const stretches = [...container.querySelectorAll('tbody')];
  await bringIntoView(stretches[2]);
  expect(stretches.map(rowsOf)).toEqual([200, 0, 200, 200, 0]);
  expect(container.textContent).toContain('old 401');
  expect(container.textContent).toContain('new 1');
  expect(container.textContent).not.toContain('old 201');
  await bringIntoView(stretches[0]);
  expect(stretches.map(rowsOf)).toEqual([200, 200, 200, 200, 0]);
});

it('draws two columns in the same way', async () => {
  const stretches = [...show('split').querySelectorAll('tbody')];
  expect(stretches.map(rowsOf)).toEqual([400, 0, 0]);
  await bringIntoView(stretches[2]);
  expect(stretches.map(rowsOf)).toEqual([400, 0, 200]);
  expect(stretches[2]?.textContent).toContain('new 500');
});
