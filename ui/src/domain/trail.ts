// The gates of a trail as they are drawn: a dot, a name, and a word for the gate's result.

import { msg } from '../widgets/msg';
import type { Gate, ToolMode, TrailStep, Verdict } from '../ipc/bindings';
import type { IconName } from '../widgets/icons';
import { modes } from './modes';

const gates: Record<Gate, { name: string; icon: IconName }> = {
  mode: { name: 'Mode', icon: 'm-read' },
  capability: { name: 'Capability check', icon: 'check' },
  watchdog: { name: 'Watchdog', icon: 'shield' },
  rules: { name: 'Rules', icon: 'rules' },
  effects: { name: 'Effects', icon: 'execute' },
  undo: { name: 'Undo', icon: 'history' },
  interaction: { name: 'Interaction', icon: 'question' },
  skipped_asks: { name: 'Skipped asks', icon: 'waiting' },
  headless: { name: 'No person there', icon: 'execute' },
  consent: { name: 'Consent', icon: 'person' },
};

/** Colour of a gate's dot: it passed, asks, refuses, or only informs. */
type Dot = 'ok' | 'ask' | 'bad' | 'plain';

/** One gate as it is drawn. */
interface ShownGate {
  name: string;
  icon: IconName;
  dot: Dot;
  /** Text at the right: "passed", "3 matched, 1 won". */
  said: string;
}

const dots: Record<Verdict, Dot> = { allow: 'ok', ask: 'ask', deny: 'bad' };
const says: Record<Verdict, string> = { allow: msg('passed'), ask: msg('asks'), deny: msg('refuses') };

/** A gate as it is drawn. */
export function shownGate(step: TrailStep, mode: ToolMode | null): ShownGate {
  const { name, icon } = gates[step.gate];
  const dot: Dot = step.verdict === null ? 'plain' : dots[step.verdict];
  if (step.gate === 'mode' && mode !== null) {
    return { name, icon: modes[mode].icon, dot: dot === 'ok' ? 'plain' : dot, said: modes[mode].text };
  }
  if (step.gate === 'rules') {
    const rules = step.rules ?? [];
    const won = rules.filter((trace) => trace.won).length;
    const said =
      rules.length === 0
        ? step.verdict === null
          ? 'none matched'
          : says[step.verdict]
        : `${rules.length} matched, ${won} won`;
    return { name, icon, dot, said };
  }
  const passed = dot === 'ok' ? 'check' : icon;
  return { name, icon: passed, dot, said: step.verdict === null ? '' : says[step.verdict] };
}
