import { defineConfig } from 'vitest/config';
import { BROWSERS } from './browsers.ts';

// The pictures of the gallery: `cargo xtask gallery`. Apart from the other tests, because they need a browser.
export default defineConfig({
  root: import.meta.dirname,
  test: {
    environment: 'node',
    include: ['*.test.ts'],
    globalSetup: ['site.ts'],
    maxConcurrency: BROWSERS,
    // The pictures come first: both files would compete for the machine.
    fileParallelism: false,
    // A page may come late on a busy machine.
    retry: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
