import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAliveFile } from './alive-file.ts'

test('keeps the liveness file in place while the process runs and removes it at the end', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-alive-'))
  try {
    const file = join(folder, 'alive')
    const stop = startAliveFile(file)
    expect(readFileSync(file, 'utf8')).toBe(`${process.pid}\n`)
    stop()
    expect(existsSync(file)).toBe(false)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('rejects a liveness file that cannot be written', () => {
  expect(() => startAliveFile('/nowhere/at/all')).toThrow('--alive-file /nowhere/at/all: it cannot be written')
})
