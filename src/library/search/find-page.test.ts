import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openNodeGrammars } from '../../../test/node-grammars.ts'
import { openTestLibrary, openTestSite, runCrawl } from '../../../test/sites/crawl.ts'
import { openSite, redirect, type Site } from '../../../test/sites/site.ts'
import { PharosError } from '../../core/errors.ts'
import { type OpenLibrary, openLibrary } from '../../open-library.ts'
import { addSource } from '../crawl/add-source.ts'
import { findChunk } from './find-chunk.ts'
import { findPage, isSourceGivenAsPage } from './find-page.ts'
import { listOutline } from './list-outline.ts'
import { listSymbols } from './list-symbols.ts'

const words = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ')

const API = `<!doctype html><title>API</title><main><h1 id="api">API</h1><p>${words('intro', 30)}</p>
<h2 id="reading">Reading</h2><p><code>tower.load(file)</code></p><p>Reads a file. ${words('read', 40)}</p>
<h2 id="writing">Writing</h2><p><code>tower.dump(obj, file)</code></p><p>Writes a file. ${words('write', 40)}</p>
<h3 id="options">Options</h3><p><code>--indent N</code></p><p>Indents. ${words('indent', 40)}</p></main>`

const START = `<!doctype html><title>Start</title><main><h1>Start</h1><p>${words('start', 40)} <a href="/api">api</a>
<a href="/old">old</a> <a href="/gone">gone</a></p></main>`

/** A read-only library with two versions of the site. */
let library: OpenLibrary
let site: Site

beforeAll(async () => {
  site = await openSite({ '/': START, '/api': API, '/old': redirect('/api') })
  library = await openLibrary({ path: ':memory:', version: '0.0.0', allowPrivate: ['127.0.0.0/8'] })
  await crawlTower(library)
  return async () => {
    await library.close()
    await site.close()
  }
})

async function crawlTower(into: OpenLibrary): Promise<void> {
  for (const version of ['1.9', '1.10']) {
    const source = await addSource(into, { url: `${site.origin}/`, name: 'tower', version })
    await runCrawl(into, source, { kind: 'add' }, site.origin)
  }
}

async function failureOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    if (error instanceof PharosError) return `${error.code}: ${error.message}`
    throw error
  }
  throw new Error('expected a refusal')
}

describe('findPage', () => {
  test('finds a page by its address in the newest version, ignoring the anchor', async () => {
    const { source, title, markdown } = await findPage(library, { url: `${site.origin}/api/#writing` })
    expect([source.version, title]).toEqual(['1.10', 'API'])
    expect(markdown).toContain('## Writing')
  })

  test('finds a page by path in the named source', async () => {
    expect((await findPage(library, { url: '/api', source: 'tower@1.9' })).source.version).toBe('1.9')
  })

  test('finds a page by an address that redirects to it', async () => {
    expect((await findPage(library, { url: `${site.origin}/old` })).url).toBe(`${site.origin}/api`)
  })

  test('reports what is known about a missing page', async () => {
    const message = await failureOf(findPage(library, { url: `${site.origin}/gone` }))
    expect(message).toContain(`PAGE_UNKNOWN: no page ${site.origin}/gone in :memory:`)
    expect(message).toContain('tower@1.10 has it as failed (not-found)')
    expect(await failureOf(findPage(library, { url: 'https://elsewhere.example/x' }))).toMatch(/^PAGE_UNKNOWN: /)
    expect(await failureOf(findPage(library, { url: '/api', source: 'towr' }))).toMatch(/^SOURCE_UNKNOWN: .*tower/)
  })
})

