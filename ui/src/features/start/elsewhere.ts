// A Countersign that works on another machine or in a container, and the command that starts it there.

/** Programs that carry a command there. */
export type Carrier = 'ssh' | 'docker' | 'podman';

/** Programs that carry a command elsewhere, as the engine has them. */
export const CARRIERS = [
  'ssh',
  'docker',
  'podman',
  'nerdctl',
  'kubectl',
  'oc',
  'lxc',
  'incus',
  'devcontainer',
  'wsl',
] as const;

/** Where it works. */
export interface Elsewhere {
  carrier: Carrier;
  /** The machine, as ssh knows it, or the container. */
  name: string;
  /** The folder there. */
  folder: string;
}

/** Whether a name is one, and not an option or several words. */
export const isName = (name: string): boolean => /^[^\s-]\S*$/.test(name);

/** Returns the command that starts it; empty as long as something is missing. */
export function commandOf({ carrier, name, folder }: Elsewhere): string {
  const [there, path] = [name.trim(), folder.trim()];
  if (!isName(there) || path === '') return '';
  const words = ['countersign', 'acp', '--workspace', path].map(quote);
  // What ssh carries is read by a shell there once more.
  return carrier === 'ssh'
    ? ['ssh', '-a', '-T', quote(there), ...words.map(quote)].join(' ')
    : [carrier, 'exec', '-i', quote(there), ...words].join(' ');
}

/** Whether a command leads to another machine or into a container. The engine decides; this says only what is offered. */
export function leadsElsewhere(command: string): boolean {
  const program = /^\s*(?:'([^']*)'|"([^"]*)"|(\S+))/.exec(command);
  const path = program?.[1] ?? program?.[2] ?? program?.[3] ?? '';
  const name = path.replace(/^.*[\\/]/, '').replace(/(?<=.)\.[^.]*$/, '');
  return CARRIERS.some((carrier) => carrier === name);
}

/** Returns a word as a shell reads it. */
const quote = (word: string): string => (/^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
