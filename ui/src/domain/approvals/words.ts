// The words on a card: the call and its state, the labels of its answers, and what each answer grants.

import { msg } from '../../widgets/msg';
import type {
  CallState,
  CallView,
  CommandPreview,
  Grant,
  GrantOffer,
  GrantReach,
  GrantScope,
  Preview,
  Rule,
} from '../../ipc/bindings';
import { age, briefDuration, bytes, clock, count, duration, plural } from '../../widgets/figures';
import { exitCode, wordOf } from '../call_looks';
import { openAsk } from '../../state/calls';
import { grantReaches, grantsIn, ruleWords } from '../rules';
import { hunkNames, idsOf, type Chosen } from './hunks';

/** The state in words with its figure: "Waits 42 s", "Failed, exit 101", "Undone 16:10". */
export function stateWords(view: CallView, begun: number, now: number): string {
  const word = wordOf(view);
  switch (view.state) {
    case 'waiting':
      return `${word} ${age(openAsk(view)?.at ?? view.pending?.since ?? begun, now)}`;
    case 'running':
      return `${word} ${age(view.started_at ?? begun, now)}`;
    case 'done': {
      const code = exitCode(view);
      const took = view.outcome ? duration(view.outcome.duration_ms) : word;
      return code === null || code === 0 ? took : `Exit ${code}, ${took}`;
    }
    case 'failed': {
      const code = exitCode(view);
      return code === null ? word : `${word}, exit ${code}`;
    }
    case 'undone':
      return view.undone_at === null ? word : `${word} ${clock(view.undone_at)}`;
    case 'expired':
      return view.ended_at === null ? word : `${word} after ${briefDuration(Math.max(0, view.ended_at - begun))}`;
    case 'proposed':
    case 'denied':
    case 'rejected':
    case 'interrupted':
    case 'skipped':
      return word;
  }
}

/** Tells whether nothing more happens to a call by itself. */
export function isSettled(state: CallState): boolean {
  return state !== 'proposed' && state !== 'waiting' && state !== 'running';
}

/** Tells whether an answer must be held: something is lost or leaves, and it cannot be undone. */
export function mustHold(view: CallView): boolean {
  return view.undo_availability.type === 'unsecured' && (view.mode === 'destructive' || view.mode === 'external');
}

/** The files of a preview that shows a difference. */
export function filesOf(preview: Preview): Extract<Preview, { type: 'diff' }>['files'] {
  return preview.type === 'diff' ? preview.files : [];
}

/** Returns the hunks or changed paths that were left out when the call was allowed. */
export function appliedLeft(view: CallView): Set<number> {
  const said = view.decision?.decision;
  if (said?.type !== 'allow' || said.hunks === null) return new Set();
  const applied = new Set(said.hunks);
  return new Set(idsOf(view.preview).filter((id) => !applied.has(id)));
}

/** Tells whether a command can run as a dry run first: where this machine promises that nothing real changes by it. */
export function canDryRun({ preview }: Pick<CallView, 'preview'>): boolean {
  return preview.type === 'command' && preview.assurance === 'speculative';
}

/** Tells whether a command can have network access in a dry run: where a dry run of it is possible at all. */
function canReach({ preview }: Pick<CallView, 'preview'>): boolean {
  return preview.type === 'effects' ? preview.effects.assurance === 'speculative' : canDryRun({ preview });
}

/** Other ways to run a command from its card: a dry run with network access, or in place, for real. */
export type RunChoice = 'network' | 'in_place';

/** Returns the ways in which this command can be run that are no answer yet. */
export function runChoices({ preview }: Pick<CallView, 'preview'>): RunChoice[] {
  const command = preview.type === 'effects' ? preview.command : preview.type === 'command' ? preview : null;
  return [
    ...(canReach({ preview }) ? (['network'] as const) : []),
    ...(command?.in_place === true && canReach({ preview }) ? (['in_place'] as const) : []),
  ];
}

/** Tells whether the agent runs the command itself, so that it is not held to the effects of a dry run. */
export function isDelegated({ preview }: Pick<CallView, 'preview'>): boolean {
  return commandOf(preview)?.delegated === true;
}

/** Tells whether allowing writes the changes of a dry run, and runs nothing. */
function isCommit({ preview }: Pick<CallView, 'preview'>): boolean {
  return (
    preview.type === 'effects' &&
    preview.effects.assurance === 'speculative' &&
    preview.effects.changes.length > 0 &&
    !isDelegated({ preview })
  );
}

