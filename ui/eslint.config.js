import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import { defineConfig, globalIgnores } from 'eslint/config';
import { VERSION } from 'svelte/compiler';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

export default defineConfig(
  globalIgnores(['dist', 'src/ipc/bindings', 'src/locales/.wuchale', 'src/locales/data.js']),
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  svelte.configs.prettier,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: {
      parserOptions: {
        parser: ts.parser,
        extraFileExtensions: ['.svelte'],
        // Functions of the configuration would keep findings from being cached.
        svelteConfig: { compilerOptions: svelteConfig.compilerOptions },
      },
    },
    // Rules ask the compiler, too: findings of another version do not count.
    settings: { 'svelte/compiler': VERSION },
  },
  {
    rules: {
      // The compiler of TypeScript finds names that do not exist.
      'no-undef': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_$' }],
      // Sets and maps in state are replaced whole, never changed.
      'svelte/prefer-svelte-reactivity': 'off',
      // A space at the start or the end of a block is written `{' '}`, or it would be cut off.
      'svelte/no-useless-mustaches': 'off',
    },
  },
);
