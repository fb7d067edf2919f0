// Files in a message: named after an @, and dropped ones that stand in the folder.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { describe, expect, test, vi } from 'vitest';
import { at, focused, openApp } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import type { Desk } from '../../state/desk.svelte';
import { findSeriousFaults } from '../../testing/accessibility';
import { insertMention, mentionAt, withMention } from './mention';

const MODIFIED = 1_700_000_000_000;
const box = () => at('composer') as HTMLTextAreaElement;
const leftOut = () => screen.queryByTestId('images-left-out')?.textContent?.replace(/\s+/g, ' ').trim();

async function type(value: string): Promise<void> {
  box().value = value;
  box().setSelectionRange(value.length, value.length);
  await fireEvent.input(box());
}
async function open(): Promise<{ host: FakeHost; desk: Desk }> {
  const host = new FakeHost();
  host.files = [
    { path: 'src/lib.rs', bytes: 5, modified: MODIFIED },
    { path: 'src/main.rs', bytes: 6, modified: MODIFIED },
    { path: 'my notes.md', bytes: 7, modified: MODIFIED },
  ];
  for (const session of ['s', 'other']) {
    const model = { provider: 'agent', model: 'claude-code' };
    host.emit(session, { type: 'session_opened', title: session, workspace: '/w', model });
  }
  const desk = await openApp(host);
  desk.navigation.show('s');
  await screen.findByTestId('composer');
  return { host, desk };
}
const dropped = (name: string, bytes: number, modified = MODIFIED) =>
  new File([new Uint8Array(bytes)], name, { lastModified: modified });
const drop = (files: File[]) => fireEvent.drop(box(), { dataTransfer: { files, types: ['Files'] } });

describe('a file that is named', () => {
  test('is offered after an @, chosen by keys, and sent as text', async () => {
    const { host } = await open();
    await type('Look at @src');
    await screen.findByTestId('file-menu');
    expect(screen.getAllByRole('option').map((option) => option.textContent.trim())).toEqual([
      'src/lib.rs',
      'src/main.rs',
    ]);
    expect(await findSeriousFaults()).toEqual([]);
    await fireEvent.keyDown(box(), { key: 'ArrowDown' });
    expect(box().getAttribute('aria-activedescendant')).toBe(screen.getAllByRole('option')[1]?.id);
    await fireEvent.keyDown(box(), { key: 'Enter' });
    await waitFor(() => expect(box().value).toBe('Look at @src/main.rs '));
    expect(screen.queryByTestId('file-menu')).toBeNull();
    expect(host.ops, 'Enter chose, and sent nothing').toEqual([]);
    expect(focused()).toBe('composer');
    await fireEvent.keyDown(box(), { key: 'Enter' });
    await waitFor(() => expect(host.ops).toMatchObject([{ type: 'say', text: 'Look at @src/main.rs' }]));
  });

  test('is chosen by a click, and Escape leaves what was typed', async () => {
    await open();
    await type('@notes');
    await fireEvent.click(await screen.findByTestId('file-0'));
    await waitFor(() => expect(box().value).toBe('@"my notes.md" '));
    await type('@lib');
    await screen.findByTestId('file-menu');
    await fireEvent.keyDown(box(), { key: 'Escape' });
    expect(screen.queryByTestId('file-menu')).toBeNull();
    expect(box().value).toBe('@lib');
  });

  test('is none in an address of mail', async () => {
    const { host } = await open();
    await type('Write to mira@lib');
    await new Promise((done) => setTimeout(done, 120));
    expect(host.queries('file_names')).toEqual([]);
  });
});

