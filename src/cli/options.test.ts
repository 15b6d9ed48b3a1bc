import { expect, test } from 'vitest'
import { collect, fillBareFlags, repeat } from './options.ts'

test('a flag without a value never takes the next word as its value', () => {
  expect(fillBareFlags(['add', '--allow-private', 'http://localhost/', '--allow-private=10.0.0.0/8'])).toEqual([
    'add',
    '--allow-private=*',
    'http://localhost/',
    '--allow-private=10.0.0.0/8',
  ])
})

test('words after -- stay unchanged', () => {
  expect(fillBareFlags(['search', '--', '--allow-private'])).toEqual(['search', '--', '--allow-private'])
})

test('values are collected from commas or repetition', () => {
  expect(collect('/b', collect('/a,/c'))).toEqual(['/a', '/c', '/b'])
  expect(repeat('X: a,b', repeat('Y: c'))).toEqual(['Y: c', 'X: a,b'])
})
