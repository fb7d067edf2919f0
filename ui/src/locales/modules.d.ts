// Modules that the build writes: catalogues, and which of them are complete.

declare module 'virtual:languages' {
  /** Languages whose catalogue has every string. */
  export const completeLanguages: readonly string[];
}
declare module '@wuchale/svelte/runtime.svelte' {
  import type { Component } from 'svelte';
  const Fragments: Component<{ n?: boolean; x: unknown; t?: unknown; a?: unknown[] }>;
  export default Fragments;
}
declare module '*/main.proxy.js' {
  import type { CatalogModule } from 'wuchale/runtime';
  export function loadCatalog(name: string, language: string): Promise<CatalogModule>;
}
declare module '*.compiled.js' {
  import type { CompiledElement } from 'wuchale';
  export const c: CompiledElement[];
  export const p: ((value: number) => number) | undefined;
}
