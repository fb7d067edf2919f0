// Every component of ours, and those that no page of the gallery can show.

import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { MARKED } from './mount_marks';

const SOURCES = resolve(import.meta.dirname, '../src');

/** Components that stand on no page, each with the reason. */
export const NOT_SHOWN: Readonly<Record<string, string>> = {};

/** Returns the components in the marked folders, by their paths below `src`. */
export const listComponents = (): string[] =>
  MARKED.flatMap((folder) =>
    readdirSync(resolve(SOURCES, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.svelte'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
  );
