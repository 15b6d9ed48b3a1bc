import { expect, test } from 'vitest'
import { parseConnectionAddress } from './connection-address.ts'

test.each([
  ['schem=x', 'unknown parameter "schem", did you mean schema?; known parameters are schema, connect_timeout, host, '],
  ['connect_timeout=abc', 'connect_timeout: expected a whole number of seconds, got "abc"'],
  [
    'sslmode=bogus',
    'sslmode: expected one of disable, prefer, require, verify-ca, verify-full, no-verify, got "bogus"',
  ],
  ['port=x', 'port: expected a number, got "x"'],
  ['schema=pg_x', 'schema: expected at most 58 lowercase letters'],
  ['schema=a&schema=b', 'its parameter schema is given twice'],
  ['constructor=x', 'unknown parameter "constructor"'],
])('refuses an address with ?%s', (query, problem) => {
  const refusal = expect.objectContaining({ code: 'LIBRARY_UNUSABLE', message: expect.stringContaining(problem) })
  expect(() => parseConnectionAddress(`postgres://u@h/d?${query}`)).toThrow(refusal)
})

test('accepts the parameters in addresses of hosted databases, and verifies certificates for sslmode=require', () => {
  const parsed = parseConnectionAddress(
    'postgres://u@h/d?sslmode=require&channel_binding=require&schema=s&connect_timeout=3',
  )
  expect(parsed).toMatchObject({ schema: 's', connectMs: 3000 })
  expect(parsed.address).toBe('postgres://u@h/d?sslmode=verify-full&channel_binding=require&connect_timeout=3')
  expect(parsed.location).toContain('sslmode=require')
})
