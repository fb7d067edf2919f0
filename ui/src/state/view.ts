// The view: the screen in the middle of the window, and the entry to be shown in it once.

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
  const kept: { screen?: unknown; session?: unknown } | null = JSON.parse(storage.getItem(KEPT) ?? 'null');
  if (kept?.screen === 'session')
    return typeof kept.session === 'string' ? { screen: 'session', session: kept.session } : null;
  const screen = SCREENS.find((known) => known === kept?.screen);
  return screen ? { screen } : null;
}
