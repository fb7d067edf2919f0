// Tools in words: groups, needs, origins, faults of files; the ten partitions with what was inferred.

import { describe, expect, test } from 'vitest';
import type { RequirementSet } from '../../ipc/bindings';
import { fakeTools } from '../../ipc/fake_tools';
import { partitions, saidWords } from './facts';
import { fileFaults, grouped, needs, originWords, summary } from './words';

const ids = (filter: string) =>
  grouped(fakeTools, filter).map((group) => [group.title, group.tools.map((tool) => tool.record.identity.tool_id)]);

describe('the list', () => {
  test('is grouped by where tools come from', () =>
    expect(ids('')).toEqual([
      ['Built in', ['read', 'edit', 'bash', 'question']],
      ['From files', ['sentiment']],
      ['From elsewhere', ['tracker__get_issue']],
    ]));
  test.each([
    ['EDIT_FILE', [['Built in', ['edit']]]],
    ['local command', [['Built in', ['bash']]]],
    ['setup', [['From elsewhere', ['tracker__get_issue']]]],
    ['deferred', [['From elsewhere', ['tracker__get_issue']]]],
    ['tools/sentiment', [['From files', ['sentiment']]]],
    ['nothing like it', []],
  ])('%s finds by id, alias, description, mode, mark and path', (filter, found) => expect(ids(filter)).toEqual(found));
  test('a summary is the first sentence', () =>
    expect(fakeTools.slice(0, 2).map(summary)).toEqual([
      'Reads a text file.',
      'Replaces an exact text in an existing file.',
    ]));
});

test.each<[RequirementSet, string[]]>([
  [{}, []],
  [
    { fs: { read: ['**'], write: ['out/**', 'tmp/*'] } },
    ['Reads any file of the folder', 'Creates, changes or removes out/** tmp/*'],
  ],
  [{ net: { hosts: ['*'] } }, ['Reaches any host']],
  [{ shell: [{ cmd: '*' }] }, ['Runs any command']],
  [
    {
      shell: [
        { cmd: 'git', args: ['status', { prefix: '--' }, { wildcard: true }] },
        { cmd: 'ls' },
        { cmd: 'pwd', args: [] },
      ],
    },
    ['Runs commands git status --… * ls … pwd'],
  ],
  [{ capabilities: ['clipboard'] }, ['Needs clipboard']],
])('what %j needs', (requires, lines) =>
  expect(needs(requires).map((need) => [need.text, ...need.codes].join(' '))).toEqual(lines),
);

test('where a tool comes from', () =>
  expect(
    [
      originWords({ type: 'built_in' }),
      originWords({ type: 'file', path: '/home/mira/tools/a.json' }),
      originWords({ type: 'file', path: '.countersign/tools/a.json' }),
      originWords({ type: 'foreign', source: 'x' }),
    ].map(({ text, code }) => `${text} ${code}`.trim()),
  ).toEqual([
    'Built in',
    'Your own file /home/mira/tools/a.json',
    'A file of the folder .countersign/tools/a.json',
    'Elsewhere x',
  ]));

test('a fault of a file is told with file, line and reason; others are not taken for one', () => {
  const fault = (message: string) => ({ message, hint: 'Correct it.', context: [] });
  expect(
    fileFaults([
      fault('.countersign/tools/a.json, line 3: `x`: no `_tool`.'),
      fault('/home/m/tools/b.json: too long'),
      fault('settings.toml, line 2: no such setting.'),
    ]),
  ).toEqual([
    { file: '.countersign/tools/a.json', line: 3, reason: '`x`: no `_tool`.', hint: 'Correct it.' },
    { file: '/home/m/tools/b.json', line: null, reason: 'too long', hint: 'Correct it.' },
  ]);
});

test('the interface has its ten partitions, every fact, and marks what was inferred', () => {
  const tracker = fakeTools.find((tool) => tool.record.identity.namespace === 'tracker');
  if (!tracker) throw new Error('no such tool');
  const all = partitions(tracker.record);
  expect(all.map((part) => [part.id, part.facts.length])).toEqual([
    ['identity', 6],
    ['discovery', 6],
    ['schemas', 4],
    ['availability', 5],
    ['validation', 4],
    ['safety', 9],
    ['permission', 4],
    ['execution', 6],
    ['result', 5],
    ['rendering', 6],
  ]);
  const facts = all.flatMap((part) => part.facts);
  expect(facts.filter((fact) => fact.inferred).map((fact) => fact.id)).toEqual(tracker.record.inferred);
  const shown = (id: string) => facts.find((fact) => fact.id === id)?.shown;
  expect([shown('execution.timeout_ms'), shown('schemas.runtime_input_schema'), shown('identity.native_ids')]).toEqual([
    { as: 'words', text: '2 min' },
    { as: 'words', text: '2 members, see Schema' },
    { as: 'code', items: ['mcp: get_issue'] },
  ]);
  expect(saidWords(tracker.record)).toBe(
    '51 of 55 facts were said; the rest was inferred, on the safe side. Countersign acts on 38; the 17 that are marked are for information only.',
  );
});
