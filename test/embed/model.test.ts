import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { embedLibrary } from '../../src/library/embed/embed-library.ts'
import type { Library } from '../../src/library/library.ts'
import type { VectorIndex } from '../../src/library/ports/vectors.ts'
import { searchLibrary } from '../../src/library/search/search-library.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { closeLater } from '../close-later.ts'
import { PROGRAM } from '../e2e/program.ts'
import { until } from '../e2e/server.ts'
import { isLong } from '../faults/bounded.ts'
import { openSite } from '../sites/site.ts'
import { addSourceTo, writePage } from './filled-store.ts'

/* Tests the built-in model in a library. */

const scratch = mkdtempSync(join(tmpdir(), 'pharos-model-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Number of chunks of a library that have a vector. */
async function countVectors(path: string): Promise<number> {
  const library = await openLibrary({ path, version: '0.0.0' })
  const count = await library.vectors?.count()
  await library.close()
  return count?.embedded ?? 0
}

/** Runs the built program as a separate process, which `stop` interrupts like Ctrl-C. */
async function startProgram(
  args: readonly string[],
  stop: AbortSignal,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stderr: string }> {
  const env = { ...process.env, ...environment }
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['pipe', 'ignore', 'pipe'], env })
  stop.addEventListener('abort', () => child.kill('SIGINT'))
  let stderr = ''
  child.stderr.on('data', (data) => {
    stderr += data
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, stderr }
}

describe('a library with vectors', () => {
  const PAGES = {
    '/a': 'Deserialises a document to an object and returns it.',
    '/b': 'The keeper lights the lamp of the tower every evening, so that ships find the harbour.',
    '/c': 'Rain is expected in the north, with strong winds from the sea.',
  }

  async function fill(path: string): Promise<OpenLibrary> {
    const library = await openLibrary({ path, version: '0.0.0' })
    await addSourceTo(library.store, 'docs')
    // A search waits two seconds for the model, which may take longer to load on a busy machine.
    await (await library.openEmbedder?.())?.embed(['ready'], undefined, 'query')
    for (const [pagePath, text] of Object.entries(PAGES)) {
      await writePage(library.store, 'docs', pagePath, text, { title: 'Page' })
    }
    return library
  }

  const vectorsOf = ({ vectors }: Library): VectorIndex => {
    if (vectors === undefined) throw new Error('the library keeps no vectors')
    return vectors
  }

  const firstOf = async (library: Library, query: string) => {
    const { passages, more, engines, notices } = await searchLibrary(library, { query })
    const [first] = [...passages, ...more]
    return { url: first && new URL(first.url).pathname, engines, notices }
  }

  test('finds passages that share no word with the query, as soon as they are embedded', async () => {
    const library = await fill(':memory:')
    const query = 'how boats are guided home'
    expect(await firstOf(library, query)).toEqual({ url: undefined, engines: ['words'], notices: [] })
    const seen = []
    for await (const progress of embedLibrary(library, { batch: 2 })) seen.push(progress.embedded)
    expect(seen).toEqual([0, 2, 3])
    expect(await firstOf(library, query)).toEqual({ url: '/b', engines: ['words', 'vectors'], notices: [] })
    await library.close()
  })

  test('says how many chunks have vectors, and finds the others by words', async () => {
    const library = await fill(':memory:')
    for await (const _ of embedLibrary(library));
    await writePage(library.store, 'docs', '/new', 'A foghorn replaces the lamp where the coast is misty.')
    const answer = await firstOf(library, 'foghorn')
    expect(answer.url).toBe('/new')
    expect(answer.notices).toEqual(['3 of 4 passages can be found by meaning, the others by words'])
    await library.close()
  })

  test('drops vectors of an earlier model when one source is embedded; a full run embeds the rest', async () => {
    const library = await fill(':memory:')
    const vectors = vectorsOf(library)
    const fingerprint = 'ae19371163d6c652dc176d04ae33c0d76f36ebb7b103cc73333800e6280ffee6'
    const space = { model: 'all-MiniLM-L6-v2', fingerprint, dimensions: 384 }
    await vectors.replaceSpace(space)
    const vector = Float32Array.from({ length: 384 }, (_, i) => (i === 0 ? 1 : 0))
    for (const id of ['old', 'bare', 'new']) await addSourceTo(library.store, id)
    const [old = ''] = await writePage(library.store, 'old', '/', 'A foghorn sounds where the coast is misty.')
    await writePage(library.store, 'bare', '/', 'Nobody asked for this one.')
    await writePage(library.store, 'new', '/', 'Gulls nest on the cliff.')
    await vectors.write(space, [{ sourceId: 'old', chunkId: old, vector }])
    const before = await firstOf(library, 'foghorn')
    expect(before).toMatchObject({ engines: ['words'], notices: [expect.stringContaining('of another model')] })
    for await (const _ of embedLibrary(library, { sourceIds: ['new'] }));
    const embedded = (id: string) => vectors.count([id]).then((count) => count.embedded)
    expect(await Promise.all(['old', 'bare', 'new'].map(embedded))).toEqual([0, 0, 1])
    expect(await firstOf(library, 'birds on a rock')).toMatchObject({ engines: ['words', 'vectors'] })
    for await (const _ of embedLibrary(library));
    expect(await Promise.all(['old', 'bare', 'new'].map(embedded))).toEqual([1, 1, 1])
    await library.close()
  })

  test('refuses to replace the vectors of a service with its own', async () => {
    const library = await fill(':memory:')
    await vectorsOf(library).replaceSpace({ model: 'bge', fingerprint: 'f'.repeat(64), dimensions: 8 })
    await expect(embedLibrary(library).next()).rejects.toMatchObject({ code: 'VECTOR_SPACE_OTHER' })
    await library.close()
  })

  test('leaves text in other languages to word search, and completes all the same', async () => {
    const library = await fill(':memory:')
    await writePage(library.store, 'docs', '/de', 'Der Wärter zündet jeden Abend die Lampe an.', { language: 'de' })
    let last = { embedded: 0, refused: 0, skipped: 0 }
    for await (const progress of embedLibrary(library)) last = progress
    expect(last).toMatchObject({ embedded: 3, refused: 1, skipped: 0 })
    const [refused] = await vectorsOf(library).listRefused(10)
    expect(refused?.problem).toBe('its page is in another language (de) than the model (en)')
    expect(await firstOf(library, 'how boats are guided home')).toMatchObject({ url: '/b', notices: [] })
    const german = await firstOf(library, 'Wer ist der Wärter und was macht er mit der Lampe?')
    expect(german).toMatchObject({ url: '/de', engines: ['words'] })
    expect(german.notices).toContain('the model is made for another language (en); answered by words alone')
    await library.close()
  })

  describe('the command line', () => {
    const path = join(scratch, 'cli.db')
    const args = ['--library', path]
    afterEach(() => vi.unstubAllEnvs())

    /** Runs the command line in this process. */
    const pharos = async (...words: string[]) => {
      const written = { stdout: '', stderr: '' }
      const streamOf = (name: keyof typeof written) => ({
        write: (text: string) => {
          written[name] += text
        },
      })
      const status = await run(words, { stdout: streamOf('stdout'), stderr: streamOf('stderr') })
      return { ...written, status }
    }
    beforeAll(async () => {
      const library = await fill(path)
      // There are several batches, so that a run can be interrupted. Without TEST_LONG each chunk has few words, because the number of
      // words decides how long embedding takes.
      const words = 'The lamp is lit at dusk. '.repeat(isLong ? 8 : 1)
      const long = Array.from({ length: 300 }, (_, i) => `Chunk ${i}. ${words}`)
      await writePage(library.store, 'docs', '/long', long.join('\n---\n'))
      await library.close()
    })

    test('embed run is interrupted without loss, and resumes where it stopped', async () => {
      const stop = new AbortController()
      const running = startProgram(['embed', 'run', ...args], stop.signal)
      const reader = await openLibrary({ path, version: '0.0.0' })
      const count = async () => (await reader.vectors?.count())?.embedded ?? 0
      for (let waited = 0; (await count()) === 0 && waited < 60_000; waited += 20) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      stop.abort()
      expect(await running).toMatchObject({
        code: 130,
        stderr: expect.stringContaining('go on with: pharos embed run'),
      })
      const before = await count()
      expect(before).toBeGreaterThan(0)
      expect(before).toBeLessThan(303)
      await reader.close()

      const { stdout, status } = await pharos('embed', 'run', 'docs', '--json', ...args)
      expect(status).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ made: 303 - before, embedded: 303, chunks: 303 })
      expect((await pharos('embed', 'run', ...args)).stdout).toContain(
        'nothing to embed: 303 of 303 chunks have a vector',
      )
    })

    test('embed status shows the model, the vectors, and the progress of each source', async () => {
      expect(JSON.parse((await pharos('embed', 'status', '--json', ...args)).stdout)).toMatchObject({
        model: { name: 'pharos-embed-1', dimensions: 384, service: null, problem: null },
        is_comparable: true,
        sources: [{ name: 'docs', embedded: 303, chunks: 303 }],
      })
      expect((await pharos('embed', 'status', ...args)).stdout).toContain(
        'model: pharos-embed-1, 384 dimensions, built in\nvectors: of pharos-embed-1, 384 dimensions\n',
      )
    })

    test('embed install says that nothing needs to be installed', async () => {
      const { stdout, status } = await pharos('embed', 'install')
      expect([status, stdout]).toEqual([0, expect.stringContaining('nothing to install: the model is built in')])
    })

    test('add embeds new pages, and a query that shares no word with a page finds it', async () => {
      const libraryFlag = ['--library', join(scratch, 'added.db')]
      const folder = join(scratch, 'notes')
      mkdirSync(folder)
      writeFileSync(
        join(folder, 'tower.md'),
        '# Tower\n\nThe keeper lights the lamp every evening, so that ships find home.\n',
      )
      writeFileSync(join(folder, 'rain.md'), '# Rain\n\nWet weather is expected in the north.\n')
      vi.stubEnv('PHAROS_EMBED', 'true')
      const added = await pharos('add', folder, '--name', 'notes', ...libraryFlag)
      expect(added).toMatchObject({ status: 0 })
      const query = ['search', 'guiding boats at night', '--explain', '--json', ...libraryFlag]
      // A search waits two seconds for the model, which may take longer to load on a busy machine.
      const { passages, engines } = await until(
        async () => JSON.parse((await pharos(...query)).stdout),
        (answer) => answer.engines.length === 2,
      )
      expect(engines).toEqual(['words', 'vectors'])
      expect(passages[0]).toMatchObject({ title: 'Tower' })
      expect(JSON.stringify(passages[0])).toMatch(/"similarity":0\.\d/)
      expect((await pharos('status', 'notes', ...libraryFlag)).stdout).toContain('meaning 100 %')
      const [listed] = JSON.parse((await pharos('list', '--json', ...libraryFlag)).stdout).sources
      expect(listed).toMatchObject({ name: 'notes', meaning: 1 })
      writeFileSync(join(folder, 'fog.md'), '# Fog\n\nA horn sounds where the coast is misty.\n')
      expect(await pharos('recrawl', 'notes', '--no-embed', ...libraryFlag)).toMatchObject({ status: 0 })
      expect((await pharos('list', ...libraryFlag)).stdout).toContain('meaning 66 %')
      // Without a terminal there is no live line, so notes say what a command does after its summary.
      expect(await pharos('recrawl', 'notes', ...libraryFlag)).toMatchObject({
        status: 0,
        stderr: expect.stringContaining(
          'embedding 1 chunk for search by meaning\nsearchable by words and by meaning (100 %)\n',
        ),
      })
    })

    test('Ctrl-C ends the embedding after a crawl, and the crawl still counts as completed', async () => {
      const library = join(scratch, 'stopped.db')
      const file = join(scratch, 'long.md')
      const text =
        'The keeper climbs the stairs every evening and lights the lamp, because the ships out there need it.'
      const parts = Array.from(
        { length: 400 },
        (_, i) => `## Part ${i}\n\nThis is what is written of day ${i}. ${text} ${text}\n`,
      )
      writeFileSync(file, `# Long\n\n${parts.join('\n')}`)
      const stop = new AbortController()
      const running = startProgram(['add', file, '--name', 'long', '--library', library], stop.signal, {
        PHAROS_EMBED: 'true',
      })
      const embedded = await until(
        async () => (existsSync(library) ? countVectors(library) : 0),
        (count) => count > 0,
      )
      expect(embedded).toBeGreaterThan(0)
      stop.abort()
      const { code, stderr } = await running
      expect([code, stderr]).toEqual([
        0,
        expect.stringMatching(/embedding stopped; .+ go on with: pharos embed run long/),
      ])
      const [listed] = JSON.parse((await pharos('list', '--json', '--library', library)).stdout).sources
      expect(listed).toMatchObject({ status: 'INDEXED' })
      expect(listed.meaning).toBeLessThan(1)
    })

    test('the process of a crawl embeds its pages itself, so that its server is not blocked', async () => {
      const site = await openSite({
        '/': '<title>Tower</title><main><h1>Tower</h1><p>The keeper lights it.</p></main>',
      })
      closeLater(() => site.close())
      const library = join(scratch, 'job.db')
      const settings = { PHAROS_EMBED: 'true', PHAROS_LIBRARY: library, PHAROS_ALLOW_PRIVATE: '*' }
      const { code } = await startProgram(['crawl-job', `${site.origin}/`], new AbortController().signal, settings)
      expect([code, await countVectors(library)]).toEqual([0, 1])
    })

    test.each([
      [['embed'], "missing required argument 'what'"],
      [['embed', 'destroy'], 'destroy'],
      [['embed', 'install', 'docs'], 'takes no source'],
      [['embed', 'status', '--replace'], 'takes no --replace'],
      [['embed', 'install', '--replace'], 'takes no --replace'],
      [['embed', 'run', 'nobody', ...args], 'no source nobody'],
    ])('refuses the arguments %j', async (words, problem) => {
      const { stderr, status } = await pharos(...words)
      expect(stderr).toContain(problem)
      expect([2, 3]).toContain(status)
    })
  })
})
