import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type UserConfig } from 'vite'

const root = import.meta.dirname

/** Names the version of what cuts: the same sources cut alike. */
function digestSources(): string {
  const hash = createHash('sha256')
  for (const folder of [root, join(root, '../../src/core')]) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
    for (const name of files.sort()) hash.update(`${name}\n`).update(readFileSync(join(folder, name)))
  }
  return hash.digest('hex').slice(0, 16)
}

const config: UserConfig = defineConfig({
  root,
  // It may lie in any folder of any host.
  base: './',
  define: { PAGE_BUILD: JSON.stringify(digestSources()) },
  build: {
    outDir: '../../dist/web/local',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    sourcemap: false,
  },
  worker: { format: 'es' },
  resolve: { dedupe: ['preact'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})

export default config
