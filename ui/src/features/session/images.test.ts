// Images with a message: pasted, dropped or chosen, checked, removed again, sent, kept when refused, and shown in the
// transcript.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import { findSeriousFaults } from '../../testing/accessibility';
import { at, focused, openApp } from '../../app/app_page';
import { IMAGES_MAX, IMAGE_BYTES_MAX } from './images.svelte';
import { Refused } from '../../ipc/desk';
import { FakeHost } from '../../ipc/fake';
import type { Desk } from '../../state/desk.svelte';

const PNG = '\x89PNG\r\n\x1a\n';

const box = () => at('composer') as HTMLTextAreaElement;
const type = (value: string) => fireEvent.input(box(), { target: { value } });
const names = () => [...document.querySelectorAll('[data-testid="images"] .name')].map((name) => name.textContent);
const leftOut = () => screen.queryByTestId('images-left-out')?.textContent?.replace(/\s+/g, ' ').trim();
const said = (host: FakeHost) => host.ops.filter((op) => op.type === 'say');

function file(name: string, start = PNG, length = start.length): File {
  const bytes = new Uint8Array(length);
  bytes.set([...start].map((letter) => letter.charCodeAt(0)));
  // The declared type of a file does not count.
  return new File([bytes], name, { type: 'application/octet-stream' });
}
const paste = (files: File[], text = '') => fireEvent.paste(box(), { clipboardData: { files, getData: () => text } });
const drop = (files: File[], types = ['Files']) => fireEvent.drop(box(), { dataTransfer: { files, types } });
const choose = (files: File[]) => fireEvent.change(at('image-files'), { target: { files } });

async function open(): Promise<{ host: FakeHost; desk: Desk }> {
  const host = new FakeHost();
  for (const session of ['s', 'other']) {
    host.emit(session, {
      type: 'session_opened',
      title: session,
      workspace: '/w',
      model: { provider: 'demo', model: '' },
    });
  }
  const desk = await openApp(host);
  desk.navigation.show('s');
  await screen.findByTestId('composer');
  return { host, desk };
}

test('images are pasted, dropped and chosen, stand above the text with name and size, and go with the message', async () => {
  const { host } = await open();
  await paste([file('one.png')]);
  await waitFor(() => expect(names()).toEqual(['one.png']));
  expect(focused()).toBe('composer');
  expect(at('live').textContent).toBe('1 image with the message.');
  await fireEvent.dragOver(box(), { dataTransfer: { files: [], types: ['Files'] } });
  expect(screen.getByText('Drop images to send them, or files of the folder to name them')).toBeTruthy();
  await drop([file('two.gif', 'GIF89a', 6_800), file('three.webp', 'RIFF....WEBP')]);
  expect(screen.queryByText('Drop images to send them, or files of the folder to name them')).toBeNull();
  const opened = vi.spyOn(at('image-files'), 'click');
  await fireEvent.click(screen.getByRole('button', { name: 'Add an image' }));
  expect(opened).toHaveBeenCalledOnce();
  await choose([file('four.jpg', '\xff\xd8\xff')]);
  await waitFor(() => expect(names()).toEqual(['one.png', 'two.gif', 'three.webp', 'four.jpg']));
  expect(at('images').textContent).toContain('6.8 kB');
  expect(screen.queryByTestId('images-left-out')).toBeNull();
  expect(await findSeriousFaults()).toEqual([]);

  await type('What is on these?');
  await fireEvent.click(at('send'));
  await waitFor(() => expect(said(host)).toHaveLength(1));
  expect(said(host)[0]).toMatchObject({ session: 's', text: 'What is on these?' });
  expect(
    said(host)[0]?.images?.map((image) => image.type === 'image' && [image.mime, atob(image.base64).slice(0, 6)]),
  ).toEqual([
    ['image/png', PNG.slice(0, 6)],
    ['image/gif', 'GIF89a'],
    ['image/webp', 'RIFF..'],
    ['image/jpeg', '\xff\xd8\xff'],
  ]);
  expect([box().value, names()]).toEqual(['', []]);

  const shown = await screen.findByRole('list', { name: 'Images of the message' });
  expect(shown.querySelectorAll('[role="img"]')).toHaveLength(4);
  expect(host.queries('call_events')).toHaveLength(1);
  expect(shown.closest('[role="group"]')?.textContent).toContain('with 4 images');
  expect(await findSeriousFaults()).toEqual([]);
});

test('an image may go without words, also one that is still being read', async () => {
  const { host } = await open();
  expect(at('send').getAttribute('aria-disabled')).toBe('true');
  await fireEvent.click(at('send'));
  await paste([file('one.png')]);
  await fireEvent.keyDown(box(), { key: 'Enter' });
  await waitFor(() => expect(said(host)).toMatchObject([{ text: '', images: [{ mime: 'image/png' }] }]));
  expect(document.querySelector('.said')).toBeNull();
});

