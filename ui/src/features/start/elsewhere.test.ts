// The command that starts a Countersign elsewhere.

import { expect, test } from 'vitest';
import shared from '../../../../tests/golden/elsewhere.json';
import { CARRIERS, commandOf, leadsElsewhere, type Elsewhere } from './elsewhere';

test('a machine is reached by ssh, without the keys of this one', () => {
  expect(commandOf({ carrier: 'ssh', name: ' me@build.example ', folder: '/srv/app' })).toBe(
    'ssh -a -T me@build.example countersign acp --workspace /srv/app',
  );
});

test('a container is reached by the program that runs it', () => {
  for (const carrier of ['docker', 'podman'] as const)
    expect(commandOf({ carrier, name: 'web', folder: '/app' })).toBe(
      `${carrier} exec -i web countersign acp --workspace /app`,
    );
});

test('a folder with blanks and quotes stays one word, also for the shell there', () => {
  const folder = "/srv/it's here";
  expect(commandOf({ carrier: 'docker', name: 'web', folder })).toBe(
    `docker exec -i web countersign acp --workspace '/srv/it'"'"'s here'`,
  );
  const there = `'/srv/it'"'"'s here'`;
  const once = `'${there.replaceAll("'", `'"'"'`)}'`;
  expect(commandOf({ carrier: 'ssh', name: 'b', folder })).toBe(`ssh -a -T b countersign acp --workspace ${once}`);
});

test('an option is no machine, and nothing starts without a folder', () => {
  for (const name of ['-oProxyCommand=x', 'two words', '', ' '])
    expect(commandOf({ carrier: 'ssh', name, folder: '/srv' }), name).toBe('');
  expect(commandOf({ carrier: 'ssh', name: 'b', folder: ' ' })).toBe('');
});

test('the commands are those that the engine is tested with', () => {
  for (const { command, ...elsewhere } of shared.commands) expect(commandOf(elsewhere as Elsewhere)).toBe(command);
  expect(CARRIERS).toEqual(shared.carriers);
});

test('a command leads elsewhere by its program', () => {
  for (const { command } of shared.commands) expect(leadsElsewhere(command), command).toBe(true);
  for (const command of ['  /usr/bin/ssh -T b x', `'/opt/my tools/docker' exec`, 'wsl.exe x'])
    expect(leadsElsewhere(command), command).toBe(true);
  for (const command of ['', 'helper ssh', 'sshd', '.ssh', 'my-docker exec'])
    expect(leadsElsewhere(command), command).toBe(false);
});
