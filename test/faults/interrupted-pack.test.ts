import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readPack } from '../../src/ingest/pack-input.ts'
import { PROGRAM, ProgramSandbox } from '../e2e/program.ts'

/* An interrupted run must leave the previous pack complete, and no other files. */

let sandbox: ProgramSandbox

beforeEach(async () => {
  sandbox = new ProgramSandbox()
  sandbox.write({ 'first/a.md': '# First\n\nThe pack that was there before.\n', 'next/b.md': '# Next\n' })
  // Enough text that a signal arrives while it is packed.
  const words = Array.from({ length: 40_000 }, (_, i) => `word${(i * i) % 997}`).join(' ')
  sandbox.write(Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`source/${i}.txt`, `${i} ${words}`])))
})

afterEach(() => sandbox.remove())

/** Creates a pack and starts a run that replaces it. Resolves when the run writes the new pack. */
async function startWriting(out: string) {
  await sandbox.runInProcess(['pack', 'first', '--out', out, '--full'])
  const run = sandbox.start(process.execPath, [PROGRAM, 'pack', 'source', '--out', out, '--full', '--no-cache'], {})
  while (sandbox.leftovers().length === 0 && run.child.exitCode === null) await sleep(2)
  return run
}

function expectFirstPack(out: string): void {
  expect(readPack(sandbox.path(out)).chunks.map(({ content }) => content)).toEqual([
    '# First\n\nThe pack that was there before.',
  ])
}

/** Checks whether a process handles SIGHUP. Node installs handlers for the other signals itself. */
function handlesHangup(pid: number | undefined): boolean {
  const [, caughtSignals = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (BigInt(`0x${caughtSignals}`) & 1n) === 1n
}

const ALL_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** Signals that end a run while a pack of this name is written. A short run tries each signal once. */
const SIGNALS =
  process.env['TEST_LONG'] === undefined
    ? { 'out.zip': ALL_SIGNALS.slice(0, 2), out: ALL_SIGNALS.slice(2) }
    : { 'out.zip': ALL_SIGNALS, out: ALL_SIGNALS }

describe.each(['out.zip', 'out'] as const)('while %s is written', (out) => {
  test.each(SIGNALS[out])('%s ends the run with one line, and the previous pack stays', async (signal) => {
    const { child, ended } = await startWriting(out)
    child.kill(signal)
    expect(await ended).toEqual({ code: 130, signal: null, stdout: '', stderr: 'pharos: interrupted\n' })
    expectFirstPack(out)
    expect(sandbox.leftovers()).toEqual([])
  })

  test('kill -9 leaves the previous pack, and the next run removes leftovers', async () => {
    const { child, ended } = await startWriting(out)
    child.kill('SIGKILL')
    expect((await ended).signal).toBe('SIGKILL')
    expectFirstPack(out)
    expect(await sandbox.runInProcess(['pack', 'next', '--out', out, '--full'])).toMatchObject({
      code: 0,
      stdout: `${out}\n`,
    })
    expect(readPack(sandbox.path(out)).files).toMatchObject([{ path: 'b.md' }])
    expect(sandbox.leftovers()).toEqual([])
  })
})

test('Ctrl-C before anything is written ends the run with exit code 130 and leaves no file', async () => {
  const run = sandbox.start(
    process.execPath,
    [PROGRAM, 'pack', 'source', '--out', 'out.zip', '--full', '--verbose'],
    {},
  )
  // Waits until the program handles signals, which it does before it reads the folder.
  while (!handlesHangup(run.child.pid)) await sleep(2)
  run.child.kill('SIGINT')
  const { code, stderr } = await run.ended
  expect([code, stderr.split('\n')[0]]).toEqual([130, 'pharos: interrupted'])
  expect(fs.existsSync(sandbox.path('out.zip'))).toBe(false)
  expect(sandbox.leftovers()).toEqual([])
})

describe('a disk that is full', () => {
  test.each(['out.zip', 'out'])('makes writing %s fail with one line, and the previous pack stays', async (out) => {
    const disk = sandbox.path('disk')
    fs.mkdirSync(disk)
    // Mounts a small disk if that is allowed. Otherwise a file size limit fails in the same way.
    const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]).status === 0
    try {
      await sandbox.runInProcess(['pack', 'first', '--out', `disk/${out}`, '--full'])
      const limit = isMounted ? '' : 'ulimit -f 300; '
      const { code, stdout, stderr } = await sandbox.shell(
        `${limit}pharos pack source --out disk/${out} --full --no-cache`,
      )
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(
        /^pharos: cannot write disk\/out\S*: (?:ENOSPC|EFBIG): .+ – choose another place with --out\n$/,
      )
      expectFirstPack(`disk/${out}`)
      expect(sandbox.leftovers()).toEqual([])
    } finally {
      if (isMounted) spawnSync('umount', [disk])
    }
  })

  test('does not prevent a pack if only the cache is full', async () => {
    const disk = sandbox.path('cache')
    fs.mkdirSync(disk)
    const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=100k', 'tmpfs', disk]).status === 0
    if (!isMounted) fs.chmodSync(disk, 0o500)
    // The cache does not store files that were modified a moment ago.
    await sleep(2100)
    try {
      expect(await sandbox.runInProcess(['pack', 'source', '--out', 'out.zip', '--full'])).toMatchObject({
        code: 0,
        stdout: 'out.zip\n',
      })
      expect(fs.readdirSync(disk, { recursive: true }).filter((name) => String(name).includes('jsonl'))).toEqual([])
    } finally {
      if (isMounted) spawnSync('umount', [disk])
    }
  })
})
