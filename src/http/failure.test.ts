import { expect, test } from 'vitest'
import { PharosError } from '../core/errors.ts'
import { describeFailure } from './failure.ts'

test('of a database that is away whoever asks is told that, and the log why, in a line', () => {
  const cause = new Error('connect ECONNREFUSED 10.0.0.7:5432')
  const details = { library: 'postgres://u@10.0.0.7/d', problem: cause.message }
  const lost = new PharosError('LIBRARY_UNREACHABLE', details, { cause })
  for (const error of [lost, new PharosError('STORE_UNAVAILABLE', {}, { cause: lost })]) {
    const { status, body, internal } = describeFailure(error, 'an-id')
    expect(status).toBe(503)
    expect(body).toMatchObject({
      error: 'the library cannot be used at the moment: its database does not answer',
      code: 'STORE_UNAVAILABLE',
    })
    expect(JSON.stringify(body)).not.toContain('10.0.0.7')
    expect(internal).toBe(lost.message)
  }
})

test('where nobody works, whoever asks over HTTP is told what helps', () => {
  expect(describeFailure(new PharosError('WORKERS_MISSING'), 'an-id').body.advice).toContain('"queue": true')
})
