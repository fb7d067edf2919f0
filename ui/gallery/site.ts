// Builds the gallery and serves it on loopback, under the content security policy of the window, for all tests of a run.

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { preview } from 'vite';
import type { TestProject } from 'vitest/node';

const CONFIG = resolve(import.meta.dirname, 'vite.config.ts');
const VITE = resolve(import.meta.dirname, '../node_modules/vite/bin/vite.js');

declare module 'vitest' {
  interface ProvidedContext {
    /** Address that the gallery is served at. */
    gallery: string;
  }
}

/** Serves the gallery until the tests are over. */
export default async function serveGallery({ provide }: TestProject): Promise<() => Promise<void>> {
  // Apart from this process, which is one of Vitest: there, Svelte would be built for tests.
  const env = { ...process.env, NODE_ENV: 'production', VITEST: undefined };
  await promisify(execFile)(process.execPath, [VITE, 'build', '--config', CONFIG, '--logLevel', 'warn'], { env });
  const server = await preview({ configFile: CONFIG, logLevel: 'warn' });
  const address = server.resolvedUrls?.local[0];
  if (!address) throw new Error('The gallery is built, and Vite serves it at no address.');
  provide('gallery', address);
  return () => server.close();
}