test('an image is taken out again, and the focus stays near it', async () => {
  await open();
  await choose(['a.png', 'b.png', 'c.png'].map((name) => file(name)));
  await waitFor(() => expect(names()).toEqual(['a.png', 'b.png', 'c.png']));
  await fireEvent.click(screen.getByRole('button', { name: 'Remove b.png' }));
  await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Remove c.png'));
  await fireEvent.click(screen.getByRole('button', { name: 'Remove c.png' }));
  await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Remove a.png'));
  await fireEvent.click(screen.getByRole('button', { name: 'Remove a.png' }));
  await waitFor(() => expect(focused()).toBe('composer'));
  expect(screen.queryByTestId('images')).toBeNull();
});

test('what cannot go is said beside the box; the text and the other images stay', async () => {
  const { host } = await open();
  await type('Look');
  const large = file('large.png', PNG, IMAGE_BYTES_MAX + 1);
  await choose([
    file('notes.pdf', '%PDF-1.7'),
    file('page.svg', '<svg/>'),
    file('most.png', PNG, IMAGE_BYTES_MAX),
    large,
  ]);
  expect((await screen.findByTestId('images-left-out')).getAttribute('role')).toBe('alert');
  expect(names()).toEqual(['most.png']);
  expect(leftOut()).toBe(
    'notes.pdf and 1 more were not added: only PNG, JPEG, GIF and WebP images, and files of the folder, can go with a message.large.png (3.8 MB) was not added: an image may have at most 3.75 MB.',
  );
  expect(await findSeriousFaults()).toEqual([]);
  await fireEvent.click(at('images-aside'));
  expect(screen.queryByTestId('images-left-out')).toBeNull();

  vi.spyOn(globalThis, 'createImageBitmap').mockRejectedValueOnce(new Error('damaged'));
  await choose([file('damaged.png')]);
  await waitFor(() => expect(leftOut()).toBe('damaged.png was not added: no image could be read from there.'));

  await choose(Array.from({ length: IMAGES_MAX + 1 }, (_, n) => file(`${n}.png`)));
  await waitFor(() => expect(leftOut()).toBe('19.png and 1 more were not added: a message takes at most 20 images.'));
  expect(names()).toHaveLength(IMAGES_MAX);
  expect(box().value).toBe('Look');
  expect(host.ops).toEqual([]);
});

test('a message that is refused keeps its text and its images, also when another session is looked at by then', async () => {
  const { host, desk } = await open();
  const refused = new Refused({
    message: 'Image 1 of the message is too large.',
    hint: 'Give a smaller one.',
    context: [],
  });
  const refuse = vi.spyOn(host, 'submit').mockRejectedValueOnce(refused);
  await choose([file('one.png')]);
  await type('Look');
  await waitFor(() => expect(names()).toEqual(['one.png']));
  await fireEvent.click(at('send'));
  await screen.findByText('Image 1 of the message is too large.');
  expect([box().value, names()]).toEqual(['Look', ['one.png']]);

  let no: (thrown: Refused) => void = () => {};
  refuse.mockImplementationOnce(() => new Promise((_, failed) => (no = failed)));
  await fireEvent.click(at('send'));
  await waitFor(() => expect(names()).toEqual([]));
  desk.navigation.show('other');
  await waitFor(() => expect(box().value).toBe(''));
  await type('Something else');
  no(refused);
  await waitFor(() => expect(desk.toasts.lines.length).toBeGreaterThan(0));
  expect([box().value, names()]).toEqual(['Something else', []]);
  desk.navigation.show('s');
  await waitFor(() => expect([box().value, names()]).toEqual(['Look', ['one.png']]));
});

test('text is pasted and dragged as before', async () => {
  await open();
  expect(await paste([file('table.png')], 'a\tb'), 'a table has a picture of itself beside it').toBe(true);
  expect(await drop([], ['text/plain'])).toBe(true);
  expect(names()).toEqual([]);
});

test('images that cannot be loaded keep their place and say so', async () => {
  const { host } = await open();
  vi.spyOn(host, 'query').mockRejectedValue(new Refused({ message: 'Gone.', hint: '', context: [] }));
  host.emit('s', {
    type: 'person_said',
    message: 'm',
    text: 'Look',
    images: [{ type: 'image', mime: 'image/png', base64: '' }],
    steering: false,
  });
  expect(await screen.findByRole('img', { name: 'Image 1 of 1, which could not be loaded' })).toBeTruthy();
});
