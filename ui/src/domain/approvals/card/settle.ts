// The one motion of a card: once it is answered it folds to its settled form.

/** Folds a card from the height it had to the height it has. Not at all where the system asks for reduced motion. */
export function settle(card: HTMLElement, from: number): void {
  const style = getComputedStyle(document.documentElement);
  const duration = Number.parseFloat(style.getPropertyValue('--d-settle')) || 0;
  const to = card.offsetHeight;
  if (duration === 0 || from <= to || typeof card.animate !== 'function') return;
  card.animate(
    [
      { height: `${from}px`, overflow: 'clip' },
      { height: `${to}px`, overflow: 'clip' },
    ],
    { duration, easing: style.getPropertyValue('--ease') || 'ease-out' },
  );
}
