// Puts the catalogue in place of the strings, in the window and in the tests.

import { join } from 'node:path';
import { wuchale } from 'wuchale/vite';
import { findComplete } from './catalogues.js';
import { followLanguage } from './lazy.js';

/** Module that tells which catalogues are complete. */
const COMPLETE = 'virtual:languages';
/** Component that wuchale puts in place of a message with markup in it, and ours around it. */
const FRAGMENTS = '@wuchale/svelte/runtime.svelte';
/** Where wuchale is set up, for whatever folder the build runs in. */
const CONFIG = join(import.meta.dirname, '../wuchale.config.js');
const MESSAGE = join(import.meta.dirname, '../src/locales/Message.svelte');

/** Plugins of the build. Only the server of a person at work writes new strings into the catalogues. */
export function languages() {
  const catalogue = wuchale({ configPath: CONFIG });
  return [
    {
      ...catalogue,
      configResolved: (config) =>
        catalogue.configResolved({ env: { DEV: config.command === 'serve' && !process.env.VITEST } }),
    },
    {
      name: 'languages-complete',
      resolveId: (id) => (id === COMPLETE ? `\0${COMPLETE}` : null),
      load: (id) =>
        id === `\0${COMPLETE}` ? `export const completeLanguages = ${JSON.stringify(findComplete())};` : null,
    },
    {
      name: 'languages-message',
      enforce: 'pre',
      resolveId: (id, importer) => (id === FRAGMENTS && importer?.split('?')[0] !== MESSAGE ? MESSAGE : null),
    },
    {
      name: 'languages-follow',
      enforce: 'pre',
      transform: {
        filter: { id: /\/src\/.*\.ts$/ },
        handler: (code, id) => (code.includes('_w_runtime_') ? followLanguage(code, id) : null),
      },
    },
  ];
}
