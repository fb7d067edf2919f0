import type { Plugin } from 'vite';

/** Plugins of the build that put the catalogue in place of the strings. */
export function languages(): Plugin[];
