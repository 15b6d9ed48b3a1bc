import { expect, test } from 'vitest'
import { PharosError } from '../../../core/errors.ts'
import { explainFailure, isConnectionLost } from './failures.ts'

test.each(['EAI_AGAIN', 'ENETUNREACH', 'ENETDOWN', 'ECONNABORTED'])(
  '%s is reported as an unreachable library',
  (code) => {
    const error = Object.assign(new Error(`connect ${code}`), { code })
    expect(explainFailure(error, 'library')).toMatchObject({ code: 'LIBRARY_UNREACHABLE' })
  },
)

test('a query timeout is reported as an unreachable library', () => {
  expect(explainFailure(new Error('Query read timeout'), 'library')).toMatchObject({ code: 'LIBRARY_UNREACHABLE' })
})

test('an error that is already explained does not count as a lost connection, whatever its message', () => {
  const explained = new PharosError('LIBRARY_UNREACHABLE', { library: 'library', problem: 'Connection terminated' })
  expect(isConnectionLost(explained)).toBe(false)
})
