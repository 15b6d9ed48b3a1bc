import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { confirm } from './prompt.ts'

const CTRL_C = '\x03'
const CTRL_D = '\x04'

/** Asks, and types as soon as the question is shown. */
async function ask(typed: string | null): Promise<{ readonly isConfirmed: boolean; readonly shown: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const shown = text(output)
  output.once('data', () => (typed === null ? input.end() : input.write(typed)))
  const isConfirmed = await confirm('Write these changes?', { input, output })
  output.end()
  return { isConfirmed, shown: await shown }
}

test.each([
  ['y\r', true],
  ['YES\r', true],
  [' yes \r', true],
  ['\r', false],
  ['n\r', false],
  ['yeah\r', false],
  [CTRL_C, false],
  [`y${CTRL_C}`, false],
  [CTRL_D, false],
  [null, false],
])('the answer %j is taken as %s', async (typed, expected) => {
  const { isConfirmed, shown } = await ask(typed)
  expect(isConfirmed).toBe(expected)
  expect(shown).toContain('Write these changes? [y/N] ')
  expect(shown.endsWith('\n')).toBe(true)
})

test('the question leaves no listener behind', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  output.once('data', () => input.write(CTRL_C))
  const before = process.listenerCount('SIGINT')
  await confirm('Write these changes?', { input, output })
  expect(process.listenerCount('SIGINT')).toBe(before)
  expect(input.listenerCount('keypress')).toBe(0)
})
