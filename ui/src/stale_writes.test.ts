// No state is written back across a wait, anywhere in the store; and the check really finds such writes.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { staleWrites } from './stale_writes';

const root = join(import.meta.dirname, 'state');
const sources = readdirSync(root).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

test.each(sources)('%s writes nothing back across a wait', (name) => {
  expect(staleWrites(readFileSync(join(root, name), 'utf8'))).toEqual([]);
});

const inMethod = (body: string) => `class Desk { async go() { ${body} } }`;

test.each([
  ['the old state is an argument beside the wait', 'this.#state = healed(this.#state, await this.#host.snapshot());'],
  ['it is spread in front of the wait', 'this.#state = { ...this.#state, ...(await this.host.snapshot()) };'],
  ['it was put aside before', 'const before = this.#state; await this.submit(); this.#state = before;'],
  [
    'a part of it was put aside',
    'const { settings } = this.#state; const receipt = await this.submit(); if (!receipt) this.#state = { ...this.#state, settings };',
  ],
  [
    'it went through another name',
    'const before = this.#state; const pages = before.pages; await this.submit(); this.#state = { ...this.#state, pages };',
  ],
  [
    'it was asked for by a method',
    'const page = this.page(id); await this.submit(); this.#state = withPage(this.#state, page);',
  ],
  ['it is added to', 'this.count += await this.more();'],
  [
    'what waits is a function of its own',
    'const before = this.#state; this.host.ask().then(() => { this.#state = before; });',
  ],
])('found: %s', (_, body) => expect(staleWrites(inMethod(body))).toHaveLength(1));

test.each([
  [
    'the state is read after the wait',
    'const snapshot = await this.#host.snapshot(); this.#state = healed(this.#state, snapshot);',
  ],
  [
    'what is written is the answer itself',
    'const { events } = await this.host.query(this.question); this.events = events;',
  ],
  ['the answer alone is waited for in the assignment', 'this.reply = await this.host.query(question);'],
  [
    'what was put aside is only compared',
    'const asked = ++this.asked; const reply = await this.ask(); if (asked === this.asked) this.reply = reply;',
  ],
  ['nothing waits', 'const before = this.#state; this.#state = reduce(before, events);'],
])('not found: %s', (_, body) => expect(staleWrites(inMethod(body))).toEqual([]));
