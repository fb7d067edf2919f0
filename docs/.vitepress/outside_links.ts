/** Links to files of the repository that are no pages of the site. */

import { posix } from 'node:path';

import type { MarkdownRenderer } from 'vitepress';

/** Address of the repository's files, such as `https://host/owner/name/blob/main`. */
const REPOSITORY_FILES = process.env.DOCS_REPOSITORY_FILES;

/**
 * Lets links to files outside of the site lead to the repository. Where its address is not known, only their text is kept.
 * `apart` are the pages beside the others that are not on the site.
 */
export function leaveSite(markdown: MarkdownRenderer, apart: string[]): void {
  markdown.core.ruler.push('outside_links', (state) => {
    const page: string = state.env.relativePath;
    for (const block of state.tokens) {
      let isDropped = false;
      block.children =
        block.children?.filter((token) => {
          if (token.type === 'link_open') {
            const path = findOutsidePath(token.attrGet('href') ?? '', page, apart);
            if (path === undefined) return true;
            if (REPOSITORY_FILES) {
              token.attrSet('href', `${REPOSITORY_FILES}/${path}`);
              return true;
            }
            isDropped = true;
            return false;
          }
          const isEndOfDropped = token.type === 'link_close' && isDropped;
          if (isEndOfDropped) isDropped = false;
          return !isEndOfDropped;
        }) ?? null;
    }
  });
}

/** Returns the path in the repository that a link of a page leads to, if that is no page of the site. */
function findOutsidePath(href: string, page: string, apart: string[]): string | undefined {
  if (/^([a-z]+:|#|\/)/.test(href)) return undefined;
  const path = posix.join('docs', posix.dirname(page), href.split('#')[0]);
  const isApart = apart.some((name) => path === `docs/${name}`);
  return isApart || !path.startsWith('docs/') ? path : undefined;
}
