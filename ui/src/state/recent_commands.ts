// The commands that a person ran last, the latest first: kept on this machine over a restart.

/** Storage key. */
const KEPT = 'recent-commands';

/** How many are remembered: what a glance takes in. */
const RECENT_MAX = 5;

/** Returns the ids of the commands that were run last. */
export function readRecentCommands(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

/** Remembers that a command was run. */
export function keepRecentCommand(id: string): void {
  const others = readRecentCommands().filter((one) => one !== id);
  localStorage.setItem(KEPT, JSON.stringify([id, ...others].slice(0, RECENT_MAX)));
}
