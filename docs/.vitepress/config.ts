/** The site of the documentation: which pages it has, and in which order. */

import { readFileSync } from 'node:fs';

import { defineConfig } from 'vitepress';

import { leaveSite } from './outside_links';

/** Pages for those who change the code. They are read in the repository. */
const CONTRIBUTORS_PAGES = ['architecture.md', 'testing.md', 'translations.md'];

const icon = readFileSync(new URL('../../icons/icon.svg', import.meta.url)).toString('base64');

export default defineConfig({
  title: 'Countersign',
  description: 'Inspect and approve what AI agents do on your machine.',
  lang: 'en',
  cleanUrls: true,
  outDir: '../target/docs-site',
  cacheDir: '../target/docs-cache',
  srcExclude: CONTRIBUTORS_PAGES,
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  // Below a folder of a host, such as `/countersign/`.
  base: process.env.DOCS_BASE ?? '/',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml;base64,${icon}` }]],
  markdown: {
    config: (markdown) => leaveSite(markdown, CONTRIBUTORS_PAGES),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Command line', link: '/reference/command-line' },
      { text: 'Settings', link: '/reference/settings' },
    ],
    sidebar: [
      {
        text: 'Use',
        items: [
          { text: 'Start in five minutes', link: '/start' },
          { text: 'Install', link: '/install' },
          { text: 'How it decides', link: '/how-it-decides' },
          { text: 'Postures', link: '/postures' },
          { text: 'Rules by example', link: '/rules' },
          { text: 'Dry runs', link: '/dry-runs' },
          { text: 'Undo and its limits', link: '/undo' },
          { text: 'Secrets', link: '/secrets' },
          { text: 'Keys', link: '/keys' },
        ],
      },
      {
        text: 'Connect',
        items: [
          { text: "Other people's agents", link: '/agents' },
          { text: 'Editors', link: '/editors' },
          { text: 'Servers of tools', link: '/servers' },
          { text: 'In a team', link: '/team' },
          { text: 'Continuous integration', link: '/ci' },
        ],
      },
      {
        text: 'Trust',
        items: [
          { text: 'Security', link: '/security' },
          { text: 'What holds on which system', link: '/platforms' },
          { text: 'What asks on a day', link: '/attention' },
          { text: 'Troubleshooting', link: '/troubleshooting' },
        ],
      },
      {
        text: 'Reference',
        items: [
          { text: 'Command line', link: '/reference/command-line' },
          { text: 'Settings', link: '/reference/settings' },
          { text: 'Glossary', link: '/glossary' },
          { text: 'Decisions', link: '/decisions/' },
        ],
      },
    ],
  },
});
