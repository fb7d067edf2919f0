// When a landing ends: frames decide, and no clock.

import { beforeEach, expect, test, vi } from 'vitest';
import { Landing } from './landing';

beforeEach(() => void vi.useFakeTimers({ toFake: ['requestAnimationFrame', 'cancelAnimationFrame'] }));

/** Draws frames while the landing goes on, each after `before`. Returns how many it took. */
function drawFrames(landing: Landing, before: () => void = () => {}): number {
  let drawn = 0;
  while (landing.isUnderWay && drawn < 1_000) {
    before();
    vi.advanceTimersToNextFrame();
    drawn += 1;
  }
  return drawn;
}

test('it ends once nothing has changed for some frames, and each change counts them anew', () => {
  const landing = new Landing();
  expect(landing.isUnderWay).toBe(false);
  landing.begin();
  const still = drawFrames(landing);
  expect(still).toBeGreaterThan(1);

  let changes = 5;
  landing.begin();
  const moved = drawFrames(landing, () => {
    if (changes > 0) landing.noteChange();
    changes -= 1;
  });
  expect(moved).toBe(still + 4);
});

test('it says once that the place is found, and not when it is broken off', () => {
  const found = vi.fn();
  const landing = new Landing(found);
  landing.begin();
  landing.end();
  expect(found).not.toHaveBeenCalled();
  landing.begin();
  drawFrames(landing);
  expect(found).toHaveBeenCalledOnce();
});

test('it ends although something goes on changing', () => {
  const landing = new Landing();
  landing.begin();
  expect(drawFrames(landing, () => landing.noteChange())).toBeLessThan(100);
});

test('a change begins none, and the end of one leaves no frame behind', () => {
  const landing = new Landing();
  landing.noteChange();
  expect([landing.isUnderWay, vi.getTimerCount()]).toEqual([false, 0]);
  landing.begin();
  landing.end();
  expect([landing.isUnderWay, vi.getTimerCount()]).toEqual([false, 0]);
});