/** Returns the label of an answer that a rule goes along with. */
export function alwaysButton(answer: 'allow' | 'deny', view: CallView, lasts: GrantScope): string {
  return `${answer === 'deny' ? 'Reject' : mustHold(view) ? 'Hold to allow' : 'Allow'} ${grantsIn[lasts]}`;
}

/** Returns the label of the main answer; `lasts` is how far the answer reaches beyond this call. */
export function mainWords(view: CallView, pick: Chosen, lasts: GrantScope | null = null): string {
  if (lasts !== null) return alwaysButton('allow', view, lasts);
  if (view.preview.type === 'plan') return 'Accept';
  if (view.preview.type === 'response') return 'Let it read';
  if (mustHold(view)) {
    if (view.kind === 'delete') return 'Hold to delete';
    if (isCommit(view)) return 'Hold to commit';
    return view.mode === 'external' ? 'Hold to send' : 'Hold to allow';
  }
  if (isCommit(view))
    return pick.left.length > 0
      ? `Commit ${count(pick.ids.length)} of ${count(pick.all)} changes`
      : pick.all === 1
        ? 'Commit'
        : `Commit all ${count(pick.all)} changes`;
  return pick.left.length === 0 ? 'Allow' : `Allow ${pick.ids.length} of ${pick.all} hunks`;
}

/** Returns the label of the second answer. */
export function noWords(view: CallView): string {
  switch (view.preview.type) {
    case 'form':
      return 'Skip';
    case 'plan':
      return 'Keep planning';
    case 'response':
      return 'Keep it back';
    default:
      return isCommit(view) ? 'Discard' : 'Reject';
  }
}

const reaches: Record<GrantReach, string> = {
  once: 'Once',
  session: 'This session',
  always: 'From now on',
  nothing: 'Nothing',
};

/** Returns whether a grant is that of *Allow*. */
const isYes = ({ reach }: Grant): boolean => reach === 'once' || reach === 'session';

/** One line of the answers' grants. */
interface GrantLine {
  reach: string;
  button: string;
  text: string;
  /** The rule that would go along with the answer, shown before it is made. */
  never?: string;
  /** Whether the name of the button does not say it: the folded card tells it, too. */
  tells?: boolean;
}

/**
 * State of *Always…* on a card: the first grant on offer, or why none is offered; and how far a rule reaches once one
 * is chosen.
 */
interface AlwaysWords {
  offer: GrantOffer | undefined;
  /** The first grant of *Reject from now on…*; none where it cannot be offered. */
  never?: GrantOffer | undefined;
  refused: string;
  /** Answer that the chosen rule goes along with; none while no rule is chosen. */
  open: 'allow' | 'deny' | null;
  lasts: GrantScope;
}

/** Returns the lines that tell what each answer grants, *Always…* among them, for the current choice of hunks. */
export function grantLines(grants: readonly Grant[], view: CallView, pick: Chosen, always?: AlwaysWords): GrantLine[] {
  const told = grants.find((grant) => grant.reach === 'always');
  const plain = grants.filter((grant) => grant.reach !== 'always');
  const lines = plainLines(plain, view, pick);
  if (!always) return lines;
  if (always.open !== null) {
    const { open, lasts } = always;
    const text =
      open === 'allow'
        ? 'allows this call, and from now on whatever the rule above covers, without asking.'
        : 'rejects this call, and denies from now on whatever the rule above covers.';
    const replaced = plain.findIndex((grant) => isYes(grant) === (open === 'allow'));
    return lines.map((line, i) =>
      i === replaced
        ? { reach: grantReaches[lasts], button: alwaysButton(open, view, lasts), text, tells: true }
        : line,
    );
  }
  const line = alwaysLine(always, told);
  const at = plain.findIndex(isYes) + 1;
  const { never } = always;
  const all = lines.flatMap((one, i) => {
    const no = plain[i]?.reach === 'nothing';
    return [...(no ? dryRunLine(view) : []), no && never ? { ...one, never: ruleWords(never) } : one];
  });
  return line ? [...all.slice(0, at), line, ...all.slice(at)] : all;
}

/** Returns the line that tells what a dry run grants, where one is offered. */
function dryRunLine(view: CallView): GrantLine[] {
  if (!canDryRun(view)) return [];
  const text = 'runs it in a sandbox and shows what it would change. Nothing real changes.';
  return [{ reach: 'Nothing', button: 'Dry run', text }];
}

function alwaysLine({ offer, refused }: AlwaysWords, told: Grant | undefined): GrantLine | null {
  if (offer)
    return {
      reach: grantReaches[offer.lasts[0] ?? 'session'],
      button: 'Always…',
      text: told?.text ?? `would start from \`${ruleWords(offer)}\`; you see and confirm the rule first.`,
    };
  return refused === '' ? null : { reach: 'Not available', button: 'Always…', text: refused };
}

