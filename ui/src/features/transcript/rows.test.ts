// Which entries stand as messages, lines and cards.

import { expect, test } from 'vitest';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { FakeHost } from '../../ipc/fake';
import { parseStream } from '../../ipc/fake_streams';
import { isCall } from '../../state/fold';
import { foldRuns, runWords } from './call_runs';
import { rowsOf } from './rows';

async function rows(
  session: string,
  opened: string[] = [],
  working: Record<string, string[]> = {},
  grouped: string[] = [],
): Promise<string[]> {
  const host = new FakeHost(parseStream(sample));
  const page = await host.query({ type: 'transcript', session, before: null, limit: 1_000 });
  const { sessions } = await host.snapshot();
  const tasks = new Map(
    Object.entries(working).map(([call, ids]) => [
      call,
      ids.flatMap((id) => sessions.find((one) => one.id === id) ?? []),
    ]),
  );
  const [first, ...rest] = page.entries.filter(isCall).filter(({ id }) => grouped.includes(id));
  return rowsOf(page.entries, new Set(opened), tasks, first ? [[first, ...rest]] : []).map((row) => {
    if (row.kind === 'sub_agent_task') return `task ${row.session.id}`;
    if (row.kind === 'run') return row.key;
    if (row.kind === 'group') return `group ${row.members.map(({ id }) => id).join(' ')}`;
    const call = row.entry.body.type === 'call' ? ` ${row.entry.body.tool}` : '';
    const ends = row.kind === 'line' ? `${row.first ? ' first' : ''}${row.last ? ' last' : ''}` : '';
    return `${row.kind}${call}${ends}`;
  });
}

test('a run of settled calls is one list; what waits is a card', async () => {
  expect(await rows('ses_0004')).toEqual([
    'message',
    'message',
    'line read first',
    'line read',
    'line read',
    'line edit',
    'line write last',
    'message',
    'card bash',
  ]);
});

test('a failed call stays open', async () => {
  expect(await rows('ses_0003')).toEqual([
    'message',
    'message',
    'line read first',
    'line read',
    'line read last',
    'card bash',
    'message',
    'card delete_path',
  ]);
});

test('a call that the person opened parts its list', async () => {
  expect((await rows('ses_0004', ['call_0011'])).slice(2, 7)).toEqual([
    'line read first last',
    'card read',
    'line read first',
    'line edit',
    'line write last',
  ]);
});

test('the work for a call stands below it, and parts its list', async () => {
  expect((await rows('ses_0004', [], { call_0011: ['ses_0002', 'ses_0003'] })).slice(2, 9)).toEqual([
    'line read first',
    'line read last',
    'task ses_0002',
    'task ses_0003',
    'line read first',
    'line edit',
    'line write last',
  ]);
});

test('calls that are asked about at once stand on one card, at the place of the first', async () => {
  expect((await rows('ses_0004', [], {}, ['call_0011', 'call_0013'])).slice(2, 6)).toEqual([
    'line read first last',
    'group call_0011 call_0013',
    'line read first',
    'line write last',
  ]);
});

test('finished quiet calls are one line where calls are folded, which unfolds; all others stay', async () => {
  const host = new FakeHost(parseStream(sample));
  const page = await host.query({ type: 'transcript', session: 'ses_0004', before: null, limit: 1_000 });
  const fold = (unfolded: string[], opened: string[] = []) =>
    foldRuns(rowsOf(page.entries, new Set(opened)), new Set(unfolded)).map((row) => {
      const ends = 'first' in row ? `${row.first ? ' first' : ''}${row.last ? ' last' : ''}` : '';
      return `${row.kind}${row.kind === 'run' ? ` ${runWords(row.members)}` : ''}${ends}`;
    });
  expect(fold([])).toEqual([
    'message',
    'message',
    'run 4 calls: 3 reads, 1 edit first',
    'line last',
    'message',
    'card',
  ]);
  expect(fold(['call_0011']).slice(2, 8)).toEqual([
    'run 4 calls: 3 reads, 1 edit first',
    'line',
    'line',
    'line',
    'line',
    'line last',
  ]);
  expect(fold([], ['call_0011']).slice(2, 6)).toEqual([
    'line first last',
    'card',
    'run 2 calls: 1 read, 1 edit first',
    'line last',
  ]);
});
