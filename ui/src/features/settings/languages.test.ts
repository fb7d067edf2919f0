// Language servers: the shown ones, and the settings that are saved.

import { describe, expect, test } from 'vitest';
import type { LanguageServerView } from '../../ipc/bindings';
import { noteOf, problemsOf, settingsOf, shownOf, switched, type Draft, type Problems } from './languages';

const view = (id: string, changes: Partial<LanguageServerView> = {}, enabled = false): LanguageServerView => ({
  settings: { id, enabled, command: id, args: [], files: { py: 'python' } },
  title: id,
  language: 'Python',
  runs: 'Runs Python.',
  own: false,
  found: null,
  ...changes,
});
const good: Draft = { command: 'kotlin-lsp', args: '--stdio', endings: 'kt', language: 'kotlin' };

test('those that are there come first, the others when they are asked for', () => {
  const all = [view('a'), view('b', { found: '/bin/b' }), view('c', {}, true), view('d', { own: true })];
  const names = (more: boolean) => shownOf(all, more).shown.map((one) => one.title);
  expect(names(false)).toEqual(['b', 'c', 'd']);
  expect(names(true)).toEqual(['b', 'c', 'd', 'a']);
  expect([shownOf(all, false).more, shownOf(all, true).more]).toEqual([1, 0]);
});

test('the note says where it is, and what it runs once it is on', () => {
  expect(noteOf(view('a'))).toBe('Python · a was not found');
  expect(noteOf(view('a', { found: '/bin/a' }))).toBe('Python · /bin/a');
  expect(noteOf(view('a', { found: '/bin/a' }, true))).toBe('Python · /bin/a · Runs Python.');
  expect(noteOf(view('a', {}, true))).toBe('Python · a was not found');
});

test('one that is offered is kept only while it is on; an own one stays where it is', () => {
  const own = view('mine', { own: true }, true);
  const offered = view('pyright', { found: '/bin/pyright' });
  const on = switched([own.settings], offered, true);
  expect(on).toEqual([own.settings, { ...offered.settings, enabled: true }]);
  expect(switched(on, offered, false)).toEqual([own.settings]);
  expect(switched(on, own, false)).toEqual([{ ...own.settings, enabled: false }, on[1]]);
});

describe('what is wrong', () => {
  test.each<[string, Partial<Draft>, Problems]>([
    ['nothing', {}, {}],
    ['a whole path', { command: '/opt/kotlin/bin/kotlin-lsp' }, {}],
    ['no program', { command: ' ' }, { command: 'Name its program, as it is on PATH, or its whole path.' }],
    [
      'a path within a folder',
      { command: './bin/lsp' },
      { command: 'A path has to be whole: what lies in a folder would be started.' },
    ],
    ['no ending', { endings: ' ' }, { endings: 'Name at least one ending of its files, such as kt.' }],
    ['an odd ending', { endings: 'd.ts' }, { endings: 'Write endings like kt, kts, without dots within.' }],
    ['no language', { language: '' }, { language: 'Name the language, such as kotlin.' }],
  ])('%s', (_, changes, problems) => expect(problemsOf({ ...good, ...changes })).toEqual(problems));
});

test('what is saved', () => {
  expect(settingsOf({ ...good, args: ' --stdio  -v', endings: '.KT, *.kts' }, ['kotlin-lsp'])).toEqual({
    id: 'kotlin-lsp-2',
    enabled: true,
    command: 'kotlin-lsp',
    args: ['--stdio', '-v'],
    files: { kt: 'kotlin', kts: 'kotlin' },
  });
  expect(settingsOf({ ...good, command: 'C:\\Tools\\My LSP.exe' }, []).id).toBe('my-lsp');
});
