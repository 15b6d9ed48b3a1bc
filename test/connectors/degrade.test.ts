import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { openLibrary } from '../../src/open-library.ts'
import { addSourceTo, writePage } from '../embed/filled-store.ts'
import { findClosedPort } from './servers/faults.ts'
import { openQdrantServer } from './servers/qdrant.ts'
import { openTeiRerankServer } from './servers/rerank.ts'
import { openTeiServer, type TeiServer } from './servers/tei.ts'

/* The command line with embedding services that run, disappear and come back. */

let folder: string
let tei: TeiServer
const closing: (() => Promise<void>)[] = []

const PAGES = {
  '/lamp': 'The keeper lights the lamp at dusk.',
  '/fog': 'Where the coast is misty a foghorn sounds.',
  '/poison': 'A poison that no model takes.',
}

const shared = mkdtempSync(join(tmpdir(), 'pharos-degrade-'))

// Every test gets a copy of one library.
beforeAll(async () => {
  const library = await openLibrary({ path: join(shared, 'library.db'), version: '0.0.0' })
  await addSourceTo(library.store, 'docs')
  for (const [path, text] of Object.entries(PAGES)) await writePage(library.store, 'docs', path, text)
  await library.close()
})

afterAll(() => rmSync(shared, { recursive: true }))

beforeEach(async () => {
  folder = mkdtempSync(join(shared, 'test-'))
  cpSync(join(shared, 'library.db'), join(folder, 'library.db'))
  tei = await openTeiServer({ isUnreadable: (text) => text.includes('poison') })
  closing.push(() => tei.close())
})

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const close of closing.splice(0)) await close()
})

/** Runs the command line in this process, with settings of the environment. */
async function pharos(words: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  vi.unstubAllEnvs()
  const all = {
    PHAROS_LIBRARY: join(folder, 'library.db'),
    PHAROS_EMBEDDER: 'tei',
    PHAROS_EMBED_ENDPOINT: tei.origin,
    PHAROS_CACHE_FOLDER: join(folder, 'cache'),
    // Starting a browser is slow, and render/doctor.test.ts tests it.
    PHAROS_BROWSER: join(folder, 'no-browser'),
    ...settings,
  }
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value)
  const written = { stdout: '', stderr: '' }
  const streamOf = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text
    },
  })
  const status = await run(words, { stdout: streamOf('stdout'), stderr: streamOf('stderr') })
  return { ...written, status }
}

const json = ({ stdout }: { readonly stdout: string }): Record<string, unknown> => JSON.parse(stdout)

