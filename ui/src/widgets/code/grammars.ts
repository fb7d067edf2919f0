// The grammars that colour languages. Each is loaded when code of its kind is first shown.

import type { Parser } from '@lezer/common';

type Load = () => Promise<Parser>;

const javascript =
  (dialect: string): Load =>
  async () =>
    (await import('@lezer/javascript')).parser.configure({ dialect });
const rust: Load = async () => (await import('@lezer/rust')).parser;
const python: Load = async () => (await import('@lezer/python')).parser;
const json: Load = async () => (await import('@lezer/json')).parser;
const css: Load = async () => (await import('@lezer/css')).parser;
const html: Load = async () => (await import('@lezer/html')).parser;
const xml: Load = async () => (await import('@lezer/xml')).parser;
const go: Load = async () => (await import('@lezer/go')).parser;
const cpp: Load = async () => (await import('@lezer/cpp')).parser;
const java: Load = async () => (await import('@lezer/java')).parser;
const yaml: Load = async () => (await import('@lezer/yaml')).parser;
const markdown: Load = async () => (await import('@lezer/markdown')).parser;

const loads: Record<string, Load> = {
  rust,
  typescript: javascript('ts'),
  tsx: javascript('ts jsx'),
  javascript: javascript('jsx'),
  jsx: javascript('jsx'),
  python,
  json,
  css,
  scss: css,
  html,
  svelte: html,
  vue: html,
  xml,
  svg: xml,
  go,
  c: cpp,
  cpp,
  java,
  kotlin: java,
  yaml,
  markdown,
};
const loaded = new Map<string, Promise<Parser | null>>();

/** The grammar of a language, by the name that the engine gives; none where there is none, or it cannot be loaded. */
export function grammar(language: string): Promise<Parser | null> {
  const known = loaded.get(language);
  if (known) return known;
  const load = Object.hasOwn(loads, language) ? loads[language] : undefined;
  const parser = load ? load().catch(() => null) : Promise.resolve(null);
  loaded.set(language, parser);
  return parser;
}