/** Returns a library with many more pages than were crawled: `urls` in every source, all with the same text. */
function enlarge(urls: readonly string[]): { readonly large: OpenLibrary; readonly read: () => number } {
  let read = 0
  const listRows: OpenLibrary['store']['listRows'] = async (sourceId, { after, limit }) => {
    const [row] = await library.store.listRows(sourceId, { limit: 1 })
    if (row === undefined) throw new Error('nothing was crawled')
    const from = after === undefined ? 0 : urls.indexOf(after) + 1
    const rows = urls.slice(from, from + limit).map((url) => ({ ...row, key: url, url, hasPage: true }))
    read += rows.length
    return rows
  }
  return { large: { ...library, store: { ...library.store, listRows } }, read: () => read }
}

test('findPage names the sources of a path that several have, and takes the newest of several versions', async () => {
  const own = await openLibrary({ path: ':memory:', version: '0.0.0', openGrammars: () => openNodeGrammars([]) })
  onTestFinished(() => own.close())
  const addFolder = async (name: string, version?: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-paths-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'README.md'), `# ${name} ${version}\n\n${words(name, 20)}\n`)
    const url = pathToFileURL(`${folder}/`).href
    const source = await addSource(own, { url, name, isOwnFolder: true, ...(version !== undefined && { version }) })
    await runCrawl(own, source, { kind: 'add' }, 'file://')
  }
  for (const version of ['1.9', '1.10']) await addFolder('lamp', version)
  expect((await findPage(own, { url: 'README.md' })).title).toBe('lamp 1.10')
  await addFolder('oil tank')
  expect(await failureOf(findPage(own, { url: 'README.md' }))).toBe(
    'USAGE: README.md is in several sources: give one of them as source: lamp@1.10, "oil tank"',
  )
  expect((await findPage(own, { url: 'README.md', source: 'oil tank' })).source.name).toBe('oil tank')
  const { url } = await findPage(own, { url: 'README.md', source: 'lamp@1.9' })
  expect((await findPage(own, { url })).title).toBe('lamp 1.9')
})

describe('findPage for a missing page', () => {
  test('compares a bounded number of addresses, and yields to other work', async () => {
    const urls = Array.from(
      { length: 15_000 },
      (_, i) => `${site.origin}/docs/chapter-${i * 7}/a-longer-name-${i}.html`,
    )
    const { large, read } = enlarge(urls)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    onTestFinished(() => clearInterval(timer))
    const asked = `${site.origin}/docs/chapter-84000/a-longr-name-12000.html`
    expect(await failureOf(findPage(large, { url: asked }))).toContain(`did you mean ${urls[12_000]}?`)
    expect(turns).toBeGreaterThan(5)
    expect(read()).toBe(20_000)
  })

  test('suggests a page of the same name elsewhere if no path is similar', async () => {
    const urls = [...Array.from({ length: 600 }, (_, i) => `${site.origin}/${i}`), `${site.origin}/a/b/c/tower.html`]
    const { large } = enlarge(urls)
    expect(await failureOf(findPage(large, { url: `${site.origin}/reference/tower.html` }))).toContain(
      `did you mean ${site.origin}/a/b/c/tower.html?`,
    )
  })

  test('does not suggest a page that only shares the folder, or only has an equally short path', async () => {
    const folder = `${site.origin}/3/library/reference/of/everything`
    const { large } = enlarge([`${folder}/os.html`, `${folder}/json.html`, `${site.origin}/a`, `${folder}/index.html`])
    for (const url of [`${folder}/asyncio.html`, `${site.origin}/py`, `${site.origin}/guide/index.html`]) {
      expect(await failureOf(findPage(large, { url }))).not.toContain('did you mean')
    }
    expect(await failureOf(findPage(large, { url: `${folder}/jsno.html` }))).toContain(
      `did you mean ${folder}/json.html?`,
    )
  })

  test('reports that the text names a source instead of a page', async () => {
    for (const url of ['tower', 'tower@1.9']) {
      const error = await findPage(library, { url }).catch((one: unknown) => one)
      expect(error).toMatchObject({ message: `no page ${url} in :memory:: that is a source, not a page` })
      expect(isSourceGivenAsPage(error)).toBe(true)
    }
    const other = await findPage(library, { url: 'towers' }).catch((one: unknown) => one)
    expect([isSourceGivenAsPage(other), isSourceGivenAsPage(new Error('no'))]).toEqual([false, false])
  })
})

