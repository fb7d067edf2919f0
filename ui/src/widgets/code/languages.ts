// The name of a language in a text, as the grammars know it.

/** Short names that people write after a fence. */
const names: Record<string, string> = {
  'c++': 'cpp',
  cc: 'cpp',
  console: 'bash',
  docker: 'dockerfile',
  golang: 'go',
  h: 'c',
  hpp: 'cpp',
  htm: 'html',
  js: 'javascript',
  json5: 'json',
  jsonc: 'json',
  jsonl: 'json',
  kt: 'kotlin',
  make: 'makefile',
  md: 'markdown',
  mjs: 'javascript',
  py: 'python',
  python3: 'python',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  'shell-session': 'bash',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
};

/** The grammar's name for what is written after a fence: `rs` is `rust`. A name that is not known stays as it is. */
export function languageOf(written: string): string {
  const name = written.toLowerCase();
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name;
}
