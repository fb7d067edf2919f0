import { describe, expect, it } from 'vitest';
import type { CallView, FileDiff } from '../ipc/bindings';
import { openableFiles } from './openable';

const file = (path: string, more: Partial<FileDiff> = {}): FileDiff => ({
  path,
  exists: true,
  language: '',
  added: 1,
  removed: 0,
  hunks: [{ id: 0, old_start: 3, new_start: 4, section: '', added: 1, removed: 0, lines: [] }],
  ...more,
});
const call = (more: Partial<CallView>): CallView =>
  ({ kind: 'execute', target: 'ls', preview: { type: 'nothing' }, ...more }) as CallView;

describe('the files of a call', () => {
  it('are those of its difference, each at its first change, without those that go', () => {
    const files = [file('a.rs'), file('b.rs', { gone: true }), file('c.rs', { hunks: [] })];
    const preview = { type: 'diff', files } as CallView['preview'];
    expect(openableFiles(call({ kind: 'edit', preview }))).toEqual([{ path: 'a.rs', line: 4 }, { path: 'c.rs' }]);
  });

  it('are what a reading call reads, and none of a command that changes nothing', () => {
    expect(openableFiles(call({ kind: 'read', target: 'src/a.rs' }))).toEqual([{ path: 'src/a.rs' }]);
    expect(openableFiles(call({}))).toEqual([]);
  });
});