describe('findChunk', () => {
  test('finds a chunk by source name and id, or by a prefix of the id', async () => {
    const page = await findPage(library, { url: `${site.origin}/api` })
    const id = page.chunks.find(({ headingPath }) => headingPath.at(-1) === 'Writing')?.id ?? ''
    const found = await findChunk(library, `tower@1.10/${id}`)
    expect(found).toMatchObject({
      name: `tower@1.10/${id}`,
      url: `${site.origin}/api#writing`,
      title: 'API',
      checkedAt: page.checkedAt,
      changedAt: page.changedAt,
    })
    expect(found.chunk.content).toContain('tower.dump')
    expect((await findChunk(library, `${page.source.id}/${id.slice(0, 12)}`)).name).toBe(found.name)
    expect((await findChunk(library, `tower@1.10/${id.toUpperCase()}`)).name).toBe(found.name)
  })

  test('throws for an id that several sources have, and lists them', async () => {
    const { chunks } = await findPage(library, { url: `${site.origin}/api` })
    const id = chunks[0]?.id ?? ''
    expect(await failureOf(findChunk(library, id))).toBe(
      `USAGE: ${id} matches several chunks: name one of them as <source>/<id>: tower@1.9/${id}, tower@1.10/${id}`,
    )
  })

  test('finds a chunk under its cited name after the source was renamed', async () => {
    const own = await openTestLibrary()
    await crawlTower(own)
    const { chunks, source } = await findPage(own, { url: `${site.origin}/api` })
    const id = chunks[1]?.id ?? ''
    await own.store.removeSource((await findPage(own, { url: '/api', source: 'tower@1.9' })).source.id)
    await own.store.updateSource(source.id, { name: 'lighthouse', version: null })
    expect((await findChunk(own, `tower@1.10/${id}`)).name).toBe(`lighthouse/${id}`)
    expect((await findChunk(own, `tower@1.10/${id.slice(0, 12)}`)).name).toBe(`lighthouse/${id}`)
    expect(await failureOf(findChunk(own, `tower@1.10/${'0'.repeat(64)}`))).toMatch(/^SOURCE_UNKNOWN: /)
  })

  test('throws for an unknown chunk', async () => {
    for (const name of ['', 'abc', '0123456789ab', 'tower@1.10/0123456789ab', '/', '0'.repeat(64)]) {
      expect(await failureOf(findChunk(library, name))).toMatch(/^(?:CHUNK|SOURCE)_UNKNOWN: /)
    }
    expect(await failureOf(findChunk(library, 'nothing/0123456789ab'))).toMatch(/^SOURCE_UNKNOWN: /)
  })
})

test('listOutline returns the tree of headings of a page', async () => {
  const { title, lines, sections } = await listOutline(library, { url: `${site.origin}/api` })
  expect(title).toBe('API')
  expect(lines).toBeGreaterThan(10)
  const [top] = sections
  expect([top?.title, top?.anchor]).toEqual(['API', 'api'])
  expect(top?.children.map((section) => section.title)).toEqual(['Reading', 'Writing'])
  expect(top?.children[1]?.children.map(({ anchor }) => anchor)).toEqual(['options'])
})

