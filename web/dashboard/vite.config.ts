import { defineConfig, type UserConfig } from 'vite'

const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  base: '/',
  // The server sends a strict content security policy: no inline content, and no scripts created at run time.
  build: {
    outDir: '../../dist/web/dashboard',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    sourcemap: false,
    // One chunk for what the page shares with lazily loaded parts, instead of one for each combination of parts.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] } } },
  },
  resolve: { dedupe: ['preact'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: { proxy: { '^/(api|events|health|login)': 'http://127.0.0.1:41000' } },
})

export default config
