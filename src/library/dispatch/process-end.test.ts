import { expect, test } from 'vitest'
import { NOT_STARTED, problemOf } from './process-end.ts'
import { createTrackedJob } from './tracked-job.ts'

const PLACE = 'postgres://u@h/d'

function told(lastErrorLine: string): string {
  const job = createTrackedJob('id', { url: 'https://a.example/', args: [] }, 0)
  return problemOf(Object.assign(job, { lastErrorLine }), { ...NOT_STARTED, code: 1 }, PLACE)
}

test('problemOf hides the path of the library without repeating itself', () => {
  expect(told(`pharos: the library ${PLACE} does not answer: gone – start it`)).toBe(
    'the library does not answer: gone',
  )
  expect(told(`pharos: no source x in ${PLACE}`)).toBe('no source x in the library')
})

test('problemOf names the setting that decides about hosts that are not public', () => {
  expect(
    told('pharos: nothing could be indexed: failed (address-refused, 10.0.0.1 is not a public address)'),
  ).toContain('allowPrivate of the server or worker that runs a crawl')
  expect(told('pharos: pkg:npm/a cannot be used: a.example leads to an address that is not public – x')).toContain(
    'not public; allowPrivate of the server',
  )
})
