// The effects of a command in words: counts by kind, the detail of each path, and the assurance. Pure.

import { msg } from '../../../widgets/msg';
import type {
  Assurance,
  CallState,
  CallView,
  Effect,
  EffectKind,
  Effects,
  NetworkContact,
  PathInfo,
  RefusalKind,
} from '../../../ipc/bindings';
import { assurances, type ShownAssurance } from '../../assurance';
import { bytes, count, plural } from '../../../widgets/figures';
import type { IconName } from '../../../widgets/icons';

/** The kinds in the order in which they are counted: deletions never come last. */
export const kinds: readonly { kind: EffectKind; sign: string; word: string; title: string }[] = [
  { kind: 'changed', sign: 'M', word: msg('changed'), title: msg('changed') },
  { kind: 'deleted', sign: 'D', word: msg('deleted'), title: msg('deleted') },
  { kind: 'added', sign: 'A', word: msg('added'), title: msg('added') },
  { kind: 'renamed', sign: 'R', word: msg('renamed'), title: 'renamed, its content the same' },
  { kind: 'mode', sign: 'P', word: 'with other permissions', title: 'only its permissions changed' },
  { kind: 'link', sign: 'L', word: msg('linked'), title: 'a link that came or leads elsewhere' },
  { kind: 'special', sign: 'S', word: msg('special'), title: 'a pipe, a socket or a device: never committed' },
];

/** How many changes there are of each kind that occurs. */
export function tally(changes: readonly Effect[]): { kind: EffectKind; count: number; word: string }[] {
  const counts = new Map<EffectKind, number>();
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return kinds.flatMap(({ kind, word }) => (counts.has(kind) ? [{ kind, word, count: counts.get(kind) ?? 0 }] : []));
}

/** "3 files changed, 1 deleted, 2 added; nothing refused". */
export function summary(effects: Pick<Effects, 'changes' | 'refused' | 'reached' | 'outside_reads'>): string {
  const [first, ...rest] = tally(effects.changes);
  const files = effects.changes.every(({ before, after }) => (after ?? before)?.what === 'file');
  const changed =
    first === undefined
      ? 'Nothing changed'
      : [
          `${files ? plural(first.count, ['# file', '# files']) : plural(first.count, ['# path', '# paths'])} ${first.word}`,
          ...rest.map((one) => `${count(one.count)} ${one.word}`),
        ].join(', ');
  const refused = effects.refused.length === 0 ? 'nothing refused' : `${count(effects.refused.length)} refused`;
  const hosts = new Set(effects.reached?.map(({ host }) => host)).size;
  const reads = effects.outside_reads?.length ?? 0;
  return [
    changed,
    refused,
    hosts > 0 && plural(hosts, ['# host reached', '# hosts reached']),
    reads > 0 && plural(reads, ['# path read elsewhere', '# paths read elsewhere']),
  ]
    .filter(Boolean)
    .join('; ');
}

/** Describes the end of a command: "exit 0", "signal 9". */
export function endWords(effects: Pick<Effects, 'exit_code' | 'ended'>): string {
  return effects.exit_code === null ? effects.ended || 'no exit code' : `exit ${effects.exit_code}`;
}

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');
const things: Record<PathInfo['what'], string> = {
  file: msg('file'),
  folder: msg('folder'),
  link: msg('link'),
  special: 'pipe, socket or device',
};

/** Returns the detail of a change, shown at the right of its row. */
export function metaOf(effect: Effect): string {
  const { before, after, kind, diff } = effect;
  if (kind === 'special') return 'not committed';
  if (kind === 'mode') return before && after ? `${octal(before.mode)} → ${octal(after.mode)}` : '';
  if (kind === 'link') return after?.target === undefined ? '' : `→ ${after.target}`;
  if (kind === 'deleted') {
    if (before && before.what !== 'file') return things[before.what];
    return [diff ? plural(diff.removed, ['# line', '# lines']) : '', before ? bytes(before.bytes) : '']
      .filter(Boolean)
      .join(', ');
  }
  if (before && after && before.what !== after.what) return `${things[before.what]} → ${things[after.what]}`;
  if (after && after.what !== 'file') return things[after.what];
  const size =
    before && after && kind === 'changed' && !diff
      ? `${bytes(before.bytes)} → ${bytes(after.bytes)}`
      : after
        ? bytes(after.bytes)
        : '';
  const mode = before && after && before.mode !== after.mode ? `${octal(before.mode)} → ${octal(after.mode)}` : '';
  return [effect.undiffed ?? '', size, mode].filter(Boolean).join(', ');
}

