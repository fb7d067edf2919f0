// The code that sessions are worked with: transcript, cards, inspector. Loaded beside the first screen.

export { default as Body } from './features/approvals/body/Body.svelte';
export { default as Card } from './features/approvals/card/Card.svelte';
export { previewArgs } from './features/approvals/preview';
export { default as Diff } from './features/diff/Diff.svelte';
export { default as Inspector } from './features/inspector/Inspector.svelte';
export { default as Form } from './features/questions/Form.svelte';
export { default as Composer } from './features/session/Composer.svelte';
export { default as Inbox } from './features/session/Inbox.svelte';
export { default as SessionBar } from './features/session/SessionBar.svelte';
export { default as Transcript } from './features/transcript/Transcript.svelte';
