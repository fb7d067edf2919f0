// The commands of the palette: every place and act that has a button, and every session by its title.

import type { Book } from '../features/rules/book.svelte';
import type { Command } from '../features/palette/Palette.svelte';
import { isAgent } from '../state/agents.svelte';
import { densities } from '../features/transcript/densities';
import type { Desk } from '../state/desk.svelte';
import { canFork, forkSession } from '../state/forks';
import type { CommandId } from '../state/keymap/commands';
import { settingsSections } from '../features/settings/sections';
import type { Landmark } from './landmarks';
import { baseName } from '../widgets/figures';
import { exportFormats } from '../domain/exports';
import { sessionStates } from '../domain/states';

/** Acts of the window besides navigation. */
export interface WindowActs {
  theme: 'light' | 'dark';
  /** Switches to the other theme. */
  appearance: () => void;
  inspector: () => void;
  /** Opens or closes the briefing of the open session. */
  briefing: () => void;
  keys: () => void;
  /** Jumps to a place in the open session. */
  jump: (to: Landmark) => void;
  /** Opens the rules and acts there. */
  rules: (act: (book: Book) => void) => void;
  /** Goes to the servers or the services, at a page of theirs. */
  servers: (kind: 'servers' | 'apis', at: 'all' | 'add' | 'import') => void;
}

/** The places of a session that can be jumped to. */
const jumps = [
  { id: 'waiting_card', text: 'Next card that waits', icon: 'waiting' },
  { id: 'next_error', text: 'Next error', hint: 'from the newest back', icon: 'failed' },
  { id: 'previous_message', text: 'Your previous message', icon: 'person' },
  { id: 'next_message', text: 'Your next message', icon: 'person' },
] as const;

