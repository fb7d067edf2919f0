import { resolve } from 'node:path';
import { defineConfig, mergeConfig } from 'vite';
import app from '../vite.config.ts';
import { markMounted } from './mount_marks.ts';

const root = resolve(import.meta.dirname, '..');
const policy = app.preview?.headers?.['Content-Security-Policy'];

// The gallery, built as the app is. Its pages are photographed in frames, which the policy of the window does not allow.
export default mergeConfig(
  app,
  defineConfig({
    root,
    plugins: [markMounted()],
    build: {
      outDir: resolve(root, 'node_modules/.cache/gallery'),
      minify: false,
      // In one piece: a page that is drawn waits for nothing more.
      cssCodeSplit: false,
      rollupOptions: { input: resolve(root, 'gallery.html'), output: { codeSplitting: false } },
    },
    preview: {
      port: 0,
      headers: { 'Content-Security-Policy': String(policy).replace("frame-src 'none'", "frame-src 'self'") },
    },
  }),
);
