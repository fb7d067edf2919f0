// The notes on a text of rules, line by line. Pure.

import type { RulesCheck } from '../../ipc/bindings';

/** One thing that is to be said of a line. */
interface LineNote {
  /** From 1; none where it is about the file. */
  line: number | null;
  text: string;
  /** Whether it keeps the file from being saved. */
  bad: boolean;
}

function exampleText({ text, should_match, note }: RulesCheck['examples'][number]): string {
  if (note) return should_match ? `\`${text}\` must match: ${note}.` : `\`${text}\` must not match: ${note}.`;
  return should_match ? `\`${text}\` must match.` : `\`${text}\` must not match.`;
}

/** Returns all notes: faults first, then failing examples, then warnings, each in the order of lines. */
export function notesOf({ fault, warnings, examples }: RulesCheck): LineNote[] {
  const byLine = (one: LineNote, other: LineNote) => (one.line ?? 0) - (other.line ?? 0);
  const faults: LineNote[] = fault ? [placed(fault.message, fault.hint)] : [];
  const failing = examples
    .filter((example) => !example.holds)
    .map((example): LineNote => ({
      line: example.line,
      text: exampleText(example),
      bad: true,
    }));
  const told = new Set(faults.map((note) => note.line));
  const hardly = warnings.map((warning): LineNote => ({
    line: warning.line,
    text: sentence(warning.text),
    bad: false,
  }));
  return [...faults, ...failing.filter((note) => !told.has(note.line)).sort(byLine), ...hardly.sort(byLine)];
}

/** A fault names its file and line itself: "rules.toml, line 3: …". */
function placed(message: string, hint: string): LineNote {
  const [, line, rest] = /^[^\n]*?, line (\d+): (.+)$/s.exec(message) ?? [];
  return {
    line: line === undefined ? null : Number(line),
    text: `${sentence(rest ?? message)} ${hint}`.trim(),
    bad: true,
  };
}

/** Some words as a sentence. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