/** All commands as things stand now. */
export function commandsOf(desk: Desk, acts: WindowActs): Command[] {
  const view = desk.navigation.view;
  const session = view.screen === 'session' ? desk.session(view.session) : undefined;
  const busy = session?.state === 'running' || session?.state === 'waiting';
  const keyOf = (id: CommandId) => desk.keymap.keyOf(id);
  const here: Command[] = [];
  if (session && (session.state === 'interrupted' || session.state === 'failed')) {
    here.push({
      id: 'resume',
      text: 'Resume',
      hint: session.title,
      icon: 'play',
      run: () => void desk.submit({ type: 'resume', session: session.id }),
    });
  }
  if (session)
    here.push({
      id: 'briefing',
      text: 'Briefing',
      hint: 'instructions, skills, agents',
      icon: 'read',
      run: acts.briefing,
    });
  if (session)
    here.push({
      id: 'find',
      text: 'Find in this session…',
      icon: 'search',
      key: keyOf('find_in_session'),
      run: () => desk.reading.find(),
    });
  if (session)
    here.push(
      ...densities.map(({ id, text, hint }): Command => ({
        id: `density-${id}`,
        text: `View: ${text}`,
        hint,
        icon: 'rows',
        run: () => (desk.reading.density = id),
      })),
    );
  if (session)
    here.push(...jumps.map((jump): Command => ({ ...jump, key: keyOf(jump.id), run: () => acts.jump(jump.id) })));
  if (session && !isAgent(session.model)) {
    const on = !session.planning;
    here.push({
      id: 'plan',
      text: on ? 'Plan first' : 'End planning',
      hint: session.title,
      icon: 'todo',
      run: () => void desk.submit({ type: 'set_planning', session: session.id, on }),
    });
  }
  if (session && canFork(session) && !busy)
    here.push({
      id: 'fork',
      text: 'Fork session',
      hint: session.title,
      icon: 'fork',
      run: () => void forkSession(desk, session.id),
    });
  if (session)
    here.push(
      ...exportFormats.map(({ format, text, hint }): Command => ({
        id: `export-${format}`,
        text,
        hint,
        icon: 'export',
        run: () => void desk.exportSession(session.id, format),
      })),
    );
  if (session && !busy)
    here.push({
      id: 'delete',
      text: 'Delete session…',
      hint: session.title,
      icon: 'delete',
      ends: true,
      run: () => void desk.deletion.ask(session),
    });
  // The first one is what Enter runs, and must not stop anything.
  if (session && busy)
    here.push({
      id: 'stop',
      text: 'Stop',
      hint: session.title,
      icon: 'stop',
      ends: true,
      run: () => void desk.submit({ type: 'interrupt', session: session.id }),
    });
  return [
    ...here,
    { id: 'desk', text: 'Go to the Desk', icon: 'desk', run: () => desk.navigation.go('desk') },
    { id: 'search', text: 'Search', icon: 'search', key: keyOf('search'), run: () => desk.navigation.go('search') },
    { id: 'history', text: 'Go to History', icon: 'history', run: () => desk.navigation.go('history') },
    { id: 'rules', text: 'Go to Rules', icon: 'rules', run: () => desk.navigation.go('rules') },
    { id: 'tools', text: 'Go to Tools', icon: 'tools', run: () => desk.navigation.go('tools') },
    { id: 'servers', text: 'Go to Servers', hint: 'MCP', icon: 'servers', run: () => desk.navigation.go('servers') },
    { id: 'apis', text: 'Go to Services', hint: 'OpenAPI', icon: 'fetch', run: () => acts.servers('apis', 'all') },
    {
      id: 'connections',
      text: 'Go to Connections',
      hint: 'other agents on this machine',
      icon: 'connections',
      run: () => desk.navigation.go('connections'),
    },
    { id: 'new-rule', text: 'New rule…', icon: 'rules', run: () => acts.rules((book) => book.begin()) },
    {
      id: 'try-call',
      text: 'Try a call…',
      hint: 'what the rules say of it',
      icon: 'play',
      run: () => acts.rules((book) => book.open({ of: 'try' })),
    },
    {
      id: 'import-rules',
      text: 'Import rules…',
      icon: 'receipt',
      run: () => acts.rules((book) => book.go({ at: 'import' })),
    },
    {
      id: 'add-server',
      text: 'Add a server…',
      hint: 'MCP',
      icon: 'servers',
      run: () => acts.servers('servers', 'add'),
    },
    { id: 'add-api', text: 'Add a service…', hint: 'OpenAPI', icon: 'fetch', run: () => acts.servers('apis', 'add') },
    {
      id: 'import-servers',
      text: 'Import servers…',
      hint: 'from other apps',
      icon: 'receipt',
      run: () => acts.servers('servers', 'import'),
    },
    { id: 'new', text: 'New session…', icon: 'plus', run: () => desk.navigation.go('start') },
    { id: 'demo', text: 'Play the demo', icon: 'play', run: () => void desk.navigation.playDemo() },
    { id: 'inspector', text: 'Inspector', icon: 'panel', key: keyOf('inspector'), run: acts.inspector },
    {
      id: 'settings',
      text: 'Settings',
      icon: 'settings',
      key: keyOf('settings'),
      run: () => desk.navigation.openSettings(),
    },
    ...settingsSections.map(({ id, title, icon }): Command => ({
      id: `settings-${id}`,
      text: `Settings: ${title}`,
      icon,
      run: () => desk.navigation.openSettings(id),
    })),
    {
      id: 'appearance',
      text: acts.theme === 'dark' ? 'Switch to light' : 'Switch to dark',
      icon: 'theme',
      run: acts.appearance,
    },
    { id: 'keys', text: 'Keyboard shortcuts', icon: 'info', key: keyOf('keys'), run: acts.keys },
    ...desk.sessions.map((one): Command => {
      const state = sessionStates[one.waiting > 0 ? 'waiting' : one.state];
      return {
        id: one.id,
        text: one.title,
        hint: `${baseName(one.workspace)} · ${desk.agents.nameOf(one.model)} · ${state.text}`,
        icon: state.icon,
        run: () => desk.navigation.show(one.id),
      };
    }),
  ];
}
