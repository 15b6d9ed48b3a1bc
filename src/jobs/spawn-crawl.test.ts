import { describe, expect, test } from 'vitest'
import type { CrawlProcess } from '../library/dispatch/runner.ts'
import { createSpawnRunner } from './spawn-crawl.ts'

/** Starts Node with a script, and gives what it says. */
function startScript(script: string, args: readonly string[] = []): { process: CrawlProcess; said: string[] } {
  const said: string[] = []
  const runner = createSpawnRunner({ command: process.execPath, args: ['-e', script, '--'], maxLineChars: 20 })
  return { process: runner.start(args, (stream, line) => said.push(`${stream}: ${line}`)), said }
}

describe('a process that is started', () => {
  test('is told its arguments as they are, and heard line by line', async () => {
    const script = `
      process.stdout.write('one\\r\\ntw')
      process.stderr.write('trouble\\n')
      setTimeout(() => process.stdout.write('o\\n\\n' + process.argv.slice(1).join('|') + '\\nü'), 50)
      setTimeout(() => process.stdout.write('ber'), 60)`
    const { process: child, said } = startScript(script, ['a b', '$HOME', '; ls'])
    expect(await child.ended).toEqual({ code: 0, signal: null, problem: null })
    expect(said.filter((line) => line.startsWith('stdout'))).toEqual([
      'stdout: one',
      'stdout: two',
      'stdout: a b|$HOME|; ls',
      'stdout: über',
    ])
    expect(said).toContain('stderr: trouble')
  })

  test('has lines that are too long cut off, but not its frames', async () => {
    const script = `
      process.stdout.write('x'.repeat(15)); process.stdout.write('x'.repeat(15) + '\\n')
      process.stdout.write('QUEUE {"url":"' + 'y'.repeat(50) + '"}\\n' + 'z'.repeat(2_000_000))`
    const { process: child, said } = startScript(script)
    await child.ended
    expect(said).toEqual([
      `stdout: ${'x'.repeat(20)} … (10 more characters were cut off)`,
      `stdout: QUEUE {"url":"${'y'.repeat(50)}"}`,
      `stdout: ${'z'.repeat(20)} … (1999980 more characters were cut off)`,
    ])
  })

  test('gets commands until it is over', async () => {
    const { process: child, said } = startScript(`
      process.stdin.on('data', (data) => { process.stdout.write('got ' + data); process.stdin.destroy() })`)
    expect(child.send('PAUSE')).toBe(true)
    expect((await child.ended).code).toBe(0)
    expect(said).toEqual(['stdout: got PAUSE'])
    expect(child.send('RESUME')).toBe(false)
  })

  test('ends with the signal it gets', async () => {
    const { process: child } = startScript('setTimeout(() => {}, 60000)')
    child.kill('SIGKILL')
    expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL', problem: null })
    child.kill('SIGKILL')
  })
})

test('a program that is not there is an end at once, with the reason', async () => {
  const runner = createSpawnRunner({ command: '/nowhere/pharos', args: [] })
  const child = runner.start(['x'], () => expect.unreachable())
  expect(child.mark).toBeNull()
  expect(child.send('PAUSE')).toBe(false)
  child.kill('SIGTERM')
  const { code, signal, problem } = await child.ended
  expect({ code, signal }).toEqual({ code: null, signal: null })
  expect(problem).toMatch(/could not be started: .*ENOENT/)
})

describe('a process that an earlier server started', () => {
  const runner = createSpawnRunner({ command: process.execPath, args: ['-e', 'setTimeout(() => {}, 60000)'] })

  test('is known by its number and its start, and can be ended', async () => {
    const child = runner.start([], () => undefined)
    const { mark } = child
    if (mark === null) throw new Error('it was not started')
    expect(runner.isAlive(mark)).toBe(true)
    // Another one that got the number of one that is gone.
    const other = { ...mark, began: 'another time' }
    expect(runner.isAlive(other)).toBe(false)
    runner.kill(other, 'SIGKILL')
    expect(runner.isAlive(mark)).toBe(true)
    runner.kill(mark, 'SIGKILL')
    expect(await child.ended).toMatchObject({ signal: 'SIGKILL' })
    expect(runner.isAlive(mark)).toBe(false)
    runner.kill(mark, 'SIGKILL')
  })

  test('is gone when nothing has its number', () => {
    expect(runner.isAlive({ pid: 2 ** 30, began: null })).toBe(false)
  })
})
