import { defineConfig, type Plugin, type UserConfig } from 'vite'

/** The runtime of the grammars is handed to web-tree-sitter as bytes; a second copy, where it would look for it, is of no use. */
function leaveRuntimeOut(): Plugin {
  const sought = 'new URL("web-tree-sitter.wasm"'
  return {
    name: 'leave-runtime-out',
    transform: {
      filter: { id: /\/web-tree-sitter\.js$/ },
      handler(code) {
        if (!code.includes(sought)) this.error('web-tree-sitter looks for its runtime in another way now')
        return { code: code.replace(sought, sought.replace('(', '(/* @vite-ignore */ ')), map: null }
      },
    },
  }
}

// web-tree-sitter holds an eval that the grammars we use never reach, and that the policy of the page would stop.
const rolldownOptions = { checks: { eval: false } }

const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  // It may lie in any folder of any host.
  base: './',
  // The build has a name for each of its outcomes; what was cut by another is not relied on.
  define: { PAGE_BUILD: JSON.stringify('development') },
  plugins: [leaveRuntimeOut()],
  build: {
    outDir: '../../dist/web/local',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    sourcemap: false,
    rolldownOptions,
  },
  worker: { format: 'es', plugins: () => [leaveRuntimeOut()], rolldownOptions },
  resolve: { dedupe: ['preact'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})

export default config
