// Servers in words.

import { expect, test } from 'vitest';
import { serverTool, serverView } from '../../ipc/fake_servers';
import { claims } from '../../domain/tool_hints';
import { firstOf, fits, hostsWords, logText, plainOf, stateOf, toolsWords, waitingTools } from './words';

const transport = { type: 'http', url: 'https://x.example', headers: {} } as const;

test('a state is told, and what is being done before it', () => {
  expect(stateOf(serverView('a', transport)).text).toBe('Off');
  expect(stateOf(serverView('a', transport), 'on').text).toBe('Starting');
  expect(stateOf(serverView('a', transport, { state: { type: 'ready' } }), 'approve').text).toBe('Connected');
});

test('tools are counted by how they stand, and only what waits for a look is looked at', () => {
  const tools = [
    serverTool('a', ''),
    serverTool('b', '', {}, 'changed'),
    serverTool('c', '', {}, 'gone'),
    serverTool('d', '', {}, 'new'),
  ];
  expect(toolsWords(tools)).toBe('4 tools: 1 changed, 1 new, 1 gone');
  expect(toolsWords([])).toBe('no tools');
  const server = serverView('a', transport, { tools, pending_digest: 'd1' });
  expect(waitingTools(server).map((tool) => plainOf(tool.name))).toEqual(['b', 'd']);
  expect(waitingTools({ ...server, pending_digest: null })).toEqual([]);
});

test('what a server did not say of a tool is not claimed', () => {
  expect(claims({})).toEqual([]);
  expect(claims({ readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false })).toEqual([
    'changes nothing',
    'removes nothing',
    'twice is as once',
    'keeps to its own data',
  ]);
  expect(claims({ readOnlyHint: false, destructiveHint: true, openWorldHint: true })).toEqual([
    'changes things',
    'may remove things',
    'reaches beyond its own data',
  ]);
});

test('the first sentence keeps its hidden characters', () => {
  const spans = [
    { text: 'Reads a.b', control: false },
    { text: 'U+200B', control: true },
    { text: ' twice. Then more.', control: false },
    { text: 'U+200B', control: true },
  ];
  expect(plainOf(firstOf(spans))).toBe('Reads a.bU+200B twice.');
});

test('every word of a filter is wanted', () => {
  expect([fits(['read_file', 'Reads'], 'READ file'), fits(['read_file'], 'read write'), fits(['a'], ' ')]).toEqual([
    true,
    false,
    true,
  ]);
});

test('a log is copied line by line', () => {
  expect(logText([{ at_ms: 0, from: 'us', text: [{ text: 'Started', control: false }] }])).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}us {6}Started$/,
  );
});

test('hosts are named as a list is read, or said to be none', () => {
  expect(hostsWords([])).toBe('no host');
  expect(hostsWords(['a.example'])).toBe('a.example');
  expect(hostsWords(['a.example', 'b.example', 'c.example'])).toBe('a.example, b.example and c.example');
});
