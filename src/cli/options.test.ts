import { expect, test } from 'vitest'
import { collect, fillBareFlags, repeat } from './options.ts'

test('a flag without a value never takes the next word for one', () => {
  expect(fillBareFlags(['add', '--allow-private', 'http://localhost/', '--allow-private=10.0.0.0/8'])).toEqual([
    'add',
    '--allow-private=*',
    'http://localhost/',
    '--allow-private=10.0.0.0/8',
  ])
})

test('words after -- are left alone', () => {
  expect(fillBareFlags(['search', '--', '--allow-private'])).toEqual(['search', '--', '--allow-private'])
})

test('values are gathered, with commas between them or by repetition', () => {
  expect(collect('/b', collect('/a,/c'))).toEqual(['/a', '/c', '/b'])
  expect(repeat('X: a,b', repeat('Y: c'))).toEqual(['Y: c', 'X: a,b'])
})
