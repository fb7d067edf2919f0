// What the accessibility rules find in a page of a test.

import axe, { type Result } from 'axe-core';
import { vi } from 'vitest';

/** Contrast needs a real page, and the tokens have their own figures; a part that stands alone is in no region. */
const RULES_OFF = { 'color-contrast': { enabled: false }, region: { enabled: false } };

/** All findings in an element, as "rule: element". */
export async function findFaults(root: Element): Promise<string[]> {
  return nameFindings(await runRules(root));
}

/** Serious and critical findings in the page, as "rule: element". */
export async function findSeriousFaults(): Promise<string[]> {
  const all = await runRules(document);
  return nameFindings(all.filter(({ impact }) => impact === 'serious' || impact === 'critical'));
}

async function runRules(root: Element | Document): Promise<Result[]> {
  // The rules take their turns by timers.
  vi.useRealTimers();
  const compute = window.getComputedStyle;
  window.getComputedStyle = shareStyles(compute);
  try {
    const { violations } = await axe.run(root, { rules: RULES_OFF, resultTypes: ['violations'], preload: false });
    return violations;
  } finally {
    window.getComputedStyle = compute;
  }
}

const nameFindings = (all: Result[]): string[] =>
  all.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}`));

/** Attributes that decide about a style: the element's own one, and those that the style sheet of jsdom asks for. */
const STYLING = ['style', 'hidden', 'open', 'type', 'disabled', 'readonly', 'list', 'dir'];

/**
 * Computes the styles of a page that does not change meanwhile. jsdom compares each element with the whole style sheet of a
 * browser, and no other is loaded: elements with the same tags and attributes up to the root share one style.
 */
function shareStyles(compute: typeof window.getComputedStyle): typeof window.getComputedStyle {
  const looks = new WeakMap<Element, string>();
  const numbers = new Map<string, number>();
  const styles = new Map<string, CSSStyleDeclaration>();
  const lookOf = (element: Element): string => {
    const known = looks.get(element);
    if (known !== undefined) return known;
    const parent = element.parentElement === null ? '' : lookOf(element.parentElement);
    if (!numbers.has(parent)) numbers.set(parent, numbers.size);
    const own = STYLING.map((name) => element.getAttribute(name));
    const look = JSON.stringify([numbers.get(parent), element.tagName, ...own]);
    looks.set(element, look);
    return look;
  };
  return (element) => {
    const look = lookOf(element);
    const style = styles.get(look) ?? compute(element);
    styles.set(look, style);
    return style;
  };
}