describe('embed', () => {
  test('status names the service and whether it answers, before and after a run', async () => {
    const before = await pharos(['embed', 'status'])
    expect(before).toMatchObject({ status: 0, stderr: '' })
    expect(before.stdout).toContain(`model: thenlper/gte-base, 8 dimensions, by tei at ${tei.origin}/\n`)
    expect(before.stdout).toContain('vectors: none yet: pharos embed run\n  docs: 0 of 3 chunks')

    const made = await pharos(['embed', 'run'])
    expect(made.status).toBe(0)
    expect(made.stdout).toMatch(/^embedded 2 chunks in .+: 2 of 3 chunks have a vector\n$/)
    expect(made.stderr).toContain('1 chunk could not be embedded (searchable by words only); the first: ')

    const after = await pharos(['embed', 'status'])
    expect(after.stdout).toContain('  docs: 2 of 3 chunks, 1 refused\n')
    expect(after.stdout).toMatch(
      /\nnot embedded \(searchable by words only\); .+ pharos embed run --retry-refused\n {2}docs\/[0-9a-f]{12}: .*Tokenization/,
    )
    expect(json(await pharos(['embed', 'status', '--json']))).toMatchObject({
      model: { service: 'tei', endpoint: `${tei.origin}/`, name: 'thenlper/gte-base', dimensions: 8, problem: null },
      vectors: { name: 'thenlper/gte-base', dimensions: 8 },
      is_comparable: true,
      sources: [{ name: 'docs', embedded: 2, refused: 1, chunks: 3, missing: 0 }],
      refused: [{ source_id: 'docs', problem: expect.stringContaining('Tokenization') }],
      copy: null,
    })
    expect((await pharos(['stats'])).stdout).toContain(
      'Vectors: 2 (100%) of the chunks, 1 refused, by thenlper/gte-base',
    )
  })

  test('run does not retry refused chunks without --retry-refused', async () => {
    await pharos(['embed', 'run'])
    tei.clearRequests()
    const again = await pharos(['embed', 'run'])
    expect(again.stdout).toContain('nothing to embed: 2 of 3 chunks have a vector')
    expect(again.stderr).toContain('1 chunk could not be embedded before')
    expect(tei.bodies('POST /embed').filter((body) => JSON.stringify(body).includes('poison'))).toEqual([])
    await tei.close()
    const other = await openTeiServer()
    closing.push(() => other.close())
    const tried = await pharos(['embed', 'run', '--retry-refused', '--json'], { PHAROS_EMBED_ENDPOINT: other.origin })
    expect(json(tried)).toMatchObject({ made: 1, embedded: 3, refused: 0 })
  })

  test('status explains why a service cannot be used, and run ends with advice', async () => {
    const endpoint = `http://127.0.0.1:${await findClosedPort()}`
    const unavailable = await pharos(['embed', 'status'], { PHAROS_EMBED_ENDPOINT: endpoint })
    expect(unavailable.status).toBe(0)
    expect(unavailable.stdout).toMatch(
      /^model: tei at http:\/\/127\.0\.0\.1:\d+\/ cannot be used: (?!.*cannot be used)(?!Text).*refused/,
    )
    expect(json(await pharos(['embed', 'status', '--json'], { PHAROS_EMBED_ENDPOINT: endpoint }))).toMatchObject({
      model: { service: 'tei', problem: expect.stringContaining('refused') },
      is_comparable: false,
    })
    const failed = await pharos(['embed', 'run'], { PHAROS_EMBED_ENDPOINT: endpoint })
    expect(failed).toMatchObject({ status: 3, stderr: expect.stringContaining('cannot be used') })
    expect(failed.stderr).not.toContain('stays')
  })

  test('status reports vectors of a service that is not configured, and run leaves them alone', async () => {
    await pharos(['embed', 'run'])
    const without = { PHAROS_EMBEDDER: 'built-in', PHAROS_EMBED_ENDPOINT: '' }
    expect((await pharos(['embed', 'status'], without)).stdout).toContain(
      'vectors: of thenlper/gte-base, 8 dimensions, which the built-in model cannot use',
    )
    const { stderr } = await pharos(['embed', 'run'], without)
    expect(stderr).toContain('cannot be compared with those of pharos-embed-1')
    tei.serve({ id: 'BAAI/bge-m3' })
    expect((await pharos(['search', 'lamp'])).stderr).toContain('than the configured one (BAAI/bge-m3)')
    expect((await pharos(['embed', 'status'])).stdout).toContain('the model that is configured cannot use')
  })

  test('a run that fails midway reports its progress', async () => {
    const library = await openLibrary({ path: join(folder, 'library.db'), version: '0.0.0' })
    const texts = Array.from({ length: 8 }, (_, i) => (i === 7 ? 'the last one' : `buoy ${i}`))
    await writePage(library.store, 'docs', '/many', texts.join('\n---\n'))
    await library.close()
    tei.setFault('POST /embed', ({ text }) =>
      text.includes('the last one') ? { type: 'answer', status: 401 } : { type: 'none' },
    )
    const { status, stderr } = await pharos(['embed', 'run'], { PHAROS_EMBED_BATCH: '1' })
    expect(status).toBe(3)
    expect(stderr).toMatch(
      /^embedding 11 chunks for search by meaning\nembedded [1-9]\d* of 11 chunks before the failure; these are kept\npharos: .+ no key was sent/,
    )
  })

  test('add embeds with the service that its flags name, and reports the share of embedded chunks', async () => {
    writeFileSync(join(folder, 'note.md'), '# Note\n\nThe harbour has a lamp.\n')
    const flags = ['--embedder', 'tei', '--embed-endpoint', tei.origin]
    const without = { PHAROS_EMBEDDER: 'built-in', PHAROS_EMBED_ENDPOINT: '' }
    const added = await pharos(['add', join(folder, 'note.md'), '--embed', ...flags], without)
    expect(added).toMatchObject({ status: 0 })
    expect(added.stderr).toContain('searchable by words and by meaning (100 %)\n')
    const { stdout } = await pharos(['doctor', ...flags], without)
    expect(stdout).toContain('ok    embedding: thenlper/gte-base, 8 dimensions\n')
  })

  test('refuses flags of other actions, and sync without a configured copy', async () => {
    expect((await pharos(['embed', 'status', '--rebuild'])).stderr).toContain('--rebuild: that is for embed sync')
    expect((await pharos(['embed', 'sync', '--retry-refused'])).stderr).toContain(
      '--retry-refused: that is for embed run',
    )
    expect(await pharos(['embed', 'sync'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('name one with --qdrant-url'),
    })
  })
})

describe('embed sync', () => {
  test('syncs Qdrant with the library, repeatedly and with --rebuild', async () => {
    const qdrant = await openQdrantServer()
    closing.push(() => qdrant.close())
    await pharos(['embed', 'run'])
    const settings = { PHAROS_QDRANT_URL: qdrant.origin }
    const copy = `${qdrant.origin} (pharos)`
    const status = async () => (await pharos(['embed', 'status'], settings)).stdout
    expect(await status()).toContain(`\ncopy: ${copy}, 0 of 2 vectors, behind: pharos embed sync\n`)
    const first = await pharos(['embed', 'sync'], settings)
    expect(first).toMatchObject({ status: 0 })
    expect(first.stdout).toContain('is up to date: wrote 2 of 2 vectors, removed 0 stale ones')
    expect(qdrant.pointsOf('pharos')?.size).toBe(2)
    expect(await status()).toContain(`\ncopy: ${copy}, 2 of 2 vectors\n`)
    expect(json(await pharos(['embed', 'status', '--json'], settings))).toMatchObject({
      copy: { location: copy, vectors: 2, points: 2, uncopied: 0, is_in_step: true, problem: null },
    })
    expect(json(await pharos(['embed', 'sync', '--json'], settings))).toMatchObject({
      vectors: 2,
      copied: 0,
      removed: 0,
    })
    expect(json(await pharos(['embed', 'sync', '--rebuild', '--json'], settings))).toMatchObject({ copied: 2 })
    expect((await pharos(['doctor'], settings)).stdout).toMatch(/\nok {4}qdrant: http:\/\/127.+, collection pharos\n/)
    await qdrant.stopListening()
    expect(await status()).toContain(`\ncopy: ${copy}, which is not reachable: Qdrant: `)
    expect(await pharos(['embed', 'sync'], settings)).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('Qdrant'),
    })
  })
})

