export default {
  compilerOptions: { runes: true },
  vitePlugin: {
    dynamicCompileOptions: ({ filename }) => (filename.includes('node_modules') ? { runes: undefined } : undefined),
  },
};
