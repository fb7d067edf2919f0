// The briefing of a session on a recorded engine: its parts, their origin, and their text on demand.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { findSeriousFaults } from '../../testing/accessibility';
import { at, click, openApp, text } from '../../app/app_page';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { FakeHost } from '../../ipc/fake';
import { parseStream } from '../../ipc/fake_streams';

async function open(prepare: (host: FakeHost) => void = () => {}): Promise<FakeHost> {
  const host = new FakeHost(parseStream(sample));
  prepare(host);
  await openApp(host);
  await click('rail-session-ses_0006');
  await click('toggle-briefing');
  await screen.findByTestId('briefing-whole');
  return host;
}

test('all of it is told with its length and what was left out', async () => {
  const host = await open();
  expect(host.queries('briefing')).toEqual([{ type: 'briefing', workspace: '/home/mira/code/tidemark' }]);
  expect(text('briefing')).toContain('36 kB, about 9.1 k tokens');
  expect(text('briefing-fault')).toContain('it has no description');
  const files = screen
    .getAllByTestId('instructions')
    .map((part) => (part.textContent ?? '').replace(/\s+/g, ' ').trim());
  expect(files).toEqual([
    'AGENTS.md4.1 kB ~/code/tidemark/AGENTS.md',
    'AGENTS.mdcut29 kB ~/code/tidemark/crates/parser/AGENTS.md',
  ]);
  expect(await findSeriousFaults()).toEqual([]);
});

test('a text is read when it is asked for, hidden characters named; what an author would allow grants nothing', async () => {
  const host = await open();
  expect(host.queries('briefing_text')).toEqual([]);
  await click('skill-release');
  await waitFor(() => expect(text('part-text')).toContain('Steps of release.'));
  const skill = screen.getAllByTestId('skill')[0]?.textContent ?? '';
  expect(skill).toContain('That grants nothing');
  expect(skill).toContain('git 2.40 or newer');
  expect(skill).toContain('scripts/split.py');
  await click('skill-release');
  const [, inner] = screen.getAllByTestId('instructions-AGENTS.md');
  if (inner) await fireEvent.click(inner);
  await waitFor(() => expect(text('part-text')).toContain('U+200B'));
  expect(host.queries('briefing_text').map((query) => (query.type === 'briefing_text' ? query.of : null))).toEqual([
    { type: 'skill', name: 'release' },
    { type: 'instructions', file: '/home/mira/code/tidemark/crates/parser/AGENTS.md' },
  ]);
  await click('agent-reviewer');
  await click('agent-general');
  expect(
    screen
      .getAllByTestId('agent')
      .map((part) => (part.textContent ?? '').replace(/\s+/g, ' '))
      .join(),
  ).toMatch(/all of its caller’s, and never more.*read grep glob as far as its caller has them/);
  expect(await findSeriousFaults()).toEqual([]);
});

test('it gives way to the inspector, is there again after the settings, closes with Escape, and is found in the palette', async () => {
  await open();
  await click('rail-settings');
  await screen.findByTestId('settings');
  expect(screen.queryByTestId('briefing')).toBeNull();
  await click('settings-back');
  await screen.findByTestId('briefing');
  await fireEvent.keyDown(at('panel'), { key: 'Escape' });
  await waitFor(() => expect(screen.queryByTestId('briefing')).toBeNull());
  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  await fireEvent.input(at('palette-input'), { target: { value: 'briefing' } });
  await fireEvent.keyDown(at('palette-input'), { key: 'Enter' });
  await screen.findByTestId('briefing');
  await click('toggle-inspector');
  await waitFor(() => expect(screen.queryByTestId('briefing')).toBeNull());
  expect(at('toggle-inspector').getAttribute('aria-pressed')).toBe('true');
});

test('of ten thousand skills only the first stand in the page, and the filter finds the others', async () => {
  await open((host) => {
    const one = host.briefing.skills[1];
    host.briefing = {
      ...host.briefing,
      instructions: [],
      skills: one
        ? Array.from({ length: 10_000 }, (_, i) => ({ ...one, name: `s${i}`, file: `/s/${i}/SKILL.md` }))
        : [],
    };
  });
  expect(screen.getAllByTestId('skill').length).toBe(50);
  expect(text('briefing')).toContain('An AGENTS.md in the folder would be told');
  await fireEvent.input(at('briefing-filter'), { target: { value: 's9876' } });
  expect(screen.getAllByTestId('skill').length).toBe(1);
});

test('nothing at all is told with what would be there', async () => {
  await open(
    (host) => (host.briefing = { instructions: [], skills: [], agents: [], bytes: 900, tokens: 225, faults: [] }),
  );
  expect(text('briefing')).toContain('A folder with a SKILL.md');
});
