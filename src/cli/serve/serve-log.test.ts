import { expect, test } from 'vitest'
import { createServeLog, type ServeLogOptions } from './serve-log.ts'

function write(options: Partial<ServeLogOptions> = {}) {
  const lines: string[] = []
  const output = { write: (text: string) => void lines.push(text) }
  const log = createServeLog(output, { isJson: false, isQuiet: false, hasRequests: true, ...options })
  return { log, lines }
}

const FAILURE = {
  id: 'r-1',
  code: 'INTERNAL',
  problem: 'Error: no such table\n    at read (store.ts:1)\nBearer abcdefghijklmnopqrstuvwxyz',
}

test('a warning contains all fields that lead to its cause, and no secrets', () => {
  const { log, lines } = write({ isQuiet: true })
  log.warn('[req] GET /x failed', FAILURE)
  log.info('not written', FAILURE)
  expect(lines).toEqual([
    'warning: [req] GET /x failed id=r-1 code=INTERNAL problem=Error: no such table\n        at read (store.ts:1)\n    [redacted]\n',
  ])
})

test('a JSON warning is one line with the same fields', () => {
  const { log, lines } = write({ isJson: true })
  log.warn('failed', FAILURE)
  expect(lines).toHaveLength(1)
  expect(lines[0]?.trimEnd()).not.toContain('\n')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    message: 'failed',
    ...FAILURE,
    problem: expect.stringMatching(/no such table[\s\S]*\[redacted\]$/),
  })
})

test('an info line names the job unless the message already does, and request lines can be left out', () => {
  const { log, lines } = write({ hasRequests: false })
  log.info('started', { jobId: 'j-1', problem: 'x' })
  log.info('job j-1 is done', { jobId: 'j-1' })
  log.info('[req] GET / -> 200')
  expect(lines).toEqual(['started job=j-1\n', 'job j-1 is done\n'])
})
