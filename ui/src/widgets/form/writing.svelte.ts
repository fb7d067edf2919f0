// Arguments while a person writes them: in a form made of a schema or as JSON, checked by the `Check` that the form is
// given.

import { untrack } from 'svelte';
import { draftFrom, emptyDraft, fieldOf, holds, valueOf, type Draft, type FormField, type Problem } from './fields';
import { alike, likeGiven, parseObject, type Members } from './members';

/** How the arguments are written. */
export type Shape = 'form' | 'json';

/** Both, to choose from. */
export const shapes: readonly { value: Shape; text: string }[] = [
  { value: 'form', text: 'Form' },
  { value: 'json', text: 'JSON' },
];

/** Returns the problems of some arguments, one sentence each. */
export type Check = (given: Members) => Promise<readonly string[]>;

const CHECK_AFTER_MS = 200;

export class Writing {
  readonly field: FormField;
  /** Whether a form cannot express the schema: then the arguments are JSON from the start, and stay so. */
  readonly formless: boolean;
  as: Shape = $state('form');
  draft: Draft = $state.raw(null);
  text = $state('');
  /** Why the form could not be switched to. */
  trouble = $state('');
  /** Whether anything was written: before that no problem is shown. */
  touched = $state(false);
  /** The last check: the checked text and its problems. */
  #checked: { text: string; problems: readonly string[] } | null = $state.raw(null);
  readonly #given: Members;

  /**
   * Must run while a component is set up: the text is checked for as long as that component exists. Continues from
   * `written`.
   */
  constructor(schema: unknown, given: Members, check: Check, written: Members | null = null) {
    this.field = fieldOf(schema);
    this.formless = this.field.kind !== 'object';
    this.#given = given;
    const start = written ?? given;
    this.text = JSON.stringify(start, null, 2);
    this.touched = written !== null;
    const begun = Object.keys(start).length > 0;
    // Arguments that the form would change are shown as JSON, letter for letter.
    const fits = !begun || holds(this.field, this.#own(start));
    this.draft = (begun && fits ? draftFrom(this.field, this.#own(start)) : undefined) ?? emptyDraft(this.field);
    if (this.formless || !fits) this.as = 'json';
    $effect(() => this.#ask(check));
  }

  /** The arguments as they stand, and the problems that the page itself finds. */
  readonly #come = $derived.by((): { value: Members | undefined; problems: readonly Problem[] } => {
    if (this.as === 'json') return parseObject(this.text);
    const { value, problems } = valueOf(this.field, this.draft);
    return { value: likeGiven({ ...this.#beside, ...(value as Members) }, this.#given), problems };
  });
  readonly #asText = $derived(JSON.stringify(this.#come.value ?? null));

  /** Members about the call that the tool itself does not take, such as its reason: no field, and kept as they are. */
  get #beside(): Members {
    const own = new Set(this.field.kind === 'object' ? this.field.members.map((member) => member.name) : []);
    return Object.fromEntries(Object.entries(this.#given).filter(([name]) => name.startsWith('_') && !own.has(name)));
  }
  #own(given: Members): Members {
    const beside = this.#beside;
    return Object.fromEntries(Object.entries(given).filter(([name]) => !Object.hasOwn(beside, name)));
  }

  /** The arguments, once they can be taken; none while something is wrong with them. */
  get value(): Members | undefined {
    const { value, problems } = this.#come;
    return problems.length === 0 && this.#said.length === 0 ? value : undefined;
  }
  /** The arguments as written so far, right or wrong; none where they are no arguments at all, or unchanged. */
  get written(): Members | null {
    return this.touched && this.changed ? (this.#come.value ?? null) : null;
  }
  /** Whether the check found no problem with the current text. */
  get checked(): boolean {
    return this.#checked?.text === this.#asText && this.#checked.problems.length === 0;
  }
  /** Whether the arguments differ from the initial ones. */
  get changed(): boolean {
    return !alike(this.#come.value, this.#given);
  }
  get #said(): readonly string[] {
    return this.#checked?.text === this.#asText ? this.#checked.problems : [];
  }

  /** All problems: those of an existing field under its path, the rest under none. */
  get problems(): readonly Problem[] {
    if (!this.touched) return [];
    const own = this.#come.problems;
    const said =
      own.length > 0
        ? []
        : this.#said.map((text) => (this.as === 'form' ? placed(text, this.field) : { path: null, text }));
    const trouble = this.trouble === '' ? [] : [{ path: null, text: this.trouble }];
    return [...(this.as === 'form' ? own : own.map(({ text }) => ({ path: null, text }))), ...said, ...trouble];
  }

  write(draft: Draft): void {
    this.draft = draft;
    this.touched = true;
  }
  writeText(text: string): void {
    this.text = text;
    this.trouble = '';
    this.touched = true;
  }
  /** Switches to the other shape, if it can hold the current arguments. */
  turn(to: Shape): void {
    this.trouble = '';
    if (to === this.as || (to === 'form' && this.formless)) return;
    if (to === 'json') {
      this.text = JSON.stringify(this.#come.value ?? {}, null, 2);
    } else {
      const { value } = parseObject(this.text);
      const draft = value && draftFrom(this.field, this.#own(value));
      if (draft === undefined) {
        this.trouble = 'The form cannot hold these arguments. Correct them here, or empty them first.';
        this.touched = true;
        return;
      }
      this.draft = draft;
    }
    this.as = to;
  }

  #ask(check: Check): (() => void) | undefined {
    const asked = this.#asText;
    const { value, problems } = this.#come;
    if (!this.touched || value === undefined || problems.length > 0 || untrack(() => this.#checked?.text) === asked)
      return undefined;
    const timer = setTimeout(async () => {
      const found = await check(value).catch((thrown: unknown) => [
        `This could not be checked: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      ]);
      if (this.#asText === asked) this.#checked = { text: asked, problems: found };
    }, CHECK_AFTER_MS);
    return () => clearTimeout(timer);
  }
}

/** A sentence that begins with the name of a field stands at that field, without the name. */
function placed(text: string, field: FormField): Problem {
  const found = /^`([^`]+)`:? (.+)$/s.exec(text);
  const [, path = '', rest = ''] = found ?? [];
  if (!found || !isThere(path, field)) return { path: null, text };
  const sentence = rest.charAt(0).toUpperCase() + rest.slice(1);
  return { path, text: /[.!?]$/.test(sentence) ? sentence : `${sentence}.` };
}

/** Whether a path such as `questions[0].question` leads to a field. */
function isThere(path: string, field: FormField): boolean {
  let at: FormField | undefined = field;
  for (const name of path.split(/\.|(?=\[)/)) {
    if (at?.kind === 'list' && /^\[\d+\]$/.test(name)) at = at.item;
    else if (at?.kind === 'object') at = at.members.find((member) => member.name === name)?.field;
    else return false;
  }
  return at !== undefined;
}
