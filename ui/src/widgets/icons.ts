// The icons of the app: 16 × 16, stroke 1.5, one metaphor each. Drawn by Icon.svelte.

/** One shape of an icon. */
export type Shape =
  | { d: string; filled?: true; faint?: true; dash?: string }
  | { cx: number; cy: number; r: number; filled?: true; faint?: true }
  | { x: number; y: number; w: number; h: number; rx: number; dash?: string };

export const icons = {
  // Kinds of calls
  read: [
    { d: 'M2.5 3.5h4a1.5 1.5 0 0 1 1.5 1.5v8a1.2 1.2 0 0 0-1.2-1.2H2.5z' },
    { d: 'M13.5 3.5h-4A1.5 1.5 0 0 0 8 5v8a1.2 1.2 0 0 1 1.2-1.2h4.3z' },
  ],
  edit: [{ d: 'M10.8 2.8l2.4 2.4L6 12.4l-3.2.8.8-3.2z' }, { d: 'M9.2 4.4l2.4 2.4' }],
  delete: [{ d: 'M3 4.5h10M6.2 4.3V3h3.6v1.3M4.2 4.5l.6 8.5h6.4l.6-8.5M6.8 7v3.6M9.2 7v3.6' }],
  move: [{ d: 'M2.5 3v6.5a1 1 0 0 0 1 1h9.5' }, { d: 'M10.5 7.8l2.8 2.7-2.8 2.7' }, { d: 'M6 3h3.5' }],
  search: [{ cx: 7, cy: 7, r: 4.2 }, { d: 'M10.2 10.2l3.3 3.3' }],
  execute: [{ x: 2, y: 3, w: 12, h: 10, rx: 1.5 }, { d: 'M4.8 6.2L6.8 8l-2 1.8M8.6 10h2.6' }],
  think: [{ d: 'M5.2 9.6A4 4 0 1 1 10.8 9.6c-.5.5-.8.9-.8 1.6H6c0-.7-.3-1.1-.8-1.6z' }, { d: 'M6.4 13.5h3.2' }],
  fetch: [
    { cx: 8, cy: 8, r: 5.5 },
    { d: 'M2.5 8h11M8 2.5c2 1.6 2.8 3.4 2.8 5.5S10 11.9 8 13.5C6 11.9 5.2 10.1 5.2 8S6 4.1 8 2.5z' },
  ],
  other: [{ d: 'M8 2.5l4.8 2.75v5.5L8 13.5l-4.8-2.75v-5.5z' }, { d: 'M8 8l4.6-2.6M8 8v5.3M8 8L3.4 5.4' }],
  question: [
    { d: 'M2.5 3.5h11v7.5H8.5L5.5 13.5V11h-3z' },
    { d: 'M6.7 6a1.35 1.35 0 1 1 1.9 1.25c-.4.2-.6.4-.6.85' },
    { cx: 8, cy: 9.5, r: 0.7, filled: true },
  ],
  task: [
    { cx: 4, cy: 3.8, r: 1.5 },
    { cx: 12, cy: 8, r: 1.5 },
    { cx: 12, cy: 12.6, r: 1.5 },
    { d: 'M4 5.3v5.8a1.5 1.5 0 0 0 1.5 1.5h5M4 8h6.5' },
  ],
  todo: [{ d: 'M2.5 4.2l1.2 1.2 2-2.2M2.5 10.7l1.2 1.2 2-2.2M8.5 4.5h5M8.5 11h5' }],
  // States
  waiting: [
    { cx: 8, cy: 8, r: 5.5 },
    { d: 'M8 2.5a5.5 5.5 0 0 1 0 11z', filled: true },
  ],
  running: [{ cx: 8, cy: 8, r: 5.5, faint: true }, { d: 'M8 2.5A5.5 5.5 0 0 1 13.5 8' }],
  done: [{ d: 'M3.2 8.4l3 3 6.6-6.8' }],
  failed: [{ d: 'M8 2.6l5.8 10.2H2.2z' }, { d: 'M8 6.6v2.8' }, { cx: 8, cy: 11.2, r: 0.75, filled: true }],
  rejected: [{ cx: 8, cy: 8, r: 5.5 }, { d: 'M6 6l4 4M10 6l-4 4' }],
  denied: [{ d: 'M8 2.3l4.8 1.7v4c0 2.8-2 4.8-4.8 5.8-2.8-1-4.8-3-4.8-5.8V4z' }, { d: 'M5.8 8h4.4' }],
  off: [{ cx: 8, cy: 8, r: 5.5 }],
  idle: [
    { cx: 8, cy: 8, r: 5.5 },
    { cx: 8, cy: 8, r: 1.6, filled: true },
  ],
  undone: [{ d: 'M5.5 3.5L3 6l2.5 2.5' }, { d: 'M3.2 6H9.5a3.5 3.5 0 0 1 0 7H6' }],
  interrupted: [{ d: 'M8 2.5a5.5 5.5 0 1 1-5.5 5.5', dash: '2.600 2.400' }, { d: 'M6.6 6.2v3.6M9.4 6.2v3.6' }],
  // Modes, drawn for 12 px
  'm-read': [{ d: 'M1.8 8S4 4 8 4s6.2 4 6.2 4-2.2 4-6.2 4-6.2-4-6.2-4z' }, { cx: 8, cy: 8, r: 1.6 }],
  'm-safe': [{ d: 'M3.5 13h9M10.3 2.8l1.9 1.9-5.7 5.8-2.4.5.5-2.4z' }],
  'm-destructive': [{ d: 'M5.6 2.5h4.8l3.1 3.1v4.8l-3.1 3.1H5.6L2.5 10.4V5.6z' }, { d: 'M5.5 8h5' }],
  'm-local': [{ x: 2.2, y: 3, w: 11.6, h: 8, rx: 1.2 }, { d: 'M5 13.5h6' }],
  'm-external': [{ d: 'M7 4H3.5v8.5H12V9' }, { d: 'M9.5 2.8h3.7v3.7M13 3L7.5 8.5' }],
  // Places
  desk: [{ d: 'M2.5 9l1.8-5.5h7.4L13.5 9v4h-11z' }, { d: 'M2.5 9h3.2l.8 1.6h3l.8-1.6h3.2' }],
  history: [{ d: 'M3 3.2v3h3' }, { d: 'M3.2 6A5.3 5.3 0 1 1 2.7 8.5' }, { d: 'M8 5.2V8.2l2 1.3' }],
  rules: [{ d: 'M3 4.5h6M12 4.5h1M3 11.5h1M7 11.5h6' }, { cx: 10.5, cy: 4.5, r: 1.5 }, { cx: 5.5, cy: 11.5, r: 1.5 }],
  tools: [{ d: 'M9.8 3.2a3 3 0 0 1 3.7 3.9l-1.8-.4-1-1 .4-1.6zM10 7L4.7 12.3a1.3 1.3 0 0 1-1.9-1.9L8.2 5.2' }],
  servers: [
    { x: 2.5, y: 3, w: 11, h: 4.2, rx: 1.2 },
    { x: 2.5, y: 8.8, w: 11, h: 4.2, rx: 1.2 },
    { cx: 5.2, cy: 5.1, r: 0.7, filled: true },
    { cx: 5.2, cy: 10.9, r: 0.7, filled: true },
  ],
  connections: [{ d: 'M4.2 6h7.6v1.8a3.8 3.8 0 0 1-7.6 0zM6.2 2.6V6M9.8 2.6V6M8 11.6v1.9' }],
  settings: [
    { cx: 8, cy: 8, r: 2 },
    { d: 'M8 2v2M8 12v2M2 8h2M12 8h2M3.8 3.8l1.4 1.4M10.8 10.8l1.4 1.4M12.2 3.8l-1.4 1.4M5.2 10.8l-1.4 1.4' },
  ],
  keyboard: [
    { x: 1.8, y: 4, w: 12.4, h: 8, rx: 1.5 },
    { d: 'M4.4 6.6h.1M6.8 6.6h.1M9.2 6.6h.1M11.5 6.6h.1M5.5 9.4h5' },
  ],
  theme: [
    { cx: 8, cy: 8, r: 5.5 },
    { d: 'M8 2.5a5.5 5.5 0 0 0 0 11z', filled: true },
  ],
  pin: [{ d: 'M5.5 2.5h5M6.3 2.5l-.4 4.6-2 2.2h8.2l-2-2.2-.4-4.6M8 9.3v4.2' }],
  archive: [{ x: 2.2, y: 3, w: 11.6, h: 3, rx: 0.8 }, { d: 'M3.2 6v7h9.6V6M6.4 8.6h3.2' }],
  folder: [{ d: 'M2.2 12.5v-9h4.2L8 5.2h5.8v7.3z' }],
  panel: [{ x: 2, y: 3, w: 12, h: 10, rx: 1.5 }, { d: 'M10 3v10' }],
  person: [{ cx: 8, cy: 5.5, r: 2.5 }, { d: 'M3 13.5c.6-2.6 2.5-4 5-4s4.4 1.4 5 4' }],
  // Acts
  check: [{ d: 'M3.2 8.4l3 3 6.6-6.8' }],
  chev: [{ d: 'M4.5 6.5L8 10l3.5-3.5' }],
  up: [{ d: 'M4.5 9.5L8 6l3.5 3.5' }],
  clock: [{ cx: 8, cy: 8, r: 5.5 }, { d: 'M8 5v3.2l2 1.2' }],
  copy: [{ x: 5.5, y: 5.5, w: 8, h: 8, rx: 1.2 }, { d: 'M3.5 10.5h-1v-8h8v1' }],
  image: [
    { x: 2.5, y: 3, w: 11, h: 10, rx: 1.5 },
    { cx: 5.8, cy: 6.2, r: 1.1 },
    { d: 'M2.8 11.8l3.4-3 2.1 1.8 2.3-2.4 2.8 2.8' },
  ],
  fork: [
    { cx: 4.5, cy: 3.6, r: 1.5 },
    { cx: 4.5, cy: 12.4, r: 1.5 },
    { cx: 11.5, cy: 5.6, r: 1.5 },
    { d: 'M4.5 5.1v5.8M11.5 7.1c0 2.4-3.4 2.2-5.6 3.3' },
  ],
  ghost: [{ x: 2.5, y: 2.5, w: 8, h: 8, rx: 1.2, dash: '2 2' }, { d: 'M6 13.5h6.3a1.2 1.2 0 0 0 1.2-1.2V6' }],
  info: [{ cx: 8, cy: 8, r: 5.5 }, { d: 'M8 7.5v3.3' }, { cx: 8, cy: 5.3, r: 0.8, filled: true }],
  more: [
    { cx: 3.5, cy: 8, r: 1.1, filled: true },
    { cx: 8, cy: 8, r: 1.1, filled: true },
    { cx: 12.5, cy: 8, r: 1.1, filled: true },
  ],
  rows: [{ d: 'M2.5 4h11M2.5 8h11M2.5 12h7' }],
  key: [{ cx: 5.2, cy: 10.8, r: 2.6 }, { d: 'M7.1 8.9L13 3M10.6 5.4l2 2M8.9 7.1l1.2 1.2' }],
  net: [
    { cx: 8, cy: 8, r: 5.5 },
    { d: 'M2.5 8h11M8 2.5c2 1.6 2.8 3.4 2.8 5.5S10 11.9 8 13.5C6 11.9 5.2 10.1 5.2 8S6 4.1 8 2.5z' },
  ],
  play: [{ d: 'M5 3.5l7.5 4.5L5 12.5z' }],
  plus: [{ d: 'M8 3.5v9M3.5 8h9' }],
  receipt: [{ d: 'M3.5 2.5h9v11l-1.5-1-1.5 1-1.5-1-1.5 1-1.5-1-1.5 1z' }, { d: 'M6 6h4M6 8.8h4' }],
  redirect: [{ d: 'M4 4l4 4-4 4M9.5 12H13' }],
  redo: [{ d: 'M10.5 3.5L13 6l-2.5 2.5' }, { d: 'M12.8 6H6.5a3.5 3.5 0 0 0 0 7H10' }],
  send: [{ d: 'M8 13V3.5M4 7l4-3.8L12 7' }],
  shield: [{ d: 'M8 2.3l4.8 1.7v4c0 2.8-2 4.8-4.8 5.8-2.8-1-4.8-3-4.8-5.8V4z' }],
  stop: [{ x: 4.2, y: 4.2, w: 7.6, h: 7.6, rx: 1.2 }],
  export: [{ d: 'M8 10V2.8M5 5.6L8 2.8l3 2.8' }, { d: 'M3 9.5V13h10V9.5' }],
  x: [{ d: 'M4.5 4.5l7 7M11.5 4.5l-7 7' }],
} satisfies Record<string, readonly Shape[]>;

/** The name of an icon. */
export type IconName = keyof typeof icons;
