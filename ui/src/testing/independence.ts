// All test files share the page and the modules of their process: every test finds them as the first one did. What cannot
// be put back fails the test that left it.

import { beforeEach, expect, vi } from 'vitest';
import { resetWindowFocus } from '../domain/approvals/deciding/window_focus';
import { resetLentFocus } from '../domain/card_focus';
import { addedSince, pageListeners } from './page_listeners';

// Runs after the components of the test were removed: what the first hook returns runs last.
beforeEach(() => {
  const before = pageListeners();
  return () => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    localStorage.clear();
    sessionStorage.clear();
    resetWindowFocus();
    resetLentFocus();
    document.title = '';
    delete document.documentElement.dataset['theme'];

    const left = { elements: document.body.innerHTML, listeners: addedSince(before) };
    document.body.replaceChildren();
    expect(left, 'left behind by this test').toEqual({ elements: '', listeners: [] });
  };
});
