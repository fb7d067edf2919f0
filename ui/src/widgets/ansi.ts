// Output of a program as plain stretches of text: colours are kept, everything else a terminal would obey is not.

import { HIDDEN, nameOf } from './shown';

/** The inks of a terminal, mapped to the tokens that stand for them. */
export type Ink = 'plain' | 'faint' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** A stretch of one look. `control` marks the name of a character that must not be drawn. */
export interface Stretch {
  text: string;
  ink: Ink;
  bold: boolean;
  under: boolean;
  control: boolean;
}

type Style = Omit<Stretch, 'text' | 'control'>;
const PLAIN: Style = { ink: 'plain', bold: false, under: false };
const INKS: readonly Ink[] = ['faint', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'plain'];

// CSI, OSC and the other string sequences, one that is cut off at the very end, then two-character escapes.
const ESCAPE =
  // eslint-disable-next-line no-control-regex -- control characters begin what it looks for
  /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\|$)|\u001b(?:\[[0-?]*[ -/]*)?$|\u001b[ -/]*[0-~]/g;

/** One colour number of the 16, folded onto the inks there are. */
function inkOf(code: number): Ink {
  return INKS[code % 8] ?? 'plain';
}

/** The style after one `m` sequence. */
function styled(before: Style, parameters: string): Style {
  const style = { ...before };
  const codes = parameters === '' ? [0] : parameters.split(/[;:]/).map(Number);
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    if (code === 0) Object.assign(style, PLAIN);
    else if (code === 1) style.bold = true;
    else if (code === 2) style.ink = 'faint';
    else if (code === 4) style.under = true;
    else if (code === 22) Object.assign(style, { bold: false, ink: style.ink === 'faint' ? 'plain' : style.ink });
    else if (code === 24) style.under = false;
    else if (code === 39) style.ink = 'plain';
    else if (code >= 30 && code <= 37) style.ink = inkOf(code - 30);
    else if (code >= 90 && code <= 97) style.ink = inkOf(code - 90);
    else if (code === 38 || code === 48) {
      const palette = codes[i + 1] === 5 ? codes[i + 2] : undefined;
      if (code === 38) style.ink = palette !== undefined && palette < 16 ? inkOf(palette) : 'plain';
      i += codes[i + 1] === 5 ? 2 : 4;
    }
  }
  return style;
}

/** Returns a line as a terminal leaves it: text after a carriage return overwrites the text before. */
function overwritten(line: string): string {
  const runs = line.replace(/\r+$/, '').split('\r');
  return runs.length === 1
    ? (runs[0] ?? '')
    : runs.reduce((under, over) => (over.length >= under.length ? over : over + under.slice(over.length)));
}

/** Adds a text in one style, with hidden characters named. */
function add(out: Stretch[], text: string, style: Style): void {
  let from = 0;
  const push = (piece: string, control: boolean): void => {
    if (piece !== '') out.push({ ...style, text: piece, control });
  };
  for (const match of text.matchAll(HIDDEN)) {
    push(text.slice(from, match.index), false);
    push(nameOf(match[0]), true);
    from = match.index + match[0].length;
  }
  push(text.slice(from), false);
}

/** Splits output into stretches. Cursor movement, titles, links and every other sequence are left out. */
export function stretches(output: string): Stretch[] {
  const out: Stretch[] = [];
  const text = output.includes('\r') ? output.replaceAll('\r\n', '\n').split('\n').map(overwritten).join('\n') : output;
  let style: Style = PLAIN;
  let from = 0;
  for (const match of text.matchAll(ESCAPE)) {
    add(out, text.slice(from, match.index), style);
    if (match[2] === 'm' && /^[\d;:]*$/.test(match[1] ?? '')) style = styled(style, match[1] ?? '');
    from = match.index + match[0].length;
  }
  add(out, text.slice(from), style);
  return out;
}

/** How many lines a text has; a line end at its end begins no new one. */
export function lineCount(text: string): number {
  if (text === '') return 0;
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
