// The modules ask the same catalogue as the components.

export { getRuntime, getRuntimeRx } from './main.loader.svelte';
