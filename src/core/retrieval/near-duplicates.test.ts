import { describe, expect, test } from 'vitest'
import { createComparable, isEquivalentText, isNearDuplicate } from './near-duplicates.ts'

const text = Array.from({ length: 80 }, (_, i) => `word${i * 7}`).join(' ')

function areAlike(a: string, b: string): boolean {
  return isNearDuplicate(createComparable(a), createComparable(b))
}

test('texts are near-duplicates regardless of white space, marks, case and link targets', () => {
  expect(areAlike(`# ${text}\n`, text.toUpperCase().replaceAll(' ', '\n'))).toBe(true)
  expect(
    areAlike(`See [this](https://a.example/1.0/x_(y)) ${text}`, `see [This](https://a.example/2.0/z) ${text}`),
  ).toBe(true)
})

test('texts that differ in a detail are near-duplicates', () => {
  expect(areAlike(text, text.replace('word70 ', 'other '))).toBe(true)
  expect(areAlike(text, `${text} and more`)).toBe(true)
})

test('texts that say something else, or more, are not near-duplicates', () => {
  expect(areAlike(text, text.split(' ').reverse().join(' '))).toBe(false)
  expect(areAlike(text, `${text} ${text.replaceAll('word', 'new')}`)).toBe(false)
  expect(areAlike('one two three', 'one two four')).toBe(false)
  expect(areAlike('one', 'two')).toBe(false)
  expect(areAlike('one', 'one')).toBe(true)
})

describe('near-duplicates', () => {
  const around = (part: string) => createComparable(`The limit of the pool ${part} while it runs. ${text}`)
  const same = (a: string, b: string) =>
    isEquivalentText(around(a), around(b)) && isEquivalentText(around(b), around(a))

  test.each([
    ['can be changed', 'Can be `changed`'],
    ['can be changed', 'can be changed as well'],
    ['can be [changed](/1.0/a_(b))', 'can be [changed](/2.0/c)'],
  ])('%j and %j say the same', (a, b) => expect(same(a, b)).toBe(true))

  test.each([
    ['can be changed', 'cannot be changed'],
    ['can be changed', 'can not be changed'],
    ['can be changed', "can't be changed"],
    ['is 30 seconds', 'is 3600 seconds'],
    ['is enabled', 'is disabled'],
    ['is set before the start', 'is the start before set'],
    ['can be changed', 'can be changed by `force`'],
    ['can be changed', 'can be changed by max_size'],
    ['can be changed', 'can be changed by maxSize'],
    ['kann geändert werden', 'kann nicht geändert werden'],
    ['可以更改', '不能更改'],
  ])('%j and %j do not say the same', (a, b) => {
    expect(isNearDuplicate(around(a), around(b))).toBe(true)
    expect(same(a, b)).toBe(false)
  })
})
