import { expect, test } from 'vitest'
import { PharosError } from '../core/errors.ts'
import { writeError } from '../mcp/error-text.ts'
import { describeFailure } from './failure.ts'

test('an unreachable database gives the client a 503 without its address, and the log its cause in one line', () => {
  const cause = new Error('connect ECONNREFUSED 10.0.0.7:5432')
  const details = { library: 'postgres://u@10.0.0.7/d', problem: cause.message }
  const unreachable = new PharosError('LIBRARY_UNREACHABLE', details, { cause })
  for (const error of [unreachable, new PharosError('STORE_UNAVAILABLE', {}, { cause: unreachable })]) {
    const { status, body, internal } = describeFailure(error, 'an-id')
    expect(status).toBe(503)
    expect(body).toMatchObject({
      error: 'the library cannot be used at the moment: its database does not answer',
      code: 'STORE_UNAVAILABLE',
    })
    expect(JSON.stringify(body)).not.toContain('10.0.0.7')
    expect(internal).toBe(unreachable.message)
  }
})

test.each([
  ['LIBRARY_READ_ONLY', 'it cannot be written', 'give the server write access to it'],
  ['LIBRARY_FULL', 'there is no room left for it', 'free some space on its disk'],
] as const)('the advice for %s says what to do, not to try again', (code, reason, advice) => {
  const { body } = describeFailure(new PharosError(code, { library: '/srv/a.db', problem: 'none' }), 'an-id')
  expect(body).toMatchObject({
    error: `the library cannot be used at the moment: ${reason}`,
    advice: `${advice}; the server log has the details under this id`,
  })
})

test('advice about a non-public address does not reveal its IP to clients', () => {
  const details = { path: 'pkg:npm/lamp', problem: 'a.example leads to an address that is not public' }
  const advice = 'it is at 10.0.0.7: if that is yours, add --allow-private=a.example'
  const error = new PharosError('SOURCE_UNREADABLE', { ...details, reason: 'address-refused', advice })
  const { body } = describeFailure(error, 'an-id')
  expect(body.advice).toBe(
    'only the owner of this server can allow addresses that are not public, with its setting allowPrivate',
  )
  expect(writeError(error)).toMatch(/not public – only the owner of this server can allow/)
})

test('the advice for missing workers names an option of the HTTP API', () => {
  expect(describeFailure(new PharosError('WORKERS_MISSING'), 'an-id').body.advice).toContain('"queue": true')
})
