// Prompts of servers, and skills, that can be put into the box instead of typing. Pure.

import type { DisplaySpan, PromptArgument, ServerItem, ServerTextPart, SkillView } from '../../ipc/bindings';
import { shown } from '../../widgets/shown';

/** One thing that is offered. */
export interface Offered {
  id: string;
  /** The server of the prompt; none for a skill. */
  server: string | null;
  name: string;
  title: readonly DisplaySpan[];
  description: readonly DisplaySpan[];
  asks: readonly PromptArgument[];
  /** Text that is searched. */
  text: string;
  hint: string;
}

/** Text in the box that was written by a server. */
export interface Taken {
  server: string;
  name: string;
  text: string;
  /** Names of the hidden characters that were removed from the text, each once. */
  hidden: readonly string[];
  /** Number of hidden characters that were removed. */
  count: number;
}

/** Longest line that is looked up: a longer one is a message that begins with a slash. */
const TYPED_CHARS_MAX = 80;

const plain = (spans: readonly DisplaySpan[]): string => spans.map((span) => span.text).join('');

/** Returns the text after a slash at the beginning; none where the box holds no search. */
export function typedIn(text: string): string | null {
  return text.startsWith('/') && text.length <= TYPED_CHARS_MAX && !text.includes('\n') ? text.slice(1) : null;
}

/** Returns the prompts of a server. */
export function promptsOf(server: string, items: readonly ServerItem[]): Offered[] {
  return items.map(({ name, title, description, arguments: asks }) => ({
    id: `${server}/${name}`,
    server,
    name,
    title,
    description,
    asks,
    text: name,
    hint: `${server} ${plain(title)} ${plain(description)}`,
  }));
}

/** Skills as they are offered. */
export function skillsOf(skills: readonly SkillView[]): Offered[] {
  return skills.map(({ name, description }) => ({
    id: `skill/${name}`,
    server: null,
    name,
    title: [],
    description: shown(description),
    asks: [],
    text: name,
    hint: `skill ${description}`,
  }));
}

/** Returns the text that is put into the box for a skill. */
export const skillText = (name: string): string => `Use the skill ${name}. `;

/** Returns the names of the required arguments that were not filled in. */
export function missingArguments(asks: readonly PromptArgument[], given: Readonly<Record<string, string>>): string[] {
  return asks.filter((ask) => ask.required && (given[ask.name] ?? '').trim() === '').map((ask) => ask.name);
}

/** Returns the arguments that were filled in, without the empty ones. */
export function filledPrompt(
  asks: readonly PromptArgument[],
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    asks.flatMap(({ name }) => ((given[name] ?? '') === '' ? [] : [[name, given[name] ?? '']])),
  );
}

/**
 * Returns the text of a prompt for the box: hidden characters removed and counted, with the alleged speaker of each
 * part.
 */
export function takenOf(server: string, name: string, parts: readonly ServerTextPart[]): Taken {
  const hidden = parts.flatMap((part) => part.text.filter((span) => span.control).map((span) => span.text));
  const mixed = parts.some((part) => part.by_model);
  const said = parts.map((part, i) => {
    const text = plain(part.text.filter((span) => !span.control));
    const other = i === 0 ? part.by_model : part.by_model !== parts[i - 1]?.by_model;
    return mixed && other
      ? `${part.by_model ? '[As if the model had said:]' : '[As if you had said:]'}\n${text}`
      : text;
  });
  return { server, name, text: said.join('\n\n'), hidden: [...new Set(hidden)], count: hidden.length };
}
