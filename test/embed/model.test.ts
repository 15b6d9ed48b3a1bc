import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { parseWordPiece, tokenizeText } from '../../src/core/embedding/word-piece.ts'
import { installModel } from '../../src/embed/install.ts'
import { runtimePlace } from '../../src/embed/model-files.ts'
import { openOnnxEmbedder } from '../../src/embed/onnx-embedder.ts'
import type { Library } from '../../src/library/library.ts'
import { embedLibrary } from '../../src/library/operations/embed-library.ts'
import { searchLibrary } from '../../src/library/operations/search-library.ts'
import type { Embedder } from '../../src/library/vectors.ts'
import { type OpenLibrary, openLibrary } from '../../src/open-library.ts'
import { PROGRAM } from '../e2e/program.ts'
import { openSite } from '../sites/site.ts'
import { addSourceTo, writePage } from './filled-store.ts'

/*
 * The real model, installed as users install it: once for this copy of the project, because it is a download of 130 MB.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const modelFolder = join(root, 'node_modules', '.cache', 'pharos-embedding')
const scratch = mkdtempSync(join(tmpdir(), 'pharos-model-'))

/** For all tests to which it does not matter whose it is: a process takes long to begin. */
let embedder: Embedder

beforeAll(async () => {
  await installModel({ folder: modelFolder })
  embedder = await openModel()
}, 300_000)
afterAll(async () => {
  await embedder.close()
  rmSync(scratch, { recursive: true, force: true })
})

const cosine = (a: Float32Array | undefined, b: Float32Array | undefined): number =>
  a?.reduce((sum, value, i) => sum + value * (b?.[i] ?? 0), 0) ?? 0

/** Opens the model of a folder; its process begins with the first text. */
async function openModel(folder = modelFolder): Promise<Embedder> {
  const opened = await openOnnxEmbedder({ folder })
  if (opened === undefined) throw new Error('no model is installed')
  return opened
}

/** Runs the built program beside this one, which goes on meanwhile, until it is interrupted. */
async function runAside(args: readonly string[], stop: AbortSignal): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  stop.addEventListener('abort', () => child.kill('SIGINT'))
  let stderr = ''
  child.stderr.on('data', (some) => {
    stderr += some
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, stderr }
}

