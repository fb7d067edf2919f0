// Offers, imports and watchdogs of the recorded engine.

import type { GrantOffer, ImportSource, NewRule, Trail, WatchdogView } from './bindings';

const rule = (permission: string, pattern: string | null, action: NewRule['action']): NewRule => ({
  permission,
  pattern,
  action,
  reason: null,
  matches: [],
  not_matches: [],
  expires_ms: null,
  max_uses: null,
});

/** Grants on offer from a card that runs a command. */
export const sampleOffers: GrantOffer[] = [
  {
    permission: 'bash',
    pattern: 'cargo update*',
    action: 'allow',
    words: '`cargo update` with any arguments',
    lasts: ['session', 'project', 'everywhere'],
  },
  {
    permission: 'bash',
    pattern: 'cargo update -w',
    action: 'allow',
    words: 'just `cargo update -w`',
    lasts: ['session', 'project', 'everywhere'],
    overrides: {
      permission: 'bash',
      pattern: 'cargo*',
      action: 'ask',
      reason: null,
      scope: 'project',
      file: '.countersign/rules.toml',
      line: 14,
    },
  },
  {
    permission: 'bash',
    pattern: 'cargo update*',
    action: 'deny',
    words: '`cargo update` with any arguments',
    lasts: ['session', 'project', 'everywhere'],
  },
];

/** Grants on offer from a card that changes a file; a rule for the session would be too weak. */
export const pathOffers: GrantOffer[] = [
  {
    permission: 'fs.write',
    pattern: 'web/src/lib/query.ts',
    action: 'allow',
    words: 'just `web/src/lib/query.ts`',
    lasts: ['project', 'everywhere'],
  },
  {
    permission: 'fs.write',
    pattern: 'web/src/lib/**',
    action: 'allow',
    words: 'everything in `web/src/lib`',
    lasts: ['project', 'everywhere'],
    overrides: {
      permission: 'fs.write',
      pattern: 'web/**',
      action: 'ask',
      reason: null,
      scope: 'project',
      file: '.countersign/rules.toml',
      line: 8,
    },
  },
  { permission: 'edit', pattern: null, action: 'allow', words: 'every call of `edit`', lasts: ['everywhere'] },
  {
    permission: 'fs.write',
    pattern: 'web/src/lib/query.ts',
    action: 'deny',
    words: 'just `web/src/lib/query.ts`',
    lasts: ['session', 'project', 'everywhere'],
  },
];

export const sampleWatchdogs: WatchdogView[] = [
  { name: 'no-prod', program: '/home/mira/bin/no-prod', timeout_ms: 2_000 },
];

export const sampleImports: readonly ImportSource[] = [
  {
    product: 'claude_code',
    file: '.claude/settings.json',
    fault: null,
    suggestions: [
      {
        written: 'Bash(npm run test:*)',
        line: 4,
        rule: rule('bash', 'npm run test*', 'allow'),
        note: 'The same, but only where every word is plain.',
      },
      { written: 'Bash(curl:*)', line: 5, rule: null, note: 'Cannot be taken: it would cover whatever is downloaded.' },
      {
        written: 'Read(./secrets/**)',
        line: 9,
        rule: rule('fs.read', 'secrets/**', 'deny'),
        note: 'Here it matches at any depth, so it is stricter.',
      },
    ],
  },
  {
    product: 'codex',
    file: '~/.codex/rules/default.rules',
    fault: {
      message: 'default.rules, line 3: a bracket is missing.',
      hint: 'Correct the file, then look again.',
      context: [],
    },
    suggestions: [],
  },
];

/** The trail of a call that was only tried. */
export function sampleTrail(target: string): Trail {
  return {
    verdict: target.startsWith('cargo update') ? 'allow' : 'ask',
    lead: target.startsWith('cargo update')
      ? 'Allowed, because a rule says so.'
      : 'Needs approval: it runs on your machine, and no rule allows it.',
    otherwise: '',
    steps: [
      { gate: 'mode', verdict: 'ask', text: 'A local tool asks.' },
      {
        gate: 'rules',
        verdict: target.startsWith('cargo update') ? 'allow' : null,
        text: '',
        rules: target.startsWith('cargo update')
          ? [
              {
                rule: {
                  permission: 'bash',
                  pattern: 'cargo update*',
                  action: 'allow',
                  reason: null,
                  scope: 'project',
                  file: '.countersign/rules.toml',
                  line: 15,
                },
                won: true,
                why: 'the only one',
              },
            ]
          : [],
      },
    ],
  };
}
