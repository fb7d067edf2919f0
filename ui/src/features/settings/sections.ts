// The sections of the settings: names, icons, and words that a person may look for. Pure.

import type { SettingsSection } from '../../state/view';
import type { IconName } from '../../widgets/icons';

/** A section as the index names it. */
export interface SectionInfo {
  id: SettingsSection;
  title: string;
  icon: IconName;
  /** What its settings are for, in a sentence or two. */
  lead: string;
  /** Further words that find the section. */
  words: string;
}

/** Every section, in the order of the index: what is needed first and changed most comes first. */
export const settingsSections: readonly SectionInfo[] = [
  {
    id: 'providers',
    title: 'Providers',
    icon: 'key',
    lead: 'The models that can work in a session. A key comes from an environment variable, or is kept in the system keychain; it is never written to a file, and never recorded.',
    words: 'model api key keychain anthropic openai gemini ollama openrouter lm studio base url price',
  },
  {
    id: 'appearance',
    title: 'Appearance',
    icon: 'theme',
    lead: 'How the window looks, and which editor it opens.',
    words: 'look colors colours',
  },
  {
    id: 'keys',
    title: 'Keys',
    icon: 'keyboard',
    lead: 'The keys of every command, and how the app is reached from other programs. Enter and Space never allow, whatever keys you choose; an answer counts only while its card has the focus and was seen whole.',
    words: 'keyboard shortcut hotkey binding',
  },
  {
    id: 'asking',
    title: 'Asking & notifications',
    icon: 'question',
    lead: 'What needs your approval, and how you hear of it.',
    words: 'approval permission ask',
  },
  {
    id: 'commands',
    title: 'Commands & sandbox',
    icon: 'execute',
    lead: 'How commands are run, and what this machine can promise about them.',
    words: 'shell bash dry run',
  },
  {
    id: 'limits',
    title: 'Run limits',
    icon: 'clock',
    lead: 'How the calls of a run are scheduled, and when a run stops by itself.',
    words: 'budget maximum',
  },
  {
    id: 'undo',
    title: 'Undo & data',
    icon: 'history',
    lead: 'The copies by which changes are undone, and how long they and long outputs are kept.',
    words: 'snapshot backup storage disk space history deleted',
  },
  {
    id: 'web_search',
    title: 'Web search',
    icon: 'net',
    lead: 'The search providers that agents may ask.',
    words: 'internet brave tavily exa searxng api key',
  },
  {
    id: 'languages',
    title: 'Language servers',
    icon: 'read',
    lead: 'Programs that know definitions, references, and errors. Each runs unsandboxed, with your permissions, may run what it finds in the folder, and is off until you switch it on.',
    words: 'lsp ide rust-analyzer pyright gopls clangd typescript',
  },
  {
    id: 'programs',
    title: 'Watchdogs & hooks',
    icon: 'shield',
    lead: 'Programs of your own that look at calls. They run unsandboxed, with your permissions.',
    words: 'script audit check',
  },
  {
    id: 'about',
    title: 'About',
    icon: 'info',
    lead: 'This version of Countersign, and newer ones.',
    words: 'privacy telemetry update upgrade',
  },
];
