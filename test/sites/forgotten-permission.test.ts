import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addSource } from '../../src/library/operations/add-source.ts'
import { explainUrl } from '../../src/library/operations/explain.ts'
import { openLibrary } from '../../src/open-library.ts'
import { IMPATIENT, runCrawl, stageSite } from './crawl.ts'
import { page } from './site.ts'

test.each(['refresh', 'recrawl'] as const)(
  'a %s without leave to reach the site changes nothing and says why',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-'))
    const path = join(folder, 'library.db')
    const site = await stageSite({ '/': page('Home', ['/a', '/b']), '/a': page('A'), '/b': page('B') })
    const allowed = await openLibrary({ path, version: '0.0.0', limits: IMPATIENT, allowPrivate: ['127.0.0.1'] })
    const source = await addSource(allowed, { url: `${site.origin}/` })
    await runCrawl(allowed, source, { kind: 'add' }, site.origin)
    await allowed.close()
    site.forget()
    const library = await openLibrary({ path, version: '0.0.0', limits: IMPATIENT })
    try {
      const { summary, rows } = await runCrawl(library, source, { kind }, site.origin)
      expect(summary).toMatchObject({ end: 'failed', vainReason: 'address-refused', failed: 0, requests: 0 })
      expect((await explainUrl(library, source, '/')).lastProblem).toContain('address-refused, 127.0.0.1 is not')
      expect([...rows.values()].map(({ hasPage, state }) => hasPage && state !== 'failed')).toEqual([true, true, true])
      expect(site.requests).toEqual([])
    } finally {
      await library.close()
      rmSync(folder, { recursive: true })
    }
  },
)
