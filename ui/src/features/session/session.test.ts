// Beginning a session with an agent of one's own, and closing one.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { describe, expect, test, vi } from 'vitest';
import { findSeriousFaults } from '../../testing/accessibility';
import { at, click, focused, openApp } from '../../app/app_page';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { Refused } from '../../ipc/desk';
import { FakeHost } from '../../ipc/fake';
import { briefed } from '../../ipc/fake_briefing';
import { parseStream } from '../../ipc/fake_streams';

const events = parseStream(sample);

async function open(host = new FakeHost(events)): Promise<{ host: FakeHost }> {
  await openApp(host);
  return { host };
}
const lastOp = (host: FakeHost) => host.ops.at(-1);

describe('a session of an agent with a manifest, and its end', () => {
  const file = '/home/mira/code/site/.countersign/agents/reader.toml';
  test('the start offers the manifests of the folder, and starts with the chosen one', async () => {
    const host = new FakeHost(events);
    host.briefing = {
      ...briefed,
      agents: [
        ...briefed.agents,
        { name: 'reader', description: 'Reads and reports.', source: 'project', file, tools: ['read'], model: '' },
      ],
    };
    await open(host);
    await click('rail-new');
    await screen.findByTestId('manifests');
    await click('manifest-menu');
    expect(screen.queryByText('reviewer'), 'an agent in Markdown starts no session').toBeNull();
    await click(`manifest-menu-${file}`);
    expect(at('manifests').textContent).toContain('tools: read');
    expect(await findSeriousFaults()).toEqual([]);
    await click('start-session');
    expect(lastOp(host)).toMatchObject({ type: 'open_session', agent: file });
  });

  test('the start asks for an output in a schema, and for a temperature, once that is unfolded', async () => {
    const { host } = await open();
    const given = (id: string, value: string) => fireEvent.input(at(id), { target: { value } });
    await click('rail-new');
    expect(screen.queryByTestId('output-schema')).toBeNull();
    await click('start-advanced');
    await given('output-schema', '{"type": "object"');
    await given('temperature', '3');
    expect(at('advanced').textContent).toContain('This is not JSON');
    expect(at('advanced').textContent).toContain('Write a number from 0 to 2');
    expect(await findSeriousFaults()).toEqual([]);
    await click('start-session');
    expect(host.ops).toEqual([]);
    await given('output-schema', '{"type": "object", "properties": {"a": {"type": "x"}}}');
    await given('temperature', '0.2');
    const message = 'The output schema is none: `/properties/a/type` is wrong.';
    vi.spyOn(host, 'submit').mockRejectedValueOnce(new Refused({ message, hint: 'Correct it.', context: [] }));
    await click('start-session');
    expect((await screen.findByTestId('advanced-refused')).textContent).toContain(
      '/properties/a/type is wrong. Correct it.',
    );
    await click('start-advanced');
    expect(screen.getByText('with an output schema, temperature 0.2')).toBeTruthy();
    await click('start-session');
    await waitFor(() =>
      expect(lastOp(host)).toMatchObject({
        type: 'open_session',
        output_schema: { type: 'object', properties: { a: { type: 'x' } } },
        temperature: 0.2,
      }),
    );
  });

  test('another folder has other agents', async () => {
    const host = new FakeHost(events);
    host.briefing = {
      ...briefed,
      agents: [{ name: 'reader', description: '', source: 'project', file, tools: null, model: '' }],
    };
    await open(host);
    await click('rail-new');
    await click((await screen.findByTestId('manifest-menu')).dataset['testid'] ?? '');
    await click(`manifest-menu-${file}`);
    host.briefing = { ...briefed, agents: [] };
    await click('choose-folder');
    await waitFor(() => expect(screen.queryByTestId('manifests')).toBeNull());
    await click('start-session');
    expect(lastOp(host)).not.toHaveProperty('agent');
  });

  test('closing asks once more, says what goes, and can be left', async () => {
    const { host } = await open();
    await click('rail-session-ses_0001');
    await click('session-more');
    await click('session-more-close');
    expect(at('close-session').textContent).toMatch(/Its\s+transcript and its undo history stay/);
    expect(focused()).toBe('close-keep');
    expect(await findSeriousFaults()).toEqual([]);
    await click('close-keep');
    expect(screen.queryByTestId('close-session')).toBeNull();
    expect(host.ops).toEqual([]);
    await click('session-more');
    await click('session-more-close');
    await click('close-now');
    expect(host.ops).toEqual([{ type: 'close_session', session: 'ses_0001' }]);
    await waitFor(() => expect(screen.queryByTestId('close-session')).toBeNull());
  });
});
