// The settings of the whole app in a page for tests.

import { screen } from '@testing-library/svelte';
import { at, click, openApp } from '../../app/app_page';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { FakeHost } from '../../ipc/fake';
import { parseStream } from '../../ipc/fake_streams';
import type { Desk } from '../../state/desk.svelte';
import type { SettingsSection } from '../../state/view';

/** Opens the app at a section of the settings, as by the rail and the index. */
export async function openSettings(
  section: SettingsSection,
  host: FakeHost = new FakeHost(parseStream(sample)),
): Promise<Desk> {
  const desk = await openApp(host);
  await click('rail-settings');
  await click(`section-${section}`);
  await screen.findByTestId(`settings-${section}`);
  return desk;
}

/** The test ids of the sections that are visible. */
export const sectionsShown = (): (string | undefined)[] =>
  [...at('settings').querySelectorAll<HTMLElement>('section:not([hidden])')].map((one) => one.dataset['testid']);
