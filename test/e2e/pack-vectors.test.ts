import * as fs from 'node:fs'
import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOrdinaryWords } from '../../src/embed/ordinary-words.ts'
import { readPack } from '../../src/ingest/pack-input.ts'
import { createPackMcp } from '../../src/mcp/packs/pack-server.ts'
import { BUILT_IN_FOLDER } from '../embed/built-in-model.ts'
import { textOf } from '../mcp/connect.ts'
import { PROGRAM, ProgramSandbox } from './program.ts'

/* Tests packs with vectors, written by the command line and searched by agents. */

const sandbox = new ProgramSandbox()

/** None of the files contains a word of this question. */
const QUESTION = 'automobile repair garage'

interface Answer {
  readonly relevance: string
  readonly uncovered: readonly string[]
  readonly notices?: readonly string[]
  readonly hits: readonly { readonly path: string; readonly meaning?: { readonly similarity: number } }[]
}

beforeAll(async () => {
  if (!fs.existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing; run \`npm run build\``)
  sandbox.write({
    'docs/cars.md': '# Workshop\n\nMechanics fix broken engines and brakes of cars here.\n',
    'docs/bread.md': '# Bakery\n\nKnead the dough, let it rise and bake the loaf.\n',
    'docs/sea.md': '# Lighthouse\n\nA lamp shows ships where the rocks are.\n',
  })
  for (const line of [
    'pack docs --out plain',
    'pack docs --out embedded --vectors',
    'pack docs --out again.zip --vectors',
  ]) {
    expect(await sandbox.runInProcess(line.split(' '))).toMatchObject({ code: 0 })
  }
})

afterAll(() => sandbox.remove())

async function search(pack: string, ...flags: string[]) {
  return ask(QUESTION, pack, ...flags)
}

async function ask(query: string, pack: string, ...flags: string[]) {
  const { stdout, stderr } = await sandbox.runInProcess(['search', query, '--pack', pack, '--json', ...flags])
  return { ...(JSON.parse(stdout) as Answer), stderr }
}

test('--vectors adds one file and changes no other file', () => {
  const names = fs.readdirSync(sandbox.path('embedded'), { recursive: true, encoding: 'utf8' }).sort()
  expect(names.filter((name) => !fs.existsSync(sandbox.path(`plain/${name}`)))).toEqual(['vectors.bin'])
  const files = names.filter((name) => fs.statSync(sandbox.path(`embedded/${name}`)).isFile())
  for (const name of files.filter((one) => one !== 'vectors.bin')) {
    expect(fs.readFileSync(sandbox.path(`embedded/${name}`))).toEqual(fs.readFileSync(sandbox.path(`plain/${name}`)))
  }
  const written = readPack(sandbox.path('again.zip')).vectors?.write()
  expect(Buffer.from(written ?? [])).toEqual(fs.readFileSync(sandbox.path('embedded/vectors.bin')))
})

test('a pack with vectors is searched by meaning, and a pack without vectors only by words', async () => {
  expect(await search('plain')).toMatchObject({ hits: [] })
  const found = await search('again.zip', '--explain')
  expect(found.stderr).toBe('')
  expect(found.hits[0]).toMatchObject({ path: 'cars.md', byMeaning: true })
  const { stdout } = await sandbox.runInProcess(['search', QUESTION, '--pack', 'again.zip'])
  expect(stdout).toMatch(/^c0002 {2}cars\.md:1-3 {2}\S+ {2}by meaning alone\n/)
  expect((await ask('broken engines', 'again.zip')).hits[0]).not.toHaveProperty('byMeaning')
  expect(found.hits[0]?.meaning?.similarity).toBeGreaterThan(0.3)
})

test('vectors of another model are ignored with a notice, and only words are searched', async () => {
  fs.cpSync(sandbox.path('embedded'), sandbox.path('other'), { recursive: true })
  const bytes = fs.readFileSync(sandbox.path('other/vectors.bin')).toString('latin1')
  const changed = bytes.replace(/"fingerprint":"[0-9a-f]{64}"/, `"fingerprint":"${'0'.repeat(64)}"`)
  fs.writeFileSync(sandbox.path('other/vectors.bin'), Buffer.from(changed, 'latin1'))
  const found = await search('other')
  expect(found.hits).toEqual([])
  expect(found.notices).toEqual([
    expect.stringContaining('vectors of another model (pharos-embed-1) than the built-in one'),
  ])
  const { stderr } = await sandbox.runInProcess(['search', QUESTION, '--pack', 'other'])
  expect(stderr).toContain('answered by words alone')
})

