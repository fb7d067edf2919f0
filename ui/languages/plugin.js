// Puts the catalogue in place of the strings, in the window and in the tests.

import { wuchale } from 'wuchale/vite';
import { findComplete } from './catalogues.js';
import { followLanguage } from './lazy.js';

/** Module that tells which catalogues are complete. */
const COMPLETE = 'virtual:languages';

/** Plugins of the build. Only the server of a person at work writes new strings into the catalogues. */
export function languages() {
  const catalogue = wuchale();
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
      name: 'languages-follow',
      enforce: 'pre',
      transform: {
        filter: { id: /\/src\/.*\.ts$/ },
        handler: (code, id) => (code.includes('_w_runtime_') ? followLanguage(code, id) : null),
      },
    },
  ];
}
