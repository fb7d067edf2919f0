// Behaviour that must not depend on the words of a language, in German.

import { render } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallView, Effect, Preview } from '../ipc/bindings';
import { noWords } from '../domain/approvals/words';
import { treeOf } from '../domain/approvals/effects/tree';
import { backtestLine } from '../domain/backtest';
import { rowName } from '../domain/approvals/effects/words';
import { coverWords } from '../features/history/acts';
import { verdictWords } from '../features/inspector/trail';
import { notesOf } from '../features/rules/lines';
import { Finding, Part } from '../features/settings/finding.svelte';
import { whenWords } from '../features/settings/programs';
import { settingsSections } from '../features/settings/sections';
import SchemaRows from '../features/tools/SchemaRows.svelte';
import { typeWords } from '../features/tools/rows';
import { Refused } from '../ipc/desk';
import { groupSessions } from '../state/session_groups';
import { briefDuration, briefWhen } from '../widgets/figures';
import { chooseLanguage } from './language.svelte';

beforeEach(() => chooseLanguage('de'));
afterEach(async () => {
  await chooseLanguage('en');
  localStorage.removeItem('language');
});

test('the second answer is named by what is asked, whatever the engine calls it', () => {
  const named = (preview: Partial<Preview>) => noWords({ preview } as CallView);
  expect([named({ type: 'nothing' }), named({ type: 'plan' }), named({ type: 'form' })]).toEqual([
    'Ablehnen',
    'Weiter planen',
    'Überspringen',
  ]);
});

test('the alternatives of a type are each told once, and an object without members is known', () => {
  const schema = { anyOf: [{ type: ['string', 'null'] }, { type: 'null' }, { type: 'boolean' }] };
  expect(typeWords(schema, schema)).toBe('Text, nichts oder ja oder nein');
  const { container } = render(SchemaRows, { title: 'Ein', schema: { type: 'object' }, testid: 'rows' });
  expect(container.querySelector('.line')?.textContent).toBe('Keine Eigenschaften.');
});

test('sentences of a backtest and a verdict are whole', () => {
  const changed = [{ from: 'ask', to: 'allow', calls: 41, by_person_allowed: 38, by_person_rejected: 3 } as const];
  expect(backtestLine({ calls: 1_000, changed, examples: [], unclear: [], took_us: 1 })).toBe(
    'Hätte erlaubt: 41 von den letzten 1.000; 3 davon von Ihnen abgelehnt.',
  );
  const always = { permission: 'bash', pattern: 'cargo update*', lasts: 'session' };
  const view = { state: 'done', decision: { at: 0, decision: { type: 'allow', always } } } as unknown as CallView;
  expect(verdictWords(view)).toMatch(
    /^Um \d\d:00:00 von Ihnen erlaubt, dazu `bash cargo update\*` für diese Sitzung\.$/,
  );
});

test('nouns keep their capitals within a line', () => {
  expect(whenWords(['before', 'after'])).toBe('vor einem Aufruf und nach einem Aufruf');
});

test('a length has no part that is nothing, and the time of today stands by itself', () => {
  expect([5_000, 1_500, 120_000, 200_000, 7_200_000].map(briefDuration)).toEqual([
    '5 s',
    '1,5 s',
    '2 min',
    '3 min 20 s',
    '2 h',
  ]);
  const noon = new Date(2026, 10, 27, 12, 0).getTime();
  expect(briefWhen(noon, noon + 60_000)).toBe('12:00');
});

test('a setting is found by its German and by its English words', () => {
  const section = settingsSections.find(({ id }) => id === 'appearance');
  const finds = (text: string) => {
    const finding = new Finding();
    finding.text = text;
    return new Part(finding, null, () => [section?.title ?? '', section?.words ?? '']).whole;
  };
  expect(['farben', 'colours', 'appearance', 'keychain'].map(finds)).toEqual([true, true, true, false]);
});

test('an example of a rule, and what is left out of a change, are told in whole sentences', () => {
  const example = { line: 1, text: 'ls', should_match: false, note: '', holds: false };
  expect(notesOf({ fault: null, warnings: [], examples: [example] } as never)[0]?.text).toBe('`ls` soll nicht passen.');
  expect(coverWords(2, 1, true)).toBe('Rückgängig zu machen: 2 Änderungen und weitere, 1 schon rückgängig gemacht.');
  const effect = { path: 'b', kind: 'renamed', from: 'a' } as Effect;
  expect(rowName(effect)).toBe('b, umbenannt, vorher a');
});

test('keys and names of the code are no strings for people', () => {
  const changes = Array.from({ length: 40 }, (_, id) => ({
    id,
    path: `f${id}`,
    kind: id === 0 ? 'deleted' : 'changed',
  }));
  const { rows } = treeOf(changes as never, new Set());
  expect(rows.filter((row) => 'text' in row).map(({ key }) => key)).toEqual(['heading:lost', 'heading:rest']);
  const session = { id: 'a', workspace: '/w', place: 'recent', state: 'done', waiting: 0 } as never;
  const view = { filter: '', byFolder: true, archive: false };
  expect(groupSessions([session], null, view, () => '').map(({ id }) => id)).toEqual(['folder:/w']);
  expect(new Refused({ message: 'Nein.', hint: '', context: [] }).name).toBe('Error');
});