test('a search says how well its hits fit the question', async () => {
  expect(await search('plain')).toMatchObject({ relevance: 'none', uncovered: ['automobile', 'repair', 'garage'] })
  expect(await ask('zyxomat', 'again.zip')).toMatchObject({ uncovered: ['zyxomat'] })
  expect(await ask('broken engines', 'plain')).toMatchObject({ relevance: 'strong', uncovered: [] })
  expect(await ask('broken engines of the zyxomat', 'plain')).toMatchObject({
    relevance: 'weak',
    uncovered: ['zyxomat'],
  })
  const { stdout } = await sandbox.runInProcess(['search', 'broken engines of the zyxomat', '--pack', 'plain'])
  expect(stdout).toMatch(/^Weak match: nothing found mentions "zyxomat"\.\n\n/)
})

test('a search uses words alone for a question in a language that the model does not know', async () => {
  const found = await ask('Wie werden die cars und engines repariert?', 'embedded')
  expect(found.notices).toEqual(['the model is made for another language (en); answered by words alone'])
  expect(found.hits.map(({ path }) => path)).toEqual(['cars.md'])
})

test('an agent searches a pack by words and meaning, and reads its chunks', async () => {
  const { openBuiltInEmbedder } = await import('../../src/embed/built-in-embedder.ts')
  const embedder = openBuiltInEmbedder({ folder: BUILT_IN_FOLDER, threads: 1 })
  const pack = readPack(sandbox.path('again.zip'))
  const mcp = createPackMcp({
    version: '0.0.0',
    packs: [{ name: 'again', pack }],
    readOrdinaryWords: createOrdinaryWords(),
    embedQuestion: async (query) => (await embedder.embed([query], undefined, 'query'))[0] ?? new Float32Array(),
    close: () => embedder.close(),
  })
  const client = new Client({ name: 'test', version: '0.0.0' })
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  await (await mcp.createServer()).connect(serverSide)
  await client.connect(clientSide)
  try {
    // A client that knows the output schemas validates every answer.
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'search_docs',
      'list_sources',
      'read_page',
      'get_chunk',
      'list_outline',
      'list_symbols',
    ])
    const found = await client.callTool({ name: 'search_docs', arguments: { query: QUESTION } })
    expect(found.structuredContent).toEqual({
      query: QUESTION,
      relevance: 'strong',
      uncovered: ['automobile', 'repair', 'garage'],
      engines: ['words', 'vectors'],
      notices: [],
      passages: [
        {
          ref: 'c0002',
          source: 'again',
          path: 'cars.md',
          startLine: 1,
          endLine: 3,
          headingPath: ['Workshop'],
          score: expect.any(Number),
          byMeaning: true,
        },
      ],
    })
    expect(textOf(found, 1)).toMatch(
      /^@[0-9a-f]{3,} \[1\] "Workshop" — cars\.md \(chunk c0002, lines 1-3\) — by meaning alone$/,
    )
    const weak = await client.callTool({ name: 'search_docs', arguments: { query: 'zyxomat of broken engines' } })
    expect(weak.structuredContent).toMatchObject({ relevance: 'weak', uncovered: ['zyxomat'] })
    expect(textOf(weak)).toContain('Weak match: nothing found mentions "zyxomat". Try other words.')
    const chunk = await client.callTool({ name: 'get_chunk', arguments: { chunk: 'c0002' } })
    expect(textOf(chunk, 1)).toContain('Mechanics fix broken engines')
    const none = await client.callTool({ name: 'get_chunk', arguments: { chunk: 'c9999' } })
    expect([none.isError, textOf(none)]).toEqual([true, expect.stringContaining('Error (CHUNK_NOT_FOUND)')])
    expect(await client.callTool({ name: 'search_docs', arguments: { query: ' ' } })).toMatchObject({ isError: true })
  } finally {
    await client.close()
    await mcp.close()
  }
})

test('library flags are refused for a server of a pack', async () => {
  const { code, stderr } = await sandbox.runInProcess(['mcp', '--pack', 'again.zip', '--tools', 'ask'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('--tools is for the library, not for a pack')])
})