/** Whether allowing reaches beyond the call, does what cannot all be undone and no notice says so, or leaves something out. */
function tells({ reach }: Grant, view: CallView, pick: Chosen): boolean {
  const undo = view.undo_availability.type;
  const noted = mustHold(view) || isDelegated(view) || commandOf(view.preview)?.assurance === 'gate_only';
  const lasts = undo === 'snapshot' || undo === 'unsecured';
  return reach === 'session' || (lasts && !noted) || pick.left.length > 0;
}

function plainLines(grants: readonly Grant[], view: CallView, pick: Chosen): GrantLine[] {
  return grants.map((grant) => {
    // The line names the button as it is written on it.
    const once = isYes(grant);
    const commits = isCommit(view);
    const line = {
      tells: once && tells(grant, view, pick),
      reach: reaches[grant.reach],
      button: !once
        ? noWords(view)
        : mustHold(view) || commits || view.preview.type === 'plan' || view.preview.type === 'response'
          ? mainWords(view, pick)
          : 'Allow',
      text: grant.text,
    };
    if (!once) return line;
    if (pick.left.length === 0) return line;
    if (pick.ids.length === 0)
      return { ...line, text: commits ? 'needs at least one checked change.' : 'needs at least one checked hunk.' };
    if (commits)
      return {
        ...line,
        text: `writes ${plural(pick.ids.length, ['# checked change', '# checked changes'])}, and tells the agent that ${plural(pick.left.length, ['one was left out', '# were left out'])}. Nothing runs again.`,
      };
    const kept = plural(pick.ids.length, ['the checked hunk', 'the # checked hunks']);
    const left = hunkNames(pick.left);
    return {
      ...line,
      text:
        pick.left.length === 1
          ? `writes ${kept} and tells the agent that ${left} was left out.`
          : `writes ${kept} and tells the agent that ${left} were left out.`,
    };
  });
}

/** The folder that calls on one card have in common: that of their commands, or that of their files. */
export function sharedFolder({ preview, target }: CallView): string {
  return commandOf(preview)?.folder ?? folderOf(target);
}

/** Returns the folder of a path, with its slash; empty for a path without one. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** The rule that denied a call; none where something else did. */
export function denyingRule(view: CallView): Rule | null {
  const traces = view.trail?.steps.flatMap((step) => step.rules ?? []) ?? [];
  return traces.find((trace) => trace.won && trace.rule.action === 'deny')?.rule ?? null;
}

/** How much is lost: "4 files, 212 lines, 6.8 kB". */
export function lossWords(loss: Extract<Preview, { type: 'loss' }>): string {
  const parts = [plural(loss.files, ['# file', '# files'])];
  if (loss.folders > 0) parts.push(plural(loss.folders, ['# folder', '# folders']));
  if (loss.lines !== null) parts.push(plural(loss.lines, ['# line', '# lines']));
  return [...parts, bytes(loss.bytes)].join(', ');
}

/** The command of a preview that has one. */
function commandOf(preview: Preview): CommandPreview | null {
  return preview.type === 'command' ? preview : preview.type === 'effects' ? preview.command : null;
}

/** A command for the head: whole if it is short, else how much of it there is. */
export function commandWords(view: CallView): { strong: string; rest: string } {
  const target = view.target.trim();
  if (target.length <= 72 && !target.includes('\n')) return { strong: target, rest: '' };
  const command = commandOf(view.preview);
  const commands = command ? command.facts.filter((fact) => /^(program|command)$/.test(fact.what)).length : 0;
  if (commands > 1) return { strong: plural(commands, ['# command', '# commands']), rest: msg(`with ${view.tool}`) };
  return { strong: plural(target.split('\n').length, ['# line', '# lines']), rest: msg(`of ${view.tool}`) };
}

/** Returns the accessible name of the card. */
export function cardName(view: CallView, state: string): string {
  const what =
    view.preview.type === 'form'
      ? (view.preview.questions[0]?.question ?? view.title)
      : `${view.title}, ${view.target}`;
  return view.state === 'waiting' ? `${what}, waits for you` : `${what}, ${state}`;
}

/** Returns the message for a press that came before the card had been in view for long enough. */
export function tooSoon(by: 'key' | 'pointer'): string {
  return `Not counted: the card has only just come into view. ${by === 'key' ? 'Press the key' : 'Click'} again in a moment.`;
}
