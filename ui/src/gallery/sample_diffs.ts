// Differences of files, for the samples.

import type { DiffLine, DiffLineKind, DiffLinePart, FileDiff, Hunk } from '../ipc/bindings';

/** Makes a line of a difference: `‹` and `›` stand around the change within it, `␀U+202E␀` for a hidden character. */
export function line(kind: DiffLineKind, old: number | null, fresh: number | null, text: string): DiffLine {
  const parts: DiffLinePart[] = [];
  let changed = false;
  for (const piece of text.split(/([‹›]|␀[^␀]+␀)/)) {
    if (piece === '‹' || piece === '›') changed = piece === '‹';
    else if (piece.startsWith('␀')) parts.push({ text: piece.slice(1, -1), changed, control: true });
    else if (piece !== '') parts.push(changed ? { text: piece, changed } : { text: piece });
  }
  return { kind, old, new: fresh, parts };
}

/** A hunk from lines that begin with their sign. */
export function hunk(id: number, old: number, fresh: number, section: string, texts: readonly string[]): Hunk {
  let left = old;
  let right = fresh;
  const lines = texts.map((text) => {
    const kind: DiffLineKind = text[0] === '+' ? 'added' : text[0] === '-' ? 'removed' : 'context';
    return line(kind, kind === 'added' ? null : left++, kind === 'removed' ? null : right++, text.slice(1));
  });
  const count = (kind: DiffLineKind): number => lines.filter((one) => one.kind === kind).length;
  return { id, old_start: old, new_start: fresh, section, added: count('added'), removed: count('removed'), lines };
}

/** A file's change from its hunks. */
export function file(path: string, language: string, hunks: Hunk[], more: Partial<FileDiff> = {}): FileDiff {
  const sum = (member: 'added' | 'removed'): number => hunks.reduce((all, one) => all + one[member], 0);
  return { path, exists: true, language, added: sum('added'), removed: sum('removed'), hunks, ...more };
}

export const parser: FileDiff = file('crates/parser/src/expr.rs', 'rust', [
  hunk(0, 31, 31, 'precedence levels', [
    ' const BP_ADD: u8 = 10;',
    ' const BP_MUL: u8 = 20;',
    '+/// Binds tighter than `*` and looser than `^`, so `-2^2` is `-(2^2)`.',
    '+const BP_UNARY: u8 = 25;',
    ' const BP_POW: u8 = 30;',
  ]),
  hunk(1, 121, 123, 'fn parse_prefix(&mut self) -> Result<Expr>', [
    '         match tok.kind {',
    '-            Tok::Minus => Ok(Expr::neg(self.parse_expr(‹0›)?)),',
    '+            Tok::Minus => Ok(Expr::neg(self.parse_expr(‹BP_UNARY›)?)),',
    '             Tok::Not => Ok(Expr::not(self.parse_expr(BP_NOT)?)),',
  ]),
  hunk(2, 402, 404, 'fn unexpected(&self, tok: Token)', [
    '     fn unexpected(&self, tok: Token) -> Error {',
    '-        Error::new(‹"unexpected token"›)',
    '+        Error::at(‹tok.span, format!("unexpected {}", tok.kind)›)',
    '     }',
  ]),
]);

export const query: FileDiff = file('web/src/lib/query.ts', 'typescript', [
  hunk(0, 12, 12, 'runQuery', [
    ' export async function runQuery(sql: string, signal?: AbortSignal) {',
    '-  const res = await fetch("/api/query", { method: "POST", body: sql });',
    '+  const res = await fetch("/api/query", { method: "POST", body: sql‹, signal› });',
    '+  if (res.status === 499) return { rows: [], cancelled: true };',
  ]),
]);

export const jobs: FileDiff = file(
  'state/jobs.json',
  'json',
  [
    hunk(0, 412, 412, 'jobs › 4711 “nightly-train” › status', [
      '       "queue": "gpu",',
      '       "owner": "ada",',
      '-      "status": "‹running›",',
      '+      "status": "‹cancelled›",',
      '       "priority": 3',
    ]),
    hunk(1, 431, 431, 'jobs › 4714 “publish”', ['     },', '+    {', '+      "id": 4714,', '+      "name": "publish"']),
  ],
  {
    summary: [
      {
        place: 'jobs › 4711 “nightly-train”, 4712 “evaluate”, 4713 “U+202Etrain” and 6 more › status',
        kind: 'changed',
        before: 'running',
        after: 'cancelled',
      },
      { place: 'jobs › 4714 “publish”', kind: 'added' },
      { place: 'jobs › 4702 “build-docs” › retries', kind: 'removed', before: '3' },
    ],
    summary_more: 2,
  },
);