describe('search', () => {
  test('uses words alone and says so while the service is gone, and uses vectors again when it is back', async () => {
    await pharos(['embed', 'run'])
    const found = await pharos(['search', 'lamp', '--json'])
    expect(json(found)).toMatchObject({ engines: ['words', 'vectors'] })
    await tei.stopListening()
    const alone = await pharos(['search', 'lamp', '--json'])
    expect(alone.status).toBe(0)
    expect(json(alone)).toMatchObject({
      engines: ['words'],
      notices: [expect.stringMatching(/^the model cannot be used: .+; answered by words alone$/)],
      passages: [{ url: 'https://docs.test/lamp' }],
    })
    const text = await pharos(['search', 'lamp'])
    expect(text.stderr).toContain('; answered by words alone\n')
    expect(text.stderr).toContain('\nby words, in')
    await tei.resumeListening()
    expect(json(await pharos(['search', 'lamp', '--json']))).toMatchObject({ engines: ['words', 'vectors'] })
  })

  test('reports that nothing is embedded yet if a service is configured', async () => {
    await tei.stopListening()
    const notice = 'no chunk has a vector yet (make them with pharos embed run); answered by words alone'
    expect(json(await pharos(['search', 'lamp', '--json']))).toMatchObject({ engines: ['words'], notices: [notice] })
    expect((await pharos(['search', 'lamp'])).stderr).toContain(`${notice}\n`)
    expect(json(await pharos(['search', 'lamp', '--json', '--fusion', 'words']))).toMatchObject({ notices: [] })
    const without = { PHAROS_EMBEDDER: 'built-in', PHAROS_EMBED_ENDPOINT: '' }
    expect(json(await pharos(['search', 'lamp', '--json'], without))).toMatchObject({ notices: [] })
  })

  test('sends no request to the service while no chunk is embedded, even after a failed run', async () => {
    tei.queueFaults('POST /embed', { type: 'none' })
    tei.setFault('POST /embed', { type: 'answer', status: 401 })
    expect((await pharos(['embed', 'run'])).status).toBe(3)
    tei.clearRequests()
    expect(json(await pharos(['search', 'lamp', '--json']))).toMatchObject({
      notices: ['no chunk has a vector yet (make them with pharos embed run); answered by words alone'],
    })
    expect(tei.requests).toEqual([])
  })

  test('names the configuration file in the command for further results, and reports when the reranker is gone', async () => {
    const reranker = await openTeiRerankServer({ judge: (_, text) => (text.includes('foghorn') ? 1 : 0) })
    closing.push(() => reranker.close())
    const file = join(folder, 'mine.json')
    writeFileSync(file, JSON.stringify({ reranker: 'tei', rerankEndpoint: reranker.origin, embedder: 'built-in' }))
    const query = ['search', 'lamp dusk foghorn', '--limit', '1', '--config', file]
    const { stderr } = await pharos(query, { PHAROS_EMBEDDER: '', PHAROS_EMBED_ENDPOINT: '' })
    expect(stderr).toMatch(/next: pharos search .+ --config \S+mine\.json --cursor 1-[0-9a-f]{16}-wr\n/)
    const cursor = /--cursor (\S+)/.exec(stderr)?.[1] ?? ''
    await reranker.stopListening()
    const next = await pharos([...query, '--cursor', cursor], { PHAROS_EMBEDDER: '', PHAROS_EMBED_ENDPOINT: '' })
    expect(next.stderr).toContain('earlier answers were also ranked by a reranker, but this one was not')
  })

  test('reports that the configured reranker is a service without a reranker', async () => {
    const settings = { PHAROS_RERANKER: 'tei', PHAROS_RERANK_ENDPOINT: tei.origin }
    const { stderr } = await pharos(['search', 'lamp', 'dusk', 'foghorn'], settings)
    expect(stderr).toContain(`${tei.origin}/rerank answered 404: not a reranker; check the setting rerankEndpoint`)
  })

  test('ranks with a reranker and says so, and says when it ranks without', async () => {
    const reranker = await openTeiRerankServer({ judge: (_, text) => (text.includes('foghorn') ? 1 : 0) })
    closing.push(() => reranker.close())
    const settings = { PHAROS_RERANKER: 'tei', PHAROS_RERANK_ENDPOINT: reranker.origin }
    const query = ['search', 'lamp', 'dusk', 'foghorn']
    expect(json(await pharos([...query, '--json']))).toMatchObject({ passages: [{ title: 'Title of /lamp' }] })
    const judged = await pharos([...query, '--json', '--explain'], settings)
    expect(json(judged)).toMatchObject({
      engines: ['words', 'reranker'],
      passages: [{ title: 'Title of /fog', explain: { reranker: { score: 1, place: 1, placeBefore: 2 } } }],
      more: [{ title: 'Title of /lamp' }],
    })
    expect((await pharos(query, settings)).stderr).toContain('by words and a reranker')
    await reranker.stopListening()
    const without = await pharos(query, settings)
    expect(without.stderr).toMatch(/the reranker cannot be used: .+; ranked without it\n/)
  })
})

