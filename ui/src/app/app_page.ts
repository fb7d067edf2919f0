// The whole app in a page for tests, its parts by their test ids, and what the accessibility rules find in it.

import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import axe from 'axe-core';
import { afterEach, beforeAll } from 'vitest';
import type { FakeHost } from '../ipc/fake';
import { Desk } from '../state/desk.svelte';
import App from './App.svelte';
import { loadAll } from './routes.svelte';

beforeAll(loadAll);
afterEach(cleanup);

/** Opens the app on a host. */
export async function openApp(host: FakeHost): Promise<Desk> {
  const desk = await Desk.open(host);
  render(App, { desk });
  return desk;
}
export const at = (id: string): HTMLElement => screen.getByTestId(id);
export const click = (id: string): Promise<boolean> => fireEvent.click(at(id));
export const type = (id: string, value: string): Promise<boolean> => fireEvent.input(at(id), { target: { value } });
/** The text of an element, with every run of white space as one space. */
export const text = (id: string): string => (at(id).textContent ?? '').replace(/\s+/g, ' ').trim();
/** The test id of what has the focus, or of what is around it. */
export const focused = (): string | null | undefined =>
  document.activeElement?.closest('[data-testid]')?.getAttribute('data-testid');

/** All findings of the accessibility rules. Contrast needs a real page; the tokens have their own figures. */
async function violations(root: Element) {
  const result = await axe.run(root, { rules: { 'color-contrast': { enabled: false }, region: { enabled: false } } });
  return result.violations;
}
type Violation = Awaited<ReturnType<typeof violations>>[number];
const named = (all: Violation[]): string[] =>
  all.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}`));

/** All findings in an element, as "rule: element". */
export const allFindings = async (root: Element): Promise<string[]> => named(await violations(root));
/** Serious and critical findings in the page, as "rule: element". */
export async function findings(): Promise<string[]> {
  const all = await violations(document.body);
  return named(all.filter(({ impact }) => impact === 'serious' || impact === 'critical'));
}
