import { expect, test } from 'vitest'
import { cpuMsOf } from '../../../test/cpu-time.ts'
import { writePlain } from './plain-text.ts'

test('block marks and link targets are left out', () => {
  expect(writePlain('## The [`json`](/lib/json_(x).html "JSON") module')).toBe('The `json` module')
  expect(writePlain('> [!NOTE]\n> Mind *this*.')).toBe('\nMind *this*.')
  expect(writePlain('- one\n2. two').split('\n')).toEqual(['one', 'two'])
  expect(writePlain('| a | b |\n| --- | --- |\n| ![c](d.png) | e |').replace(/\s+/g, ' ').trim()).toBe('a b c e')
  expect(writePlain('```js\ncode()\n```').trim()).toBe('code()')
  expect(writePlain('\\_\\_init\\_\\_')).toBe('__init__')
})

test.each([
  ['spaces', ' '],
  ['spaces before a bar', '   x|'],
  ['brackets', '['],
  ['escaped brackets', '\\['],
  ['beginnings of links', '[a]('],
  ['quotes', '>'],
  ['dashes', '-'],
])('a text of any length is read in linear time: %s', (_what, part) => {
  const text = `x${part.repeat(200_000 / part.length)}x\n${part.repeat(200_000 / part.length)}x`
  // Restarting at each position takes minutes.
  expect(cpuMsOf(() => writePlain(text))).toBeLessThan(2000)
})
