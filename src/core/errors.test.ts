import { describe, expect, test } from 'vitest'
import { ERRORS, type ErrorCode, type ErrorEntry, EXIT_CODES, PharosError } from './errors.ts'

const entries: [string, ErrorEntry][] = Object.entries(ERRORS)

describe.each(entries)('%s', (code, { message, advice, httpStatus, exitCode }) => {
  test('has a message, advice, a status and an exit code', () => {
    expect(code).toMatch(/^[A-Z]+(?:_[A-Z]+)*$/)
    expect(message).not.toBe('')
    expect(advice).not.toBe('')
    expect(`${message}${advice}`).not.toMatch(/[.\n]$/)
    expect(httpStatus).toBeGreaterThanOrEqual(400)
    expect(httpStatus).toBeLessThan(600)
    expect(exitCode).toBeGreaterThan(0)
    expect(exitCode).toBeLessThan(256)
  })

  test('fills its placeholders', () => {
    const names = [...`${message}${advice}`.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
    const details = Object.fromEntries(names.map((name) => [name, `<${name}>`]))
    const error = new PharosError(code as ErrorCode, details)
    expect(error.message).toBe(message.replace(/\{(\w+)\}/g, '<$1>'))
    expect(error.entry).toEqual({ message, advice: advice.replace(/\{(\w+)\}/g, '<$1>'), httpStatus, exitCode })
  })
})

test('every exit code of the documentation is used, and every used one is documented', () => {
  const used = new Set([0, ...entries.map(([, { exitCode }]) => exitCode)])
  expect(Object.keys(EXIT_CODES).map(Number)).toEqual([...used].sort((a, b) => a - b))
})

test('an error carries its code, its values and its cause', () => {
  const cause = new Error('disk')
  const error = new PharosError('PACK_VERSION', { found: 9, supported: 1 }, { cause })
  expect({ ...error, name: error.name, message: error.message, cause: error.cause }).toEqual({
    name: 'PharosError',
    message: 'pack format 9 is newer than this program (1)',
    code: 'PACK_VERSION',
    details: { found: 9, supported: 1 },
    cause,
  })
})

test('a value is inserted verbatim, even when it looks like a pattern or a placeholder', () => {
  expect(new PharosError('SOURCE_NOT_FOUND', { path: '$&{path}$1' }).message).toBe('there is nothing at $&{path}$1')
})
