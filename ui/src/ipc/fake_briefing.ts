// The briefing of the recorded engine: one of each kind that the panel has to show.

import type { Briefing, BriefingPart, BriefingText } from './bindings';
import { Refused } from './desk';

/** Instructions, skills and agents of a project. */
export const briefed: Briefing = {
  instructions: [
    { file: '/home/mira/code/tidemark/AGENTS.md', bytes: 4_120, cut: false },
    { file: '/home/mira/code/tidemark/crates/parser/AGENTS.md', bytes: 28_648, cut: true },
  ],
  skills: [
    {
      name: 'release',
      description: 'Cuts a release: the change log, the tag, the notes. Use it when a version is to be published.',
      source: 'project',
      file: '/home/mira/code/tidemark/.agents/skills/release/SKILL.md',
      allowed_tools: ['bash', 'edit'],
      compatibility: 'git 2.40 or newer',
    },
    {
      name: 'pdf',
      description: 'Reads and fills PDF forms.',
      source: 'person',
      file: '/home/mira/.agents/skills/pdf/SKILL.md',
      allowed_tools: [],
      compatibility: '',
    },
  ],
  agents: [
    {
      name: 'general',
      description: 'Any work that can be done apart from yours.',
      source: 'house',
      file: '',
      tools: null,
      model: '',
    },
    {
      name: 'reviewer',
      description: 'Reads a change and says what is wrong with it.',
      source: 'project',
      file: '/home/mira/code/tidemark/.countersign/agents/reviewer.md',
      tools: ['read', 'grep', 'glob'],
      model: 'claude-haiku-5',
    },
  ],
  bytes: 36_204,
  tokens: 9_051,
  faults: [
    {
      message: '/home/mira/code/tidemark/.claude/skills/old/SKILL.md: it has no description.',
      hint: 'Add one; until then it is left out.',
      context: [],
    },
  ],
};

/** The text of a part. */
export function briefingText(briefing: Briefing, of: BriefingPart): BriefingText {
  const plain = (text: string): BriefingText => ({ text: [{ text, control: false }], cut: false, files: [] });
  switch (of.type) {
    case 'whole':
      return {
        ...plain(
          'You work in /home/mira/code/tidemark.\n\nWhat the project says about work in it, the outermost folder first.',
        ),
        cut: true,
      };
    case 'instructions':
      return {
        text: [
          { text: '# The parser\n\nRun `cargo test -p parser` after each change.', control: false },
          { text: 'U+200B', control: true },
        ],
        cut: false,
        files: [],
      };
    case 'skill':
      if (!briefing.skills.some((skill) => skill.name === of.name))
        throw new Refused({
          message: `There is no skill \`${of.name}\`.`,
          hint: 'Look at the list again.',
          context: [],
        });
      return { ...plain(`Steps of ${of.name}.\n\n1. Look.\n2. Do.`), files: ['form.md', 'scripts/split.py'] };
    case 'agent':
      return plain(`You are ${of.name}. Say what you found, the worst first.`);
  }
}
