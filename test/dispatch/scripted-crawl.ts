import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Frame, ProgressFrame } from '../../src/library/jobs/events/frames.ts'

// A process that follows the contract of crawl processes, and behaves as its first argument says. It imports nothing of the program,
// because that would make it start several times slower.

const [behavior = '', argument = ''] = process.argv.slice(2)
/** An empty progress report, given by the parent process. */
const noProgress = JSON.parse(process.env['NO_PROGRESS'] ?? '') as ProgressFrame

const print = ({ type, data }: Frame) => process.stdout.write(`${type} ${JSON.stringify(data)}\n`)
const report = (fields: Partial<ProgressFrame> = {}) =>
  print({
    type: 'PROGRESS',
    data: { ...noProgress, crawlId: 'crawl-1', sourceId: 'source-1', visited: 2, ...fields },
  })
const enqueue = (url: string) =>
  print({
    type: 'QUEUE',
    data: { action: 'enqueued', url, depth: 1, host: 'site.example', reason: null, queueSize: 1, alias: null },
  })

const behaviors: Readonly<Record<string, () => void>> = {
  /** Runs until it is asked to stop, and reports its commands. */
  run() {
    process.on('SIGTERM', () => process.exit(130))
    report()
    const commands = createInterface(process.stdin)
    commands.on('line', (line) => {
      console.log(`told ${line}`)
      if (line !== 'PAUSE' && line !== 'RESUME') return
      report({ paused: line === 'PAUSE' })
    })
    // The parent has closed the command pipe, which ends a crawl.
    commands.on('close', () => process.exit(130))
  },
  /** Like `run`, for a crawl that several processes share. */
  shared() {
    behaviors['run']?.()
    report({ visited: 9, bytes: 90, own: { visited: 3, bytes: 30 } })
  },
  /** Prints one event of every kind and ends. */
  finish() {
    console.log(process.argv.slice(2).join(' '))
    report({ visited: 1 })
    enqueue('https://site.example/a')
    const url = 'https://site.example/b'
    print({
      type: 'QUEUE',
      data: { action: 'drop', url, depth: 1, host: null, reason: 'off-domain', queueSize: 1, alias: null },
    })
    print({ type: 'CACHE', data: { url, source: 'library', ageSeconds: 5 } })
    print({ type: 'ERROR', data: { url, kind: 'http', code: 404, message: null } })
    const note = { scope: 'site.example', target: '/x', message: 'something', details: { n: 1 } }
    print({ type: 'PROBLEM', data: { kind: 'missing-hub', ...note } })
    print({ type: 'PROBLEM', data: { kind: 'other', ...note } })
    print({ type: 'MILESTONE', data: { kind: 'patterns-learned', ...note } })
    console.error('a word of warning')
    report({ visited: 5, saved: 4, bytes: 100 })
  },
  fail() {
    console.error('something else')
    console.error('Error: nothing could be indexed')
    process.exitCode = 3
  },
  /** Fails with the second argument as its message. */
  complain() {
    console.error(argument)
    process.exitCode = 3
  },
  /** Ignores the request to stop. */
  stubborn() {
    process.on('SIGTERM', () => console.log('no'))
    report()
    setInterval(() => undefined, 1000)
  },
  /** Dies each time before it has done anything. */
  die() {
    report({ visited: 0 })
    process.stdout.write('', () => process.kill(process.pid, 'SIGKILL'))
  },
  /** Dies five times after it has done something. The file of the second argument counts the deaths. */
  stumble() {
    report()
    const deaths = existsSync(argument) ? readFileSync(argument, 'utf8') : ''
    if (deaths.length === 5) return
    writeFileSync(argument, `${deaths}x`)
    process.stdout.write('', () => process.kill(process.pid, 'SIGKILL'))
  },
  flood() {
    for (let i = 0; i < 20_000; i++) {
      enqueue(`https://site.example/${i}`)
      if (i % 2 === 0) console.log(`line ${i}`)
    }
  },
  silent() {
    setInterval(() => undefined, 1000)
  },
}

behaviors[behavior]?.()
