import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url))

test('commands with different flags keep the compiled code of each other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-flags-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env
  const env = { ...environment, XDG_CACHE_HOME: folder, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }
  const run = (...args: string[]): { readonly accepted: number; readonly rejected: number } => {
    const argv = [MAIN, ...args, '--library', join(folder, 'library.db')]
    const { stdout, stderr } = spawnSync(process.execPath, argv, { env, input: '', encoding: 'utf8' })
    const count = (result: string): number => `${stdout}${stderr}`.split(`was ${result}`).length - 1
    return { accepted: count('accepted'), rejected: count('rejected') }
  }
  run('list')
  const { accepted } = run('list')
  expect(accepted).toBeGreaterThan(50)
  run('mcp')
  run('serve', '--port', 'none')
  run('recrawl', 'nothing')
  expect(run('list')).toEqual({ accepted, rejected: 0 })
})
