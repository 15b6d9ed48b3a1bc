import { expect, test } from 'vitest'
import { PharosError } from '../../core/errors.ts'
import { explainFailure, isConnectionLost } from './failures.ts'

test.each(['EAI_AGAIN', 'ENETUNREACH', 'ENETDOWN', 'ECONNABORTED'])('%s is a library that does not answer', (code) => {
  const error = Object.assign(new Error(`connect ${code}`), { code })
  expect(explainFailure(error, 'library')).toMatchObject({ code: 'LIBRARY_UNREACHABLE' })
})

test('so is one that does not answer in time', () => {
  expect(explainFailure(new Error('Query read timeout'), 'library')).toMatchObject({ code: 'LIBRARY_UNREACHABLE' })
})

test('what was explained is not explained again by its words', () => {
  const explained = new PharosError('LIBRARY_UNREACHABLE', { library: 'library', problem: 'Connection terminated' })
  expect(isConnectionLost(explained)).toBe(false)
})
