import { defineConfig, type Plugin, type UserConfig } from 'vite'

/** web-tree-sitter receives its runtime as bytes, so the copy that Vite would emit for its default location is not needed. */
function leaveRuntimeOut(): Plugin {
  const runtimeUrl = 'new URL("web-tree-sitter.wasm"'
  return {
    name: 'leave-runtime-out',
    transform: {
      filter: { id: /\/web-tree-sitter\.js$/ },
      handler(code) {
        if (!code.includes(runtimeUrl)) this.error('web-tree-sitter locates its runtime in an unknown way')
        return { code: code.replace(runtimeUrl, runtimeUrl.replace('(', '(/* @vite-ignore */ ')), map: null }
      },
    },
  }
}

// web-tree-sitter contains an `eval` that the grammars in use never reach, and that the policy of the page would block.
const rolldownOptions = { checks: { eval: false } }

const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  // Relative, because the page can be hosted in any folder.
  base: './',
  // The production build defines a digest of its sources instead. Chunks of another build are not reused.
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
