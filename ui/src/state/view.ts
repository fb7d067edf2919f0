// The view: the screen in the middle of the window, and the entry to be shown in it once.

/** Sections of the settings, in their order. */
export const SETTINGS_SECTIONS = [
  'providers',
  'appearance',
  'keys',
  'asking',
  'commands',
  'limits',
  'undo',
  'web_search',
  'languages',
  'programs',
  'about',
] as const;
/** One section of the settings. */
export type SettingsSection = (typeof SETTINGS_SECTIONS)[number];

/** Part of the settings that gets the focus as they are opened. */
export type SettingsFocus = { on: 'index' } | { on: 'heading' } | { on: 'key'; provider: string };

/** Screen in the middle of the window. */
export type View =
  | { screen: 'start' }
  | { screen: 'desk' }
  | { screen: 'search' }
  | { screen: 'history' }
  | { screen: 'tools' }
  | { screen: 'servers' }
  | { screen: 'connections' }
  | { screen: 'rules' }
  | { screen: 'settings'; section: SettingsSection }
  | { screen: 'session'; session: string };

/** An entry to be shown and marked for a moment. */
export interface Jump {
  session: string;
  id: string;
}

/** Screens that need nothing beside their name. */
const SCREENS = ['start', 'desk', 'search', 'history', 'tools', 'servers', 'connections', 'rules'] as const;
/** Storage key of the view while the page is reloaded. */
const KEPT = 'view';

/** Keeps the open screen for the time that the window is open, through every reload of its page. */
export function keepView(storage: Storage, view: View): void {
  storage.setItem(KEPT, JSON.stringify(view));
}

/** Returns the screen that was open before the page was reloaded; none when the window has just opened. */
export function keptView(storage: Storage): View | null {
  const kept: { screen?: unknown; session?: unknown; section?: unknown } | null = JSON.parse(
    storage.getItem(KEPT) ?? 'null',
  );
  if (kept?.screen === 'session')
    return typeof kept.session === 'string' ? { screen: 'session', session: kept.session } : null;
  if (kept?.screen === 'settings')
    return { screen: 'settings', section: SETTINGS_SECTIONS.find((known) => known === kept.section) ?? 'providers' };
  const screen = SCREENS.find((known) => known === kept?.screen);
  return screen ? { screen } : null;
}