describe('listSymbols', () => {
  test('lists the symbols of a page in order, each with its address and chunk', async () => {
    const { symbols, hasMore } = await listSymbols(library, { url: `${site.origin}/api` })
    expect(symbols.map(({ name }) => name)).toEqual(['tower.load', 'tower.dump', '--indent'])
    const [, dump] = symbols
    expect(dump).toMatchObject({
      signature: 'tower.dump(obj, file)',
      source: 'tower@1.10',
      title: 'API',
      url: `${site.origin}/api#writing`,
    })
    const { chunk } = await findChunk(library, dump?.chunk ?? '')
    expect(chunk.content).toContain('tower.dump')
    expect(hasMore).toBe(false)
  })

  test('filters the symbols of a source by a prefix of the whole name or of its part after the last dot', async () => {
    const names = async (prefix: string, limit?: number) => {
      const { symbols, hasMore } = await listSymbols(library, { source: 'tower@1.9', prefix, limit })
      return [...symbols.map(({ name }) => name), hasMore]
    }
    expect(await names('')).toEqual(['tower.load', 'tower.dump', '--indent', false])
    expect(await names('TOWER.')).toEqual(['tower.load', 'tower.dump', false])
    expect(await names('du')).toEqual(['tower.dump', false])
    expect(await names('owe')).toEqual([false])
    expect(await names('', 2)).toEqual(['tower.load', 'tower.dump', true])
  })

  test('stops after a bounded number of pages', async () => {
    const text = await findPage(library, { url: `${site.origin}/` })
    const { large } = enlarge(Array.from({ length: 5200 }, (_, i) => `${site.origin}/${i}`))
    const store = { ...large.store, readPageText: async () => text }
    expect(await listSymbols({ ...large, store }, { source: 'tower@1.9' })).toEqual({
      symbols: [],
      hasMore: false,
      stoppedAfter: 5000,
    })
  })

  test('yields to other work and stops on abort', async () => {
    const urls = Array.from({ length: 40 }, (_, i) => `/p${i}`)
    const links = urls.map((url) => `<a href="${url}">x</a>`).join(' ')
    const pages = urls.map((url) => [
      url,
      `<title>x</title><main><h1>${url}</h1><p>${words(`w${url.slice(1)}y`, 30)}</p></main>`,
    ])
    const large = await openTestSite({
      ...Object.fromEntries(pages),
      '/': `<title>x</title><main><h1>x</h1><p>${links}</p></main>`,
    })
    const own = await openTestLibrary()
    const source = await addSource(own, { url: `${large.origin}/`, name: 'large' })
    await runCrawl(own, source, { kind: 'add' }, large.origin)
    const controller = new AbortController()
    const listed = listSymbols(own, { source: 'large' }, controller.signal)
    setImmediate(() => controller.abort(new Error('enough')))
    await expect(listed).rejects.toThrow('enough')
    expect(await listSymbols(own, { source: 'large' })).toEqual({ symbols: [], hasMore: false, stoppedAfter: null })
  })

  test('lists the symbols of all sources', async () => {
    const { symbols } = await listSymbols(library, { prefix: 'load' })
    expect(symbols.map(({ source }) => source)).toEqual(['tower@1.9', 'tower@1.10'])
  })

  test('reports the line with the name of a definition in code, not the line of its comment or decorator', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-symbols-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const body = '    number = number + 1\n'.repeat(60)
    const code = `def light(number):\n${body}\n\n# Builds one.\n@cached\ndef build(number):\n${body}`
    writeFileSync(join(folder, 'tower.py'), code)
    const openGrammars = () => openNodeGrammars(['python'])
    const own = await openLibrary({ path: ':memory:', version: '0.0.0', openGrammars })
    onTestFinished(() => own.close())
    const source = await addSource(own, { url: pathToFileURL(`${folder}/`).href, name: 'code', isOwnFolder: true })
    await runCrawl(own, source, { kind: 'add' }, 'file://')
    const { symbols } = await listSymbols(own, { source: 'code', prefix: 'build' })
    const line = code.split('\n').indexOf('def build(number):') + 1
    expect(symbols.map((one) => [one.name, one.signature, one.line])).toEqual([['build', 'def build(number):', line]])
    expect(symbols[0]?.url).toMatch(/^file:.*\/tower\.py$/)
  })
})
