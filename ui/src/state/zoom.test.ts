// The size of the page: by keys and in the settings, between 50 and 200 percent, kept for the next start.

import { fireEvent, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { click, openApp, text } from '../app/app_page';
import { FakeHost } from '../ipc/fake';

const press = (key: string) => fireEvent.keyDown(document.body, { key, ctrlKey: true });

test('keys draw the page larger, smaller, and at its usual size', async () => {
  const host = new FakeHost();
  await openApp(host);
  await press('+');
  await waitFor(() => expect(host.zoom).toBe(1.1));
  await press('=');
  await waitFor(() => expect(host.zoom).toBe(1.25));
  await press('-');
  await waitFor(() => expect(host.zoom).toBe(1.1));
  await press('0');
  await waitFor(() => expect(host.zoom).toBe(1));
});

test('the size ends at 50 and 200 percent, and is kept for the next start', async () => {
  const host = new FakeHost();
  const desk = await openApp(host);
  await desk.zoom.set(500);
  expect([host.zoom, desk.zoom.percent]).toEqual([2, 200]);
  await desk.zoom.step(1);
  expect(desk.zoom.percent).toBe(200);
  await desk.zoom.set(0);
  await desk.zoom.step(-1);
  expect([host.zoom, desk.zoom.percent]).toEqual([0.5, 50]);
  await desk.zoom.set(150);
  const later = new FakeHost();
  await openApp(later);
  await waitFor(() => expect(later.zoom).toBe(1.5));
});

test('two quick presses are two steps', async () => {
  const host = new FakeHost();
  const desk = await openApp(host);
  await Promise.all([desk.zoom.step(1), desk.zoom.step(1)]);
  expect([host.zoom, desk.zoom.percent]).toEqual([1.25, 125]);
});

test('what is kept and is no size is the usual one', async () => {
  localStorage.setItem('zoom', 'large');
  const desk = await openApp(new FakeHost());
  expect(desk.zoom.percent).toBe(100);
});

test('the settings show the size and change it', async () => {
  const host = new FakeHost();
  await openApp(host);
  await click('rail-settings');
  await click('section-appearance');
  expect(text('zoom')).toBe('100 %');
  await click('zoom-in');
  await waitFor(() => expect(text('zoom')).toBe('110 %'));
  expect(host.zoom).toBe(1.1);
});
