// Setups of servers: lines split and joined, their problems, and values that look like a secret.

import { expect, test } from 'vitest';
import { draftOf, isBareSecret, joined, movedTo, problemsOf, secretName, secretOf, setupOf, wordsOf } from './setup';

test.each<[string, string[] | null]>([
  ['npx -y server /home/me', ['npx', '-y', 'server', '/home/me']],
  ['  a   b  ', ['a', 'b']],
  ['', []],
  ['a "b c" \'d "e"\'', ['a', 'b c', 'd "e"']],
  ['a "" \'\'', ['a', '', '']],
  ['a "b\\"c\\\\" d\\ e', ['a', 'b"c\\', 'd e']],
  ['C:\\Tools\\x.exe', ['C:\\Tools\\x.exe']],
  ['pre"fix and"more', ['prefix andmore']],
  ['a "b', null],
])('%s', (line, words) => expect(wordsOf(line)).toEqual(words));

test.each([[['npx']], [['a b', '', '"', "'", '\\', 'C:\\x', '${HOME}', 'é', '\t']]])('%j survives a line', (words) => {
  expect(wordsOf(joined(words))).toEqual(words);
});

test('a setup is the same after it was fields', () => {
  const transports = [
    { type: 'stdio', command: 'my tool', args: ['--a', ''], env: { A: 'keychain:a', B: '${B:-x}' }, folder: '/w' },
    { type: 'stdio', command: 'x', args: [], env: {}, folder: null },
    {
      type: 'stdio',
      command: 'x',
      args: [],
      env: {},
      folder: '/w/below',
      sandbox: { workspace: '/w', hosts: ['docs.rs', 'localhost:8080'] },
    },
    { type: 'stdio', command: 'x', args: [], env: {}, folder: null, sandbox: { workspace: '/w', hosts: [] } },
    { type: 'http', url: 'https://x.example/mcp', headers: { Authorization: 'keychain:t' } },
    { type: 'http', url: 'https://x.example/mcp', headers: {}, client: { id: 'a', secret: 'keychain:t' } },
    {
      type: 'http',
      url: 'https://x.example/mcp',
      headers: {},
      client: { id: 'https://a.example/client.json', secret: null },
    },
  ] as const;
  for (const transport of transports) {
    for (const audience of [{}, { audience: 'mine' }, { audience: 'others' }]) {
      const settings = structuredClone({
        id: 'one',
        transport,
        timeout_ms: 1_500,
        ...audience,
        enabled: true,
      }) as unknown as Parameters<typeof draftOf>[0] & object;
      expect(setupOf(draftOf(settings))).toEqual({ transport, timeout_ms: 1_500, ...audience });
    }
  }
});

const good = { ...draftOf(null), id: 'one', command: 'npx server' };
test.each<[string, Partial<typeof good>, object]>([
  ['nothing is wrong', {}, {}],
  ['an address', { as: 'http', url: 'http://127.0.0.1:80/mcp' }, {}],
  ['an address by reference', { as: 'http', url: '${MCP_URL}' }, {}],
  ['no name', { id: ' ' }, { id: 'Give it a short name.' }],
  ['a name with two lines', { id: 'a__b' }, { id: 'Use 1 to 32 letters, digits, - and single _ alone.' }],
  ['a name that ends with a line', { id: 'a_' }, { id: 'Use 1 to 32 letters, digits, - and single _ alone.' }],
  ['a name too long', { id: 'a'.repeat(33) }, { id: 'Use 1 to 32 letters, digits, - and single _ alone.' }],
  ['a name that is taken', { id: 'two' }, { id: '“two” is there already. Choose another name.' }],
  ['no program', { command: ' ' }, { command: 'Say which program to start.' }],
  ['an open quote', { command: 'a "b' }, { command: 'A quote is not closed.' }],
  ['a folder of nowhere', { folder: 'code' }, { folder: 'Write the whole path, or none for your home folder.' }],
  ['a sandbox of nowhere', { sandbox: 'code' }, { sandbox: 'Write the whole path, or none to run it as you.' }],
  ['a sandbox around everything', { sandbox: '/' }, { sandbox: 'Name the one folder that it may change.' }],
  ['a start in its sandbox', { sandbox: '/w', folder: '/w/below' }, {}],
  [
    'a start outside its sandbox',
    { sandbox: '/w', folder: '/www' },
    { folder: 'It starts outside its sandbox. Leave this empty: it then starts in the folder of its sandbox.' },
  ],
  ['no address', { as: 'http' }, { url: 'Say where it is reached.' }],
  ['another scheme', { as: 'http', url: 'ws://x' }, { url: 'Begin with http:// or https://.' }],
  [
    'no address at all',
    { as: 'http', url: 'http://' },
    { url: 'This is not an address. Write it like https://mcp.example.org/mcp.' },
  ],
  ['a value without a name', { env: [{ name: '', value: 'x' }] }, { pairs: 'A value has no name.' }],
  ['a variable with a space', { env: [{ name: 'A B', value: 'x' }] }, { pairs: '“A B” is not a variable name.' }],
  [
    'a header twice',
    {
      as: 'http',
      url: 'https://x.example',
      headers: [
        { name: 'X-A', value: '1' },
        { name: 'x-a', value: '2' },
      ],
    },
    { pairs: '“x-a” is there twice.' },
  ],
  [
    'a secret of no client',
    { as: 'http', url: 'https://x.example', clientSecret: '${S}' },
    { client: 'Write the id that the secret belongs to, or take out the secret.' },
  ],
  ['no time', { seconds: '' }, { seconds: 'Write seconds, 1 to 600.' }],
  ['too long a time', { seconds: '601' }, { seconds: 'Write seconds, 1 to 600.' }],
])('%s', (_, change, problems) => expect(problemsOf({ ...good, ...change }, ['two'])).toEqual(problems));

test.each<[string, string, boolean]>([
  ['GITHUB_TOKEN', 'ghp_1', true],
  ['Authorization', 'Bearer abc', true],
  ['API_KEY', '1', true],
  ['X', 'ghp_abcdef', true],
  ['GITHUB_TOKEN', '${GITHUB_TOKEN}', false],
  ['GITHUB_TOKEN', 'keychain:x', false],
  ['GITHUB_TOKEN', '', false],
  ['LOG_LEVEL', 'debug', false],
])('%s=%s', (name, value, bare) => expect(isBareSecret({ name, value })).toBe(bare));

test('references to the keychain', () => {
  expect([secretOf('keychain:a'), secretOf('keychain:'), secretOf('a')]).toEqual(['a', null, null]);
  expect(secretName('github', { name: 'TOKEN', value: '' })).toBe('github-TOKEN');
});

test('a program is moved into a sandbox and out of it', () => {
  const transport = { type: 'stdio', command: 'x', args: ['-a'], env: { A: '1' }, folder: '/home/me' } as const;
  const sandbox = { workspace: '/w', hosts: [] };
  const moved = movedTo({ ...transport, args: [...transport.args] }, sandbox);
  expect(moved).toEqual({ ...transport, folder: null, sandbox });
  expect(movedTo({ ...transport, args: [], folder: '/w/below' }, sandbox)).toMatchObject({
    folder: '/w/below',
    sandbox,
  });
  expect(movedTo({ ...transport, args: [], folder: null, sandbox }, null)).toEqual({
    ...transport,
    args: [],
    folder: null,
  });
});
