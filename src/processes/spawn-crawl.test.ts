import { describe, expect, test } from 'vitest'
import type { CrawlProcess } from '../library/jobs/runner.ts'
import { createSpawnRunner } from './spawn-crawl.ts'

/** Starts Node with a script, and collects its output. */
function startScript(script: string, args: readonly string[] = []): { process: CrawlProcess; lines: string[] } {
  const lines: string[] = []
  const runner = createSpawnRunner({ command: process.execPath, args: ['-e', script, '--'], maxLineChars: 20 })
  return { process: runner.start(args, (stream, line) => lines.push(`${stream}: ${line}`)), lines }
}

describe('the spawn runner', () => {
  test('passes arguments unchanged, and splits the output into lines', async () => {
    const script = `
      process.stdout.write('one\\r\\ntw')
      process.stderr.write('trouble\\n')
      setTimeout(() => process.stdout.write('o\\n\\n' + process.argv.slice(1).join('|') + '\\nü'), 50)
      setTimeout(() => process.stdout.write('ber'), 60)`
    const { process: child, lines } = startScript(script, ['a b', '$HOME', '; ls'])
    expect(await child.ended).toEqual({ code: 0, signal: null, problem: null })
    expect(lines.filter((line) => line.startsWith('stdout'))).toEqual([
      'stdout: one',
      'stdout: two',
      'stdout: a b|$HOME|; ls',
      'stdout: über',
    ])
    expect(lines).toContain('stderr: trouble')
  })

  test('cuts long lines, but not frames', async () => {
    const script = `
      process.stdout.write('x'.repeat(15)); process.stdout.write('x'.repeat(15) + '\\n')
      process.stdout.write('QUEUE {"url":"' + 'y'.repeat(50) + '"}\\n' + 'z'.repeat(2_000_000))`
    const { process: child, lines } = startScript(script)
    await child.ended
    expect(lines).toEqual([
      `stdout: ${'x'.repeat(20)} … (10 more characters were cut off)`,
      `stdout: QUEUE {"url":"${'y'.repeat(50)}"}`,
      `stdout: ${'z'.repeat(20)} … (1999980 more characters were cut off)`,
    ])
  })

  test('delivers commands until the process has ended', async () => {
    const { process: child, lines } = startScript(`
      process.stdin.on('data', (data) => { process.stdout.write('got ' + data); process.stdin.destroy() })`)
    expect(child.send('PAUSE')).toBe(true)
    expect((await child.ended).code).toBe(0)
    expect(lines).toEqual(['stdout: got PAUSE'])
    expect(child.send('RESUME')).toBe(false)
  })

  test('ends the process with the given signal', async () => {
    const { process: child } = startScript('setTimeout(() => {}, 60000)')
    child.kill('SIGKILL')
    expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL', problem: null })
    child.kill('SIGKILL')
  })
})

test('the process of a missing program ends immediately, with the reason', async () => {
  const runner = createSpawnRunner({ command: '/nowhere/pharos', args: [] })
  const child = runner.start(['x'], () => expect.unreachable())
  expect(child.identity).toBeNull()
  expect(child.send('PAUSE')).toBe(false)
  child.kill('SIGTERM')
  const { code, signal, problem } = await child.ended
  expect({ code, signal }).toEqual({ code: null, signal: null })
  expect(problem).toMatch(/could not be started: .*ENOENT/)
})

describe('identity of a process', () => {
  const runner = createSpawnRunner({ command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60000)'] })

  test('a process is recognized by its pid and start time, and can be ended', async () => {
    const child = runner.start([], () => undefined)
    const { identity } = child
    if (identity === null) throw new Error('it was not started')
    expect(runner.isAlive(identity)).toBe(true)
    // Another process that reuses the pid.
    const other = { ...identity, began: 'another time' }
    expect(runner.isAlive(other)).toBe(false)
    runner.kill(other, 'SIGKILL')
    expect(runner.isAlive(identity)).toBe(true)
    runner.kill(identity, 'SIGKILL')
    expect(await child.ended).toMatchObject({ signal: 'SIGKILL' })
    expect(runner.isAlive(identity)).toBe(false)
    runner.kill(identity, 'SIGKILL')
  })

  test('a process with an unused pid counts as ended', () => {
    expect(runner.isAlive({ pid: 2 ** 30, began: null })).toBe(false)
  })
})
