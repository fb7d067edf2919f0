import { readFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';
import { languages } from './languages/plugin.js';

// The window's own content security policy, so that a preview in a browser is held to the same rules.
const shell = JSON.parse(readFileSync(new URL('../tauri.conf.json', import.meta.url), 'utf8'));
const policy = Object.entries<string>(shell.app.security.csp)
  .map(([name, value]) => `${name} ${value}`)
  .join('; ');

export default defineConfig({
  plugins: [languages(), svelte(), svelteTesting()],
  clearScreen: false,
  server: { port: 5173, strictPort: true, host: '127.0.0.1', fs: { allow: ['..'] } },
  preview: { port: 4173, host: '127.0.0.1', headers: { 'Content-Security-Policy': policy } },
  build: {
    target: ['es2022', 'safari16'],
    outDir: 'dist',
    emptyOutDir: true,
    // A data: address would be refused by the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/testing/stand_ins.ts', 'src/testing/independence.ts'],
    // The processes are shared: `testing/independence.ts` keeps the tests apart.
    pool: 'forks',
    isolate: false,
    // Vitest leaves one core to a person at work; on two cores that is every second one.
    maxWorkers: '100%',
    // The accessibility rules take a while on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
