// The state of the Rules screen: the rules as the engine tells them, the selection, and the rule that is being written.

import type { NewRule, Op, RuleChange, RuleLocation, RuleSource, RulesView, UserError } from '../../ipc/bindings';
import { faultOf } from '../../ipc/desk';
import type { Desk } from '../../state/desk.svelte';
import { CALLS_MAX, Editing, type Asked, type OwnScope } from './editing.svelte';
import { BLANK, rulesByKey, draftOf, matchingRules, withGrants, type Found } from './words';

/** Page that fills the screen. */
export type Page =
  | { at: 'all' }
  | { at: 'file'; scope: OwnScope }
  | { at: 'trust' }
  | { at: 'import' }
  | { at: 'compare' }
  | { at: 'suggestions' };
/** Panel beside the page: a rule, a new rule, or a call that is tried. */
export type Side = { of: 'rule'; key: string } | { of: 'new'; editing: Editing } | { of: 'try' };

export class Book {
  view: RulesView | null = $state.raw(null);
  /** Why there are no rules to show. */
  fault: UserError | null = $state.raw(null);
  /** Id of the grant to scroll to in the ledger, once. */
  marked = $state('');
  page: Page = $state.raw({ at: 'all' });
  side: Side | null = $state.raw(null);
  /** Texts of whole files that were written and not saved. */
  texts: Partial<Record<OwnScope, { text: string; base: string | null }>> = $state({});
  readonly #desk: Desk;
  /** Drafts of changed rules, by the keys and the former text of the rules. */
  readonly #edited = new Map<string, Editing>();
  /** The new rule that was begun and not saved. */
  #begun: Editing | null = null;
  #loading: Promise<void> | null = null;
  #again = false;
  /** Element that had the focus before a panel was opened. */
  #before: Element | null = null;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  get workspace(): string | null {
    return this.#desk.folders.current;
  }
  /** The session whose own rules are shown: the newest of the folder. */
  get session(): string | null {
    return this.#desk.sessions.find((session) => session.workspace === this.workspace)?.id ?? null;
  }
  source(scope: OwnScope): RuleSource | undefined {
    return this.view?.sources.find((source) => source.scope === scope);
  }
  /** The scopes whose files can be written. */
  get scopes(): OwnScope[] {
    return (['project', 'user'] as const).filter((scope) => this.source(scope)?.editable);
  }
  /** The selected rule. */
  get found(): Found | undefined {
    return this.side?.of === 'rule' ? rulesByKey(this.view, this.side.key) : undefined;
  }
  /** The rule that is being written; none while none is. */
  get editing(): Editing | undefined {
    if (this.side?.of === 'new') return this.side.editing;
    const { found } = this;
    return found && this.canEdit(found) ? this.editingOf(found) : undefined;
  }
  /** Whether a rule is changed in a form; a grant is revoked instead, and what is built in stays as it is. */
  canEdit({ source, view }: Found): boolean {
    return source.editable && view.rule.line !== null && view.grant === null && view.rule.grant === undefined;
  }
  editingOf(found: Found): Editing {
    const rule = draftOf(found.view);
    const id = `${found.key} ${JSON.stringify(rule)}`;
    const editing =
      this.#edited.get(id) ??
      new Editing(this.#engine, rule, found.source.scope === 'project' ? 'project' : 'user', found.view.rule.line);
    this.#edited.set(id, editing);
    return editing;
  }
  /** The change that is being written, as long as it could be saved: a text of a whole file, or one rule. */
  get draft(): RuleChange | null {
    for (const scope of ['project', 'user'] as const) {
      const written = this.texts[scope];
      if (written && written.text !== (this.source(scope)?.text ?? ''))
        return { type: 'replace', scope, text: written.text };
    }
    const editing = this.#begun?.changed ? this.#begun : [...this.#edited.values()].find((one) => one.changed);
    if (!editing) return null;
    const { rule, scope, line } = editing;
    return line === null ? { type: 'add', rule, scope } : { type: 'change', scope, line, rule };
  }
  /** Discards the draft of a rule. */
  forget(editing: Editing): void {
    for (const [id, one] of this.#edited) if (one === editing) this.#edited.delete(id);
    if (this.#begun === editing) this.#begun = null;
  }

  readonly #engine = {
    check: (asked: Asked) => this.#desk.query({ type: 'check_rule', ...asked }),
    backtest: (change: Parameters<Editing['test']['put']>[0] & object) =>
      this.#desk.query({ type: 'backtest', workspace: this.workspace, change, calls_max: CALLS_MAX }),
  };

  /** Reads everything anew; while it is being read, once more after that. */
  async load(): Promise<void> {
    if (this.#loading) {
      this.#again = true;
      return this.#loading;
    }
    this.#loading = this.#read();
    await this.#loading;
    this.#loading = null;
    if (!this.#again) return;
    this.#again = false;
    await this.load();
  }
  async #read(): Promise<void> {
    const { workspace, session } = this;
    try {
      // There is one ledger for all folders.
      const [here, everywhere] = await Promise.all([
        this.#desk.query({ type: 'rules', workspace, session: null }),
        this.#desk.query({ type: 'rules', workspace: null, session: null }),
      ]);
      this.view = withGrants({ ...here, grants: everywhere.grants }, session);
      this.fault = null;
    } catch (thrown) {
      this.fault = faultOf(thrown);
    }
    const { rule, newRule } = this.#desk.navigation;
    if (newRule && this.view) {
      this.#desk.navigation.newRule = null;
      this.page = { at: 'all' };
      this.begin(newRule);
    }
    if (!rule || !this.view) return;
    this.#desk.navigation.rule = null;
    const found = matchingRules(this.view, rule);
    this.page = { at: 'all' };
    if (found) this.open({ of: 'rule', key: found.key });
    else if (this.view.grants.some((grant) => grant.id === rule.grant)) this.marked = rule.grant ?? '';
    else
      this.#desk.toasts.add({
        icon: 'info',
        ink: 'plain',
        title: 'That rule is gone',
        text: 'It was changed or taken away since.',
        brief: true,
      });
  }

  /** Opens something beside the rules, and remembers where the focus was. */
  open(side: Side): void {
    const active = document.activeElement;
    if (!active?.closest('[data-testid="panel"]')) this.#before = active;
    this.side = side;
  }
  /** Begins a new rule, from another one or empty; one that was begun and not saved goes on. */
  begin(rule?: NewRule): void {
    const begun = rule === undefined && this.#begun?.changed ? this.#begun : this.#fresh(rule ?? BLANK);
    this.#begun = begun;
    this.open({ of: 'new', editing: begun });
  }
  #fresh(rule: NewRule): Editing {
    const scope =
      this.scopes.includes('project') && this.source('project')?.trust === 'trusted'
        ? 'project'
        : (this.scopes.at(-1) ?? 'user');
    return new Editing(this.#engine, rule, scope, null);
  }
  /** Closes the panel beside the page; returns the element that had the focus before. */
  close(): HTMLElement | null {
    this.side = null;
    const before = this.#before;
    this.#before = null;
    return before instanceof HTMLElement && before.isConnected ? before : null;
  }
  go(page: Page): void {
    this.page = page;
  }

  /** Saves a file's text; false if that was refused, which is reported to the person. */
  async save(scope: OwnScope, text: string, base: string | null): Promise<boolean> {
    return this.#write({
      type: 'save_rules',
      scope,
      workspace: scope === 'project' ? this.workspace : null,
      text,
      base,
    });
  }
  /** Saves a rule as it was written: in its place, or at the end of its file. The same answer. */
  async put({ rule, scope }: Editing, place: RuleLocation | undefined): Promise<boolean> {
    return this.#write(
      place
        ? { type: 'change_rule', place, rule }
        : { type: 'add_rules', scope, workspace: scope === 'project' ? this.workspace : null, rules: [rule] },
    );
  }
  /** Takes a rule out of its file. The same answer. */
  async remove(place: RuleLocation): Promise<boolean> {
    return this.#write({ type: 'change_rule', place, rule: null });
  }
  async #write(op: Op): Promise<boolean> {
    const receipt = await this.#desk.submit(op);
    await this.load();
    return receipt !== null;
  }
  tell(title: string, text?: string, act?: { text: string; run: () => void }): void {
    this.#desk.toasts.add({ icon: 'check', ink: 'plain', title, text, brief: true, ...(act && { act }) });
    this.#desk.announced = `${title}.`;
  }
}

const books = new WeakMap<Desk, Book>();

/** The book of a desk: one, whatever shows it. */
export function bookOf(desk: Desk): Book {
  const book = books.get(desk) ?? new Book(desk);
  books.set(desk, book);
  return book;
}
