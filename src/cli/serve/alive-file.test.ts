import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAliveFile } from './alive-file.ts'

test('the liveness file contains the process id until the returned function removes the file', () => {
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

test('a liveness file that cannot be written is refused', () => {
  expect(() => startAliveFile('/nowhere/at/all')).toThrow('--alive-file /nowhere/at/all: it cannot be written')
})
