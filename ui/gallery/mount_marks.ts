// Puts a line into each component of ours that notes when it is mounted: in the build of the pictures, and in no other.

import { relative, resolve } from 'node:path';
import type { Plugin } from 'vite';

const SOURCES = resolve(import.meta.dirname, '../src');
const MOUNTED = resolve(SOURCES, 'gallery/mounted.ts');

/** Folders whose components are marked. */
export const MARKED = ['widgets', 'domain', 'features'] as const;
const COMPONENT = new RegExp(`/src/(?:${MARKED.join('|')})/[^?]*\\.svelte$`);

/** Where the script of a component begins, that of its module left out. What a type is of stands in quotes. */
const SCRIPT = /<script(?:\s+(?!module\b)[a-z]+(?:="[^"]*")?)*\s*>/;

/** Plugin that marks the components. */
export function markMounted(): Plugin {
  return {
    name: 'gallery-mount-marks',
    transform: {
      order: 'pre',
      filter: { id: COMPONENT },
      handler: (code, id) => ({ code: addMark(code, relative(SOURCES, id).replaceAll('\\', '/')), map: null }),
    },
  };
}

function addMark(code: string, component: string): string {
  const mark = [
    `import { onMount as onGalleryMount } from 'svelte';`,
    `import { noteMounted } from ${JSON.stringify(MOUNTED)};`,
    `onGalleryMount(() => noteMounted(${JSON.stringify(component)}));`,
  ].join('\n');
  if (!SCRIPT.test(code)) return `<script>\n${mark}\n</script>\n${code}`;
  return code.replace(SCRIPT, (tag) => `${tag}\n${mark}`);
}
