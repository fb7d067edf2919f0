// What fills the middle of the window, and what is to be shown in it once.

/** What fills the middle of the window. */
export type View =
  | { screen: 'start' }
  | { screen: 'desk' }
  | { screen: 'search' }
  | { screen: 'history' }
  | { screen: 'tools' }
  | { screen: 'servers' }
  | { screen: 'rules' }
  | { screen: 'session'; session: string };

/** An entry to be shown and marked for a moment. */
export interface Jump {
  session: string;
  id: string;
}
