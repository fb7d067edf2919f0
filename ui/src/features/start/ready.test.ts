// The start's summary of providers, in one line each.

import { expect, test } from 'vitest';
import { emptySnapshot } from '../../ipc/fake_settings';
import { inShort, readyFirst } from './ready';

test.each([
  ['No key. Set the environment variable ANTHROPIC_API_KEY (The system keychain cannot be used here).', 'No key'],
  ['Not running at http://127.0.0.1:11434/. Start it with `ollama serve`.', 'Not running'],
  ['Key from the keychain; it travels unencrypted.', 'Key from the keychain'],
  ['Running.', 'Running'],
  ['key from ANTHROPIC_API_KEY', 'key from ANTHROPIC_API_KEY'],
  ['', ''],
])('%s', (note, short) => expect(inShort(note)).toBe(short));

test('those that can answer now come first', () => {
  expect(readyFirst(emptySnapshot().providers).map(({ id }) => id)).toEqual(['anthropic', 'ollama', 'demo', 'openai']);
});
