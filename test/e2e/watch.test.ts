import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Outcome, PROGRAM, ProgramSandbox } from './program.ts'

let sandbox: ProgramSandbox

beforeEach(() => {
  sandbox = new ProgramSandbox()
})

afterEach(() => {
  sandbox.remove()
})

type Line = Readonly<Record<string, unknown>>

/** A running `pharos watch` and the lines it has printed. */
interface Watcher {
  readonly ended: Promise<Outcome>
  kill(signal: NodeJS.Signals): void
  /** Waits for a line with these values, and returns all lines since the previous call. */
  until(values: Line): Promise<readonly Line[]>
}

function watch(...args: string[]): Watcher {
  const { child, ended } = sandbox.start(process.execPath, [PROGRAM, 'watch', ...args, '--json'], {})
  let lines: Line[] = []
  let rest = ''
  let wake: () => void = () => undefined
  let outcome: Outcome | undefined
  child.stdout.on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts.map((part) => JSON.parse(part) as Line))
    wake()
  })
  void ended.then((end) => {
    outcome = end
    wake()
  })
  return {
    ended,
    kill: (signal) => void child.kill(signal),
    async until(values) {
      for (;;) {
        const found = lines.findIndex((line) => Object.entries(values).every(([name, value]) => line[name] === value))
        if (found >= 0) {
          const seen = lines.slice(0, found + 1)
          lines = lines.slice(found + 1)
          return seen
        }
        if (outcome !== undefined) throw new Error(`pharos watch ended: ${JSON.stringify(outcome)}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

const LIBRARY = ['--library', 'library.db']

async function search(words: string): Promise<string> {
  return (await sandbox.runInProcess(['search', words, '--json', ...LIBRARY])).stdout
}

function readFailures(): Line[] {
  const text = fs.readFileSync(sandbox.path('library.db.failed.jsonl'), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

describe('pharos watch', () => {
  test('indexes a folder, follows changes, catches up after being killed, and ends cleanly', async () => {
    sandbox.write({
      'docs/lamp.md': '# Lamp\n\nLight the lamp at dusk.\n',
      'docs/fog/horn.md': '# Horn\n\nSound the horn in fog.\n',
      'docs/.gitignore': 'private/\n',
      'docs/private/secret.md': '# Hidden\n\nunmentionable\n',
    })
    const first = watch('docs', '--name', 'tower', ...LIBRARY)
    const [firstScan] = (await first.until({ event: 'caught-up' })).slice(-1)
    expect(firstScan).toMatchObject({ source: 'tower', is_first: true, indexed: 3, folders: 2, polling: null })
    sandbox.write({
      'docs/lamp.md': '# Lamp\n\nTrim the wick at dawn.\n',
      'docs/new/deep/oil.md': '# Oil\n\nFill the reservoir.\n',
      'docs/private/more.md': '# Hidden too\n',
      'docs/plan.pdf': '%PDF-1.7 but not really',
    })
    fs.rmSync(sandbox.path('docs/fog/horn.md'))
    const printed: Line[] = []
    for (const path of ['lamp.md', 'new/deep/oil.md', 'fog/horn.md', 'plan.pdf']) {
      if (!printed.some((line) => line['path'] === path)) printed.push(...(await first.until({ path })))
    }
    expect(printed).toContainEqual({ event: 'indexed', source: 'tower', path: 'lamp.md', chunks: 1, cause: 'modified' })
    expect(printed).toContainEqual(
      expect.objectContaining({ event: 'indexed', path: 'new/deep/oil.md', cause: 'created' }),
    )
    expect(printed).toContainEqual(expect.objectContaining({ event: 'removed', path: 'fog/horn.md' }))
    expect(printed).toContainEqual(expect.objectContaining({ event: 'failed', path: 'plan.pdf', reason: 'damaged' }))
    expect(printed.filter((line) => String(line['path']).startsWith('private'))).toEqual([])
    // Another process searches meanwhile, as a server would.
    expect(await search('wick dawn')).toContain('lamp.md')
    first.kill('SIGKILL')
    await first.ended

    sandbox.write({ 'docs/lamp.md': '# Lamp\n\nPolish the lens at noon.\n' })
    fs.rmSync(sandbox.path('docs/new'), { recursive: true })
    const second = watch('docs', ...LIBRARY)
    const [catchUp] = (await second.until({ event: 'caught-up' })).slice(-1)
    expect(catchUp).toMatchObject({ source: 'tower', is_first: true, indexed: 1, removed: 1 })
    expect(await search('lens noon')).toContain('lamp.md')
    sandbox.write({ 'docs/plan.pdf': fs.readFileSync(join(import.meta.dirname, '../documents/guide.pdf')) })
    await second.until({ event: 'healed', path: 'plan.pdf' })
    second.kill('SIGINT')
    const { code, stdout, stderr } = await second.ended
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      event: 'stopped',
      removed: 1,
      failing: 0,
    })
    const failures = readFailures()
    expect(failures[0]).toEqual({
      file_path: sandbox.path('docs/plan.pdf'),
      file_name: 'plan.pdf',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      event_type: 'created',
      error_type: 'damaged',
      error_message: expect.stringContaining('damaged'),
      retry_count: 0,
    })
    // On a slow machine the file may be retried before it is repaired.
    const types = failures.map((line) => line['event_type']).filter((type) => type !== 'retry')
    expect(types).toEqual(['created', 'startup', 'resolved'])
  })

  test('works while the library and its log are in the watched folder itself', async () => {
    sandbox.write({ 'a.md': '# A\n\nOne.\n' })
    const watcher = watch('.', ...LIBRARY, '--failures', 'failed.jsonl')
    await watcher.until({ event: 'caught-up' })
    sandbox.write({ 'b.md': '# B\n\nTwo.\n', 'bad.ipynb': '{' })
    await watcher.until({ event: 'failed', path: 'bad.ipynb' })
    // The watcher logs the failure into the watched folder. If it indexed its own log, that event would come before the event of d.md.
    sandbox.write({ 'c.md': '# C\n\nThree.\n' })
    const printed = [...(await watcher.until({ event: 'indexed', path: 'c.md' }))]
    sandbox.write({ 'd.md': '# D\n\nFour.\n' })
    printed.push(...(await watcher.until({ event: 'indexed', path: 'd.md' })))
    watcher.kill('SIGTERM')
    expect((await watcher.ended).code).toBe(0)
    expect(printed.map((line) => line['path']).filter((path) => /jsonl|lib/.test(String(path)))).toEqual([])
    const status = await sandbox.runInProcess(['status', '--json', '--all', ...LIBRARY])
    expect(status.stdout).toContain('"pages":4')
  })

  test.each([
    [['nowhere'], 'there is nothing at'],
    [['a.md'], 'it is a file'],
    [['npm:react'], 'it is not a folder on this machine'],
    [['docs', '--poll', '1ms'], '--poll: expected a duration from 1s to 1d'],
    [['docs', '--poll', '30d'], '--poll: expected a duration from 1s to 1d, such as 10s, got "30d"'],
    [['docs', '--block', '/x/**'], 'is in the library with other settings'],
  ])('refuses the arguments %j', async (args, problem) => {
    sandbox.write({ 'a.md': '# A\n', 'docs/b.md': '# B\n' })
    await sandbox.runInProcess(['add', './docs', '--quiet', ...LIBRARY])
    const { code, stderr } = await sandbox.runInProcess(['watch', ...args, ...LIBRARY])
    expect(code).toBeGreaterThan(0)
    expect(stderr).toContain(problem)
    const { stdout } = await sandbox.runInProcess(['list', '--json', ...LIBRARY])
    expect(stdout).not.toContain('a.md')
  })
})