/** Returns the accessible name of a change's row. */
export function rowName(effect: Effect): string {
  const word = kinds.find(({ kind }) => kind === effect.kind)?.word ?? '';
  const change =
    effect.from === undefined ? `${effect.path}, ${word}` : msg(`${effect.path}, ${word} from ${effect.from}`);
  return [change, metaOf(effect)].filter(Boolean).join(', ');
}

/** Returns the hosts that a command tried to reach, or reached before: the offer when it asks for the network. */
export function hostsOf({ preview }: Pick<CallView, 'preview'>): string[] {
  if (preview.type !== 'effects') return [];
  const { refused, reached = [] } = preview.effects;
  const tried = refused.filter(({ kind }) => kind === 'network').map(({ target }) => target.replace(/:(80|443)$/, ''));
  const known = reached.map(({ host, port }) => (port === 80 || port === 443 ? host : `${host}:${port}`));
  return [...new Set([...known, ...tried])];
}

/** "3 connections, 1.2 kB sent, 40 kB received". */
export function trafficWords({ connections, sent, received }: NetworkContact): string {
  return `${plural(connections, ['# connection', '# connections'])}, ${bytes(sent)} sent, ${bytes(received)} received`;
}

/** Icon and word for each kind of refusal. */
export const refusals: Record<RefusalKind, { icon: IconName; word: string }> = {
  network: { icon: 'net', word: msg('network') },
  socket: { icon: 'net', word: 'socket of this machine' },
  write: { icon: 'redirect', word: 'write outside the folder' },
  secret: { icon: 'shield', word: 'masked secret' },
  limit: { icon: 'clock', word: msg('limit') },
};

/** Describes the assurance of the effects that are shown, by the state of the call and by who runs the command for real. */
export function assuranceOf(assurance: Assurance, state: CallState, delegated = false): ShownAssurance {
  const { icon, look, name } = assurances[assurance];
  if (assurance === 'gate_only') return { icon, look, name, text: 'it ran for real, and cannot be undone' };
  // The outcome says whether the rules undid it.
  if (assurance === 'snapshot' && state === 'denied')
    return { icon, look, name, text: 'it ran for real; its outcome is below' };
  if (assurance === 'snapshot')
    return {
      icon,
      look,
      name,
      text: state === 'undone' ? 'it ran for real, and was undone' : 'it ran for real, and Undo reverts all of it',
    };
  if (delegated && state === 'running') return { icon, look: 'plain', name, text: 'the agent runs it for real now' };
  if (delegated && state === 'done')
    return { icon, look: 'plain', name, text: 'the agent ran it; its outcome is below' };
  switch (state) {
    case 'proposed':
    case 'waiting':
      return { icon, look, name, text: 'nothing has changed yet' };
    case 'running':
      return { icon, look, name, text: 'what was shown is written now' };
    case 'done':
      return {
        icon: 'check',
        look: 'plain',
        name: 'Committed',
        text: 'what was shown was written, and nothing ran again',
      };
    case 'undone':
      return { icon: 'undone', look: 'plain', name: 'Undone', text: 'the folder is as it was before' };
    case 'failed':
    case 'interrupted':
      return { icon, look: 'plain', name, text: 'the dry run changed nothing; see what became of the call below' };
    case 'denied':
    case 'rejected':
    case 'expired':
    case 'skipped':
      return { icon, look: 'plain', name: 'Discarded', text: 'nothing was changed' };
  }
}

/** How many lines of differences are open from the start. */
const OPEN_LINES_MAX = 120;

/** Returns the changes whose difference is open from the start: in their order, until enough lines are shown. */
export function openFirst(changes: readonly Effect[]): Set<number> {
  const open = new Set<number>();
  let lines = 0;
  for (const { id, kind, diff } of changes) {
    if (!diff || kind === 'deleted') continue;
    lines += diff.added + diff.removed;
    if (lines > OPEN_LINES_MAX) break;
    open.add(id);
  }
  return open;
}
