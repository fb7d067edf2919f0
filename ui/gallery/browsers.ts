/** How many browsers work at a time: one for each core of a small machine. */
export const BROWSERS = 2;
