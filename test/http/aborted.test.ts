import { expect, test } from 'vitest'
import { createHttp } from '../../src/http/app.ts'
import { page } from '../sites/site.ts'
import { openPageFixture } from './page-fixture.ts'

test('a request whose client has gone is no failure of the server', async () => {
  const fixture = await openPageFixture({ pages: { '/': page('Start', []) } })
  const lines: string[] = []
  const log = { ...fixture.ports.log, info: (message: string) => lines.push(message) }
  const stop = new AbortController()
  const search = async (): Promise<never> => {
    stop.abort()
    stop.signal.throwIfAborted()
    throw new Error('unreachable')
  }
  const http = createHttp({ ...fixture.ports, log, search })
  try {
    const request = new Request('http://127.0.0.1:41000/api/search?q=wick', { signal: stop.signal })
    expect((await http.fetch(request)).status).toBe(499)
    expect(fixture.warnings).toEqual([])
    expect(lines.join('\n')).toMatch(/ 499 /)
  } finally {
    http.close()
    await fixture.close()
  }
})