describe('doctor', () => {
  test('checks the configured services, and reports failures of services as warnings', async () => {
    const reranker = await openTeiRerankServer({ judge: () => 0.5 })
    closing.push(() => reranker.close())
    const closed = `http://127.0.0.1:${await findClosedPort()}`
    const settings = {
      PHAROS_RERANKER: 'tei',
      PHAROS_RERANK_ENDPOINT: reranker.origin,
      PHAROS_QDRANT_URL: closed,
      PHAROS_CRAWL4AI_ENDPOINT: closed,
    }
    const { stdout } = await pharos(['doctor', '--json'], settings)
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; found: string }[] }
    const checkOf = (name: string) => checks.find((check) => check.name === name)
    expect(checkOf('embedding')).toEqual({ name: 'embedding', ok: true, found: 'thenlper/gte-base, 8 dimensions' })
    expect(checkOf('reranker')).toMatchObject({ ok: true, found: `TEI at ${new URL(reranker.origin).host} works` })
    for (const name of ['qdrant', 'crawl4ai', 'browser']) {
      expect(checkOf(name)).toMatchObject({ ok: true, is_warning: true })
    }
    expect(checkOf('browser')?.found).toContain('no-browser')
    expect((await pharos(['doctor'], settings)).stdout).toMatch(/\nWARN {2}qdrant: Qdrant: /)
  })

  test('names the services that do not answer, with their addresses', async () => {
    tei.setFault('GET /info', { type: 'hang' })
    const { stdout } = await pharos(['doctor'])
    expect(stdout).toContain(`WARN  embedding: tei at ${tei.origin} gave no answer within 3 s; make sure that it runs`)
  })

  test('does not mention services that are not configured', async () => {
    const without = { PHAROS_EMBEDDER: 'built-in', PHAROS_EMBED_ENDPOINT: '', PHAROS_BROWSER: '' }
    const { stdout } = await pharos(['doctor', '--json'], without)
    const { checks } = JSON.parse(stdout) as { checks: { name: string }[] }
    const names = checks.map(({ name }) => name)
    expect(names).toContain('browser')
    for (const name of ['embedding', 'reranker', 'qdrant', 'crawl4ai']) expect(names).not.toContain(name)
  })
})
