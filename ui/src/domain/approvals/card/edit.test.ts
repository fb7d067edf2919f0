// A waiting call's arguments edited by a person: the form, its JSON, and the decision sent (design/ui.md).

import { fireEvent, within } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import { samples } from '../../../gallery/samples';
import type { ToolView } from '../../../ipc/bindings';
import { toolView } from '../../../ipc/fake_tools';
import type { CallEntry } from '../../../state/desk.svelte';
import { pass } from '../../../testing/clock';
import { decisions, page, prepareCardPages } from './card_page';

prepareCardPages();

const textOf = (element: Element): string => (element.textContent ?? '').replace(/\s+/g, ' ').trim();

const takes = (properties: object, required: string[], aliases: ToolView['record']['identity']['aliases'] = []) => {
  const schema = { type: 'object', properties, required, additionalProperties: false };
  const tool = toolView('edit', 'Edit', '', schema);
  return [{ ...tool, record: { ...tool.record, identity: { ...tool.record.identity, aliases } } }];
};
const text = { type: 'string', minLength: 1 };
const call = (given: object): CallEntry => ({
  ...samples.edit,
  body: { ...samples.edit.body, call: { id: 'c_edit', name: 'edit', arguments: given as Record<string, unknown> } },
});
async function editor(entry: CallEntry, tools: ToolView[] = []) {
  const shown = await page(entry);
  shown.host.tools = tools;
  await shown.key('e');
  await pass(0);
  const at = (id: string) => within(shown.card).getByTestId(id) as HTMLInputElement;
  const write = async (id: string, value: string) => {
    await fireEvent.input(at(id), { target: { value } });
    await pass(300);
  };
  return { ...shown, at, write };
}

it('is a form of what the tool takes, its first field has the focus, and only what was changed differs', async () => {
  const given = { new_string: 'b\nb', path: 'a', old_string: 'a', replace_all: false, _reasoning: 'Why.' };
  const { host, card, at, write, key, click } = await editor(
    call(given),
    takes({ path: text, old_string: text, new_string: { type: 'string' }, replace_all: { type: 'boolean' } }, [
      'path',
      'old_string',
      'new_string',
    ]),
  );
  expect(document.activeElement).toBe(at('edit-field-path'));
  expect([...card.querySelectorAll('[data-testid="edit-fields"] .head')].map(textOf)).toEqual([
    'Path required',
    'Old string old_string required',
    'New string new_string required',
    'Replace all replace_all optional',
  ]);
  expect([at('edit-field-new_string').tagName, at('edit-field-new_string').value, at('edit-apply').disabled]).toEqual([
    'TEXTAREA',
    'b\nb',
    true,
  ]);
  // No key within the form is an answer.
  for (const one of ['y', 'n', 'Enter', ' ']) await key(one, at('edit-field-path'));
  await key('y', at('edit-field-replace_all-true'));
  expect(host.ops).toEqual([]);
  host.problems = ['`path` must not be empty', 'They do not fit together.'];
  await write('edit-field-path', '');
  expect([at('edit-bad-path').textContent, at('edit-problems').textContent?.trim(), at('edit-apply').disabled]).toEqual(
    ['Must not be empty.', 'They do not fit together.', true],
  );
  expect(at('edit-field-path').getAttribute('aria-invalid')).toBe('true');
  host.problems = [];
  await write('edit-field-path', 'c');
  await click('edit-apply');
  expect(decisions(host)).toEqual([{ type: 'edit', arguments: { ...given, path: 'c' } }]);
  const [decision] = decisions(host);
  expect(decision?.type === 'edit' && Object.keys(decision.arguments)).toEqual(Object.keys(given));
});
it('has the members under the names that the agent called them by', async () => {
  const { at, host, write, click } = await editor(
    {
      ...call({ old_text: 'a' }),
      body: {
        ...call({ old_text: 'a' }).body,
        call: { id: 'c_edit', name: 'edit_file', arguments: { old_text: 'a' } },
      },
    },
    takes({ old_string: text }, ['old_string'], [{ name: 'edit_file', arguments: [['old_text', 'old_string']] }]),
  );
  await write('edit-field-old_text', 'b');
  await click('edit-apply');
  expect(decisions(host)).toEqual([{ type: 'edit', arguments: { old_text: 'b' } }]);
  expect(at('edit-apply').disabled).toBe(true);
});
it.each([
  ['that the schema does not know', { path: 'a', more: 1 }],
  ['with a carriage return', { path: 'a\r\nb' }],
  ['of another type', { path: 1 }],
])('shows members %s as JSON, letter for letter', async (_, given) => {
  const { at } = await editor(call(given), takes({ path: text }, ['path']));
  expect(JSON.parse(at('edit-json').value)).toEqual(given);
});
it('keeps what was written when it is left with Esc', async () => {
  const { at, card, key, write } = await editor(call({ path: 'a' }), takes({ path: text }, ['path']));
  await write('edit-field-path', 'b');
  await key('Escape', at('edit-field-path'));
  expect([within(card).queryByTestId('edit'), document.activeElement]).toEqual([null, card]);
  await key('e');
  await pass(0);
  expect(at('edit-field-path').value).toBe('b');
});
it('turns to JSON and back', async () => {
  const { at, write, key, click, host } = await editor(call({ path: 'a' }), takes({ path: text }, ['path']));
  await click('edit-as-json');
  await write('edit-json', '{ "path": ');
  expect(at('edit-problems').textContent).toContain('This is not JSON');
  await key('y', at('edit-json'));
  await write('edit-json', '{ "path": "b" }');
  await click('edit-as-form');
  expect(at('edit-field-path').value).toBe('b');
  await pass(300);
  await click('edit-apply');
  expect(decisions(host)).toEqual([{ type: 'edit', arguments: { path: 'b' } }]);
});
it('is JSON where the tool is not known', async () => {
  const { at, host, write, click } = await editor(call({ path: 'a' }));
  host.problems = ['`old_string` is missing.'];
  await write('edit-json', '{ "path": "c" }');
  expect([at('edit-problems').textContent, at('edit-apply').disabled]).toEqual(['old_string is missing.', true]);
  host.problems = [];
  await write('edit-json', '{ "path": "d" }');
  await click('edit-apply');
  expect(decisions(host)).toEqual([{ type: 'edit', arguments: { path: 'd' } }]);
});
