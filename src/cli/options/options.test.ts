import { expect, test } from 'vitest'
import { collectList, collectRepeated, fillBareFlags } from './options.ts'

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
  expect(collectList('/b', collectList('/a,/c'))).toEqual(['/a', '/c', '/b'])
  expect(collectRepeated('X: a,b', collectRepeated('Y: c'))).toEqual(['Y: c', 'X: a,b'])
})
