// Arguments while a person writes them: in a form made of a schema or as JSON, and checked by whoever knows the tool.

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

/** What is wrong with some arguments, one sentence each. */
export type Check = (given: Members) => Promise<readonly string[]>;

const CHECK_AFTER_MS = 200;

export class Writing {
  readonly field: FormField;
  /** Whether a form can hold nothing of it: then they are JSON from the start, and stay so. */
  readonly formless: boolean;
  as: Shape = $state('form');
  draft: Draft = $state.raw(null);
  text = $state('');
  /** Why the form could not be turned to. */
  trouble = $state('');
  /** Whether anything was written: before that nothing is called wrong. */
  touched = $state(false);
  /** What was said of which arguments. */
  #checked: { text: string; problems: readonly string[] } | null = $state.raw(null);
  readonly #given: Members;

  /** Within a component's beginning: what is written is checked for as long as that is there. It goes on from `written`. */
  constructor(schema: unknown, given: Members, check: Check, written: Members | null = null) {
    this.field = fieldOf(schema);
    this.formless = this.field.kind !== 'object';
    this.#given = given;
    const start = written ?? given;
    this.text = JSON.stringify(start, null, 2);
    this.touched = written !== null;
    const begun = Object.keys(start).length > 0;
    // What would come out otherwise than it went in is shown letter for letter.
    const fits = !begun || holds(this.field, this.#own(start));
    this.draft = (begun && fits ? draftFrom(this.field, this.#own(start)) : undefined) ?? emptyDraft(this.field);
    if (this.formless || !fits) this.as = 'json';
    $effect(() => this.#ask(check));
  }

  /** The arguments as they stand, and what the page itself finds wrong with them. */
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
  /** What was written so far, right or wrong; none where it is no arguments at all, or those that it began with. */
  get written(): Members | null {
    return this.touched && this.changed ? (this.#come.value ?? null) : null;
  }
  /** Whether whoever knows the tool found nothing wrong with what stands here now. */
  get checked(): boolean {
    return this.#checked?.text === this.#asText && this.#checked.problems.length === 0;
  }
  /** Whether they differ from those that it began with. */
  get changed(): boolean {
    return !alike(this.#come.value, this.#given);
  }
  get #said(): readonly string[] {
    return this.#checked?.text === this.#asText ? this.#checked.problems : [];
  }

  /** Everything that is wrong: what belongs to a field that is there by the field's path, the rest by none. */
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
  /** Turns to the other shape, if it can hold what stands here. */
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
