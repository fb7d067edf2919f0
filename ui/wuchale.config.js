// Which strings of the sources belong into the catalogue, and where the catalogues are. See docs/translations.md.

import { adapter as svelte } from '@wuchale/svelte';
import { defineConfig } from 'wuchale';
import { adapter as script } from 'wuchale/adapter-vanilla';
import { isMessage } from './languages/messages.js';

/** What people never read: tests, the gallery, recorded engines, drawings, and what is generated. */
const ignore = [
  'src/gallery/**',
  'src/testing/**',
  'src/ipc/bindings/**',
  'src/ipc/fake*',
  'src/locales/**',
  'src/widgets/icons.ts',
  'src/widgets/code/grammars.ts',
  '**/*.test.ts',
  '**/*_page.ts',
  '**/*.d.ts',
];

const shared = {
  heuristic: (message) => (isMessage(message) ? 'message' : false),
  loader: 'custom',
  patterns: [
    { name: 'plural', args: ['other', 'message', 'pluralFunc'] },
    { name: 'msg', args: ['message'] },
  ],
  // The runtime asks the catalogue that is shown at every call: one for each component or module is enough.
};

export default defineConfig({
  locales: ['en', 'de', 'ar'],
  // Nothing is translated by a service: the catalogues are written by people.
  ai: null,
  hmr: true,
  logLevel: 'warn',
  adapters: {
    main: svelte({
      ...shared,
      files: { include: ['src/**/*.svelte'], ignore },
      runtime: { initReactive: ({ funcName }) => (funcName == null ? false : null), useReactive: false },
    }),
    script: script({
      ...shared,
      files: { include: ['src/**/*.ts'], ignore },
      // `languages/lazy.js` gives a module its runtime.
      runtime: { initReactive: () => null, useReactive: false },
    }),
  },
});
