// The whole app in a page for tests, and its parts by their test ids.

import { fireEvent, render, screen } from '@testing-library/svelte';
import type { FakeHost } from '../ipc/fake';
import { Desk } from '../state/desk.svelte';
import App from './App.svelte';
import { loadAll } from './routes.svelte';

await loadAll();

/** Opens the app on a host, all its parts loaded. */
export async function openApp(host: FakeHost, prepare: (desk: Desk) => void = () => {}): Promise<Desk> {
  const desk = await Desk.open(host);
  prepare(desk);
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
