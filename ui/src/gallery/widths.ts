// The widths that pages of the gallery are looked at in: the smallest window, a usual one, and the one that opens first.

export const WIDTHS = [760, 1080, 1440] as const;
export type Width = (typeof WIDTHS)[number];

/** Height of a window, as it first opens. Pages of screens have this height. */
export const HEIGHT = 900;