describe('the installation', () => {
  test('is left alone when it is there', async () => {
    const steps: string[] = []
    const installed = await installModel({ folder: modelFolder, onStep: (step) => steps.push(step) })
    expect(installed).toMatchObject({ model: 'present', runtime: 'present', space: { dimensions: 384 } })
    expect(steps).toEqual(['embedding a text'])
  })

  test('has what this machine needs, and its licences', () => {
    expect(readFileSync(join(modelFolder, 'model', 'NOTICE'), 'utf8')).toContain('all-MiniLM-L6-v2')
    const programs = join(runtimePlace(modelFolder), 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6')
    expect(existsSync(join(programs, process.platform, process.arch))).toBe(true)
    expect(existsSync(join(programs, process.platform === 'win32' ? 'darwin' : 'win32'))).toBe(false)
  })

  test('can be copied from a folder, without any network', async () => {
    const folder = join(scratch, 'copied')
    const doubts: string[] = []
    const installed = await installModel({ folder, from: modelFolder, onDoubt: (doubt) => doubts.push(doubt) })
    expect(installed).toMatchObject({ model: 'installed', runtime: 'installed' })
    // It is known by its hash.
    expect(doubts).toEqual([])
    expect(installed.space).toEqual(embedder.space)
    rmSync(folder, { recursive: true })
  })
})

describe('the tokens of a text', () => {
  let vocabulary: ReturnType<typeof parseWordPiece>
  beforeAll(() => {
    vocabulary = parseWordPiece(readFileSync(join(modelFolder, 'model', 'tokenizer.json'), 'utf8'))
  })

  // As the reference tokenizer of the model's makers gives them.
  test.each<[string, number[]]>([
    ['Hello, world!', [101, 7592, 1010, 2088, 999, 102]],
    ['os.path.join()', [101, 9808, 1012, 4130, 1012, 3693, 1006, 1007, 102]],
    ['Café naïve Ångström', [101, 7668, 15743, 17076, 15687, 102]],
    ['unbelievably', [101, 4895, 8671, 2666, 3567, 6321, 102]],
    ['日本語 text', [101, 1864, 1876, 1950, 3793, 102]],
    ['--max-pages=10', [101, 1011, 1011, 4098, 1011, 5530, 1027, 2184, 102]],
    ['😀', [101, 100, 102]],
  ])('%s', (text, tokens) => {
    expect(tokenizeText(text, vocabulary, 256)).toEqual(tokens)
  })
})

describe('the embedder', () => {
  test('gives vectors of length 1 that are near where the meaning is', async () => {
    const [question, answer, other] = await embedder.embed([
      'How do I parse JSON?',
      'json.loads deserialises a document to a Python object',
      'The weather in Hamburg is rainy',
    ])
    expect(cosine(question, question)).toBeCloseTo(1, 5)
    expect(cosine(question, answer)).toBeGreaterThan(0.4)
    expect(cosine(question, other)).toBeLessThan(0.15)
  })

  test('gives a text the same vector whatever stands beside it', async () => {
    const [alone] = await embedder.embed(['a lighthouse'])
    const among = await embedder.embed(['much longer '.repeat(100), 'a lighthouse', ''])
    expect(among[1]).toEqual(alone)
    expect(among[2]?.length).toBe(384)
  })

  test('stops for whoever does not want to wait, and goes on for others', async () => {
    const stop = new AbortController()
    const many = embedder.embed(
      Array.from({ length: 500 }, (_, i) => `text ${i} `.repeat(60)),
      stop.signal,
    )
    const refused = expect(many).rejects.toThrow('enough')
    const [query] = await embedder.embed(['a question in between'], undefined, 'query')
    expect(query?.length).toBe(384)
    stop.abort(new Error('enough'))
    await refused
    expect((await embedder.embed(['after'])).length).toBe(1)
  })

  test('says so when it was closed, also to those who wait', async () => {
    const closed = await openModel()
    const waiting = Promise.allSettled([closed.embed(['one']), closed.embed(['two', 'three'])])
    await closed.close()
    expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(closed.embed(['four'])).rejects.toMatchObject({ code: 'EMBEDDER_UNUSABLE' })
  })

  test('says what is wrong with a model that cannot be loaded', async () => {
    const folder = join(scratch, 'harmed')
    mkdirSync(folder)
    cpSync(join(modelFolder, 'model'), join(folder, 'model'), { recursive: true })
    cpSync(runtimePlace(modelFolder), runtimePlace(folder), { recursive: true })
    writeFileSync(join(folder, 'model', 'model_quantized.onnx'), 'no model')
    const harmed = await openModel(folder)
    await expect(harmed.embed(['one'])).rejects.toMatchObject({
      code: 'EMBEDDER_UNUSABLE',
      message: expect.stringMatching(/cannot be used: .+/),
    })
    await harmed.close()
    // An installation mends it.
    expect(await installModel({ folder, from: modelFolder })).toMatchObject({ model: 'installed', runtime: 'present' })
    rmSync(folder, { recursive: true })
  })
})

describe('a library with vectors', () => {
  const PAGES = {
    '/a': 'Deserialises a document to an object and returns it.',
    '/b': 'The keeper lights the lamp of the tower every evening, so that ships find the harbour.',
    '/c': 'Rain is expected in the north, with strong winds from the sea.',
  }

  async function fill(path: string): Promise<OpenLibrary> {
    const library = await openLibrary({ path, version: '0.0.0', modelFolder })
    await addSourceTo(library.store, 'docs')
    for (const [at, text] of Object.entries(PAGES)) await writePage(library.store, 'docs', at, text, { title: 'Page' })
    return library
  }

  /** The same with the process that runs already. */
  const fillQuickly = async (path: string) => ({ ...(await fill(path)), openEmbedder: async () => embedder })

  const firstOf = async (library: Library, query: string) => {
    const { passages, more, engines, notices } = await searchLibrary(library, { query })
    const [first] = [...passages, ...more]
    return { url: first && new URL(first.url).pathname, engines, notices }
  }

  test('finds what shares no word with the question, as soon as it is embedded', async () => {
    const library = await fill(':memory:')
    const query = 'how boats are guided home'
    expect(await firstOf(library, query)).toEqual({ url: undefined, engines: ['words'], notices: [] })
    const seen = []
    for await (const progress of embedLibrary(library, { batch: 2 })) seen.push(progress.embedded)
    expect(seen).toEqual([0, 2, 3])
    expect(await firstOf(library, query)).toEqual({ url: '/b', engines: ['words', 'vectors'], notices: [] })
    await library.close()
  })

  test('says what is not embedded yet, and finds that by its words', async () => {
    const library = await fillQuickly(':memory:')
    for await (const _ of embedLibrary(library));
    await writePage(library.store, 'docs', '/new', 'A foghorn replaces the lamp where the coast is misty.')
    const answer = await firstOf(library, 'foghorn')
    expect(answer.url).toBe('/new')
    expect(answer.notices).toEqual(['3 of 4 chunks have vectors'])
    await library.close()
  })

  test('answers by words, and says why, when the model does not work any more', async () => {
    const path = join(scratch, 'words.db')
    const filled = await fillQuickly(path)
    for await (const _ of embedLibrary(filled));
    await filled.close()
    const without = await openLibrary({ path, version: '0.0.0', modelFolder: join(scratch, 'nowhere') })
    const answer = await firstOf(without, 'lamp')
    expect(answer).toMatchObject({ url: '/b', engines: ['words'] })
    expect(answer.notices.join()).toContain('not installed')
    await expect(embedLibrary(without).next()).rejects.toMatchObject({ code: 'EMBEDDER_MISSING' })
    await without.close()
  })

  describe('on the command line', () => {
    const path = join(scratch, 'cli.db')
    const args = ['--library', path, '--model-folder', modelFolder]
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
      // Enough that a run can be interrupted.
      const long = Array.from({ length: 100 }, (_, i) => `Chunk ${i}. ${'The lamp is lit at dusk. '.repeat(8)}`)
      await writePage(library.store, 'docs', '/long', long.join('\n---\n'))
      await library.close()
    })

    test('embed run is interrupted without loss, and goes on where it was', async () => {
      const stop = new AbortController()
      const running = runAside(['embed', 'run', ...args], stop.signal)
      const counter = await openLibrary({ path, version: '0.0.0' })
      const count = async () => (await counter.vectors?.count())?.embedded ?? 0
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
      expect(before).toBeLessThan(103)
      await counter.close()

      const { stdout, status } = await pharos('embed', 'run', 'docs', '--json', ...args)
      expect(status).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ made: 103 - before, embedded: 103, chunks: 103 })
      expect((await pharos('embed', 'run', ...args)).stdout).toContain(
        'nothing to embed: 103 of 103 chunks have a vector',
      )
    })

    test('embed status tells the model, the vectors, and how far each source is', async () => {
      expect(JSON.parse((await pharos('embed', 'status', '--json', ...args)).stdout)).toMatchObject({
        model: { name: 'all-MiniLM-L6-v2', dimensions: 384, problem: null },
        is_comparable: true,
        sources: [{ name: 'docs', embedded: 103, chunks: 103 }],
      })
      const nowhere = await pharos('embed', 'status', '--library', path, '--model-folder', join(scratch, 'none'))
      expect(nowhere).toMatchObject({ status: 0, stdout: expect.stringContaining('none is installed') })
    })

    test('embed install says that it is there, and where npm is missing or unreachable', async () => {
      expect(JSON.parse((await pharos('embed', 'install', '--json', ...args)).stdout)).toMatchObject({
        model_state: 'present',
        runtime_state: 'present',
      })
      const elsewhere = ['embed', 'install', '--model-folder', join(scratch, 'fresh')]
      vi.stubEnv('PATH', scratch)
      const noNpm = await pharos(...elsewhere)
      expect(noNpm).toMatchObject({ status: 3, stdout: '', stderr: expect.stringContaining('npm is not there') })
      vi.unstubAllEnvs()
      vi.stubEnv('npm_config_registry', 'http://127.0.0.1:1/')
      vi.stubEnv('npm_config_fetch_retries', '0')
      vi.stubEnv('npm_config_cache', join(scratch, 'npm-cache'))
      const noNetwork = await pharos(...elsewhere)
      expect(noNetwork).toMatchObject({ status: 3, stderr: expect.stringContaining('check the network') })
    })

    test('add --embed crawls and embeds, and does not begin where there is no model', async () => {
      const page = '<title>Tower</title><main><h1>Tower</h1><p>The keeper lights the lamp every evening.</p></main>'
      const site = await openSite({ '/': page })
      try {
        const place = ['--library', join(scratch, 'added.db'), '--allow-private']
        const add = (folder: string) => {
          vi.stubEnv('PHAROS_MODEL_FOLDER', folder)
          return pharos('add', `${site.origin}/`, '--name', 'tower', '--embed', '--json', ...place)
        }
        const refused = await add(join(scratch, 'none'))
        expect(refused).toMatchObject({ status: 3, stderr: expect.stringContaining('EMBEDDER_MISSING') })
        expect(site.requests).toEqual([])
        const added = await add(modelFolder)
        expect(added).toMatchObject({ status: 0, stderr: '' })
        const { stdout } = await pharos(
          'embed',
          'status',
          '--json',
          '--model-folder',
          modelFolder,
          ...place.slice(0, 2),
        )
        expect(JSON.parse(stdout).sources).toMatchObject([{ name: 'tower', embedded: 1, chunks: 1 }])
      } finally {
        await site.close()
      }
    })

    test.each([
      [['embed'], "missing required argument 'what'"],
      [['embed', 'destroy'], 'destroy'],
      [['embed', 'install', 'docs'], 'takes no source'],
      [['embed', 'status', '--replace'], 'takes no --replace'],
      [['embed', 'run', '--from', 'x'], 'takes no --from'],
      [['embed', 'run', 'nobody', ...args], 'no source nobody'],
    ])('%j is refused', async (words, problem) => {
      const { stderr, status } = await pharos(...words)
      expect(stderr).toContain(problem)
      expect([2, 3]).toContain(status)
    })
  })
})
