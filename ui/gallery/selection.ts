// Which pictures have references, and so are compared: the rule for all pages.

import { WIDTHS, type Width } from '../src/gallery/widths';
import type { Photographed } from '../src/gallery/main';

export const THEMES = ['light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

type Page = Photographed['pages'][number];

/** Groups of components. What is around them answers to the width of the window, and they take what it leaves. */
const COMPONENTS = ['Widgets', 'Cards'];

/**
 * Returns the themes that a page is compared in at a width. The theme decides about colours alone, so both are compared at one width.
 * The screens of a group share what gives way in a narrow window, and in a wide one they have the same room to spare: the first of
 * them stands for all.
 */
export function listComparedThemes(page: Page, width: Width, pages: readonly Page[]): readonly Theme[] {
  const [, usual] = WIDTHS;
  if (width === usual) return THEMES;
  const isFirst = pages.find(({ group }) => group === page.group) === page;
  return isFirst && !COMPONENTS.includes(page.group) ? ['light'] : [];
}
