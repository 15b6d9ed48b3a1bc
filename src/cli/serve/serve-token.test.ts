import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { externalOrigin } from './serve-token.ts'

test('a server on all interfaces is announced with an external address, if there is one', () => {
  expect(externalOrigin('http://127.0.0.1:41000', '127.0.0.1')).toBe('http://127.0.0.1:41000')
  const outside = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => `http://${address}:41000`)
  for (const host of ['0.0.0.0', '::']) {
    expect(outside.length === 0 ? ['http://127.0.0.1:41000'] : outside).toContain(
      externalOrigin('http://127.0.0.1:41000', host),
    )
  }
})