describe('a file that is dropped', () => {
  test('is named where it stands in the folder, beside an image', async () => {
    const { host } = await open();
    await type('See');
    const image = new File([new Uint8Array([...'\x89PNG\r\n\x1a\n'].map((letter) => letter.charCodeAt(0)))], 'one.png');
    await drop([dropped('lib.rs', 5), image, dropped('my notes.md', 7)]);
    await waitFor(() => expect(box().value).toBe('See @src/lib.rs @"my notes.md" '));
    await waitFor(() => expect(screen.getByTestId('images').textContent).toContain('one.png'));
    expect(leftOut()).toBeUndefined();
    await fireEvent.keyDown(box(), { key: 'Enter' });
    await waitFor(() => expect(host.ops).toMatchObject([{ type: 'say', images: [{ mime: 'image/png' }] }]));
  });

  test('is refused in words where it is another one, or one of several', async () => {
    const { host } = await open();
    await drop([dropped('lib.rs', 5, MODIFIED + 1)]);
    await waitFor(() =>
      expect(leftOut()).toContain(
        'lib.rs was not added: only PNG, JPEG, GIF and WebP images, and files of the folder, can go',
      ),
    );
    expect(box().value).toBe('');
    host.files.push({ path: 'copy/lib.rs', bytes: 5, modified: MODIFIED });
    await drop([dropped('lib.rs', 5)]);
    await waitFor(() => expect(leftOut()).toContain('several files of the folder are just like it.'));
    expect(box().value).toBe('');
  });

  test('is named in the draft of its session where another one is opened meanwhile', async () => {
    const { host, desk } = await open();
    await type('See');
    let answer: (given: unknown) => void = () => undefined;
    vi.spyOn(host, 'query').mockReturnValueOnce(new Promise((done) => (answer = done)) as never);
    await drop([dropped('lib.rs', 5)]);
    await waitFor(() => expect(host.query).toHaveBeenCalled());
    desk.navigation.show('other');
    await waitFor(() => expect(box().value).toBe(''));
    answer({ type: 'dropped_file', paths: ['src/lib.rs'] });
    await waitFor(() => expect(host.query).toHaveResolved());
    desk.navigation.show('s');
    await waitFor(() => expect(box().value).toBe('See @src/lib.rs '));
  });

  test('stays with its session while another one is open', async () => {
    const { desk } = await open();
    await drop([dropped('lib.rs', 5)]);
    await waitFor(() => expect(box().value).toBe('@src/lib.rs '));
    desk.navigation.show('other');
    await waitFor(() => expect(box().value).toBe(''));
    desk.navigation.show('s');
    await waitFor(() => expect(box().value).toBe('@src/lib.rs '));
  });
});

describe('images', () => {
  test('are said to be left out or described before they are sent', async () => {
    const { host } = await open();
    const image = () => new File([new Uint8Array([...'GIF89a'].map((letter) => letter.charCodeAt(0)))], 'a.gif');
    host.imageSupport = 'left_out';
    await drop([image()]);
    expect((await screen.findByTestId('image-support')).textContent).toBe(
      'This agent takes no images. They are left out.',
    );
    host.imageSupport = 'shown';
    host.emit('s', { type: 'model_changed', model: { provider: 'openai', model: 'gpt-5' } });
    await waitFor(() => expect(screen.queryByTestId('image-support')).toBeNull());
  });
});

describe('the name at the caret', () => {
  test('begins at an @ that stands by itself', () => {
    const at = (text: string) => mentionAt({ text, caret: text.length });
    expect(at('@')).toEqual({ start: 0, end: 1, path: '' });
    expect(at('see (@src/l')).toEqual({ start: 5, end: 11, path: 'src/l' });
    for (const none of ['', 'a@b', '@a b', 'x', '@@']) expect(at(none), none).toBeNull();
    expect(mentionAt({ text: '@abc rest', caret: 2 })).toEqual({ start: 0, end: 2, path: 'a' });
  });

  test('is replaced, and the rest of the text stays', () => {
    const typed = { text: 'see @li then go', caret: 7 };
    const mention = mentionAt(typed);
    expect(mention && withMention(typed, mention, 'src/lib.rs')).toEqual({
      text: 'see @src/lib.rs then go',
      caret: 16,
    });
    expect(insertMention({ text: 'see', caret: 3 }, 'a"b.md')).toEqual({ text: 'see @"a\\"b.md" ', caret: 15 });
    expect(insertMention({ text: '', caret: 0 }, 'a.md')).toEqual({ text: '@a.md ', caret: 6 });
  });
});
