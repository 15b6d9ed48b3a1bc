import { expect, test } from 'vitest'
import { createComparable, isNearDuplicate } from './near-duplicates.ts'

const text = Array.from({ length: 80 }, (_, i) => `word${i * 7}`).join(' ')

function areAlike(a: string, b: string): boolean {
  return isNearDuplicate(createComparable(a), createComparable(b))
}

test('texts are alike whatever their white space, marks, case and the targets of their links', () => {
  expect(areAlike(`# ${text}\n`, text.toUpperCase().replaceAll(' ', '\n'))).toBe(true)
  expect(
    areAlike(`See [this](https://a.example/1.0/x_(y)) ${text}`, `see [This](https://a.example/2.0/z) ${text}`),
  ).toBe(true)
})

test('texts are alike but for a detail', () => {
  expect(areAlike(text, text.replace('word70 ', 'other '))).toBe(true)
  expect(areAlike(text, `${text} and more`)).toBe(true)
})

test('texts that say something else, or more, are not alike', () => {
  expect(areAlike(text, text.split(' ').reverse().join(' '))).toBe(false)
  expect(areAlike(text, `${text} ${text.replaceAll('word', 'new')}`)).toBe(false)
  expect(areAlike('one two three', 'one two four')).toBe(false)
  expect(areAlike('one', 'two')).toBe(false)
  expect(areAlike('one', 'one')).toBe(true)
})
