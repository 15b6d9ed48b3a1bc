import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeLater } from '../close-later.ts'
import { textOf } from '../mcp/connect.ts'
import { PROGRAM, ProgramSandbox } from './program.ts'

/* Tests `pharos mcp --pack` as an agent starts it: over stdio, without a library. */

const sandbox = new ProgramSandbox()

const SHARED = '# Licence\n\nBoth towers share this text word for word.\n'

beforeAll(async () => {
  sandbox.write({
    'north/guide.md':
      '# North\n\n## Lamp oil\n\nThe northern lamp burns whale oil.\n\n## Keeper\n\nThe keeper is Ada.\n',
    'north/licence.md': SHARED,
    'south/guide.md': '# South\n\n## Lamp oil\n\nThe southern lamp burns olive oil, and its keeper is Brun.\n',
    'south/lamp.py': 'def ignite(oil):\n    """Lights the lamp."""\n    return oil > 0\n',
    'south/licence.md': SHARED,
    'broken.zip': 'this is no archive',
  })
  // A large pack, whose many mentions of oil must not push out those of a small one.
  const many = Array.from({ length: 60 }, (_, i) => [
    `west/p${i}.md`,
    `# Page ${i}\n\nThe western tower ${i} stores barrels of oil in its cellar.\n`,
  ])
  sandbox.write(Object.fromEntries(many) as Record<string, string>)
  for (const name of ['north', 'south', 'west']) {
    expect(await sandbox.runInProcess(['pack', name, '--full', '--out', `${name}.zip`])).toMatchObject({ code: 0 })
  }
  expect(await sandbox.runInProcess(['pack', 'south', '--full', '--out', 'other/north'])).toMatchObject({ code: 0 })
})

afterAll(() => sandbox.remove())

async function connect(...packs: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '0.0.0' })
  closeLater(() => client.close())
  const args = [PROGRAM, 'mcp', ...packs.flatMap((pack) => ['--pack', sandbox.path(pack)])]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: sandbox.environment }))
  return client
}

interface Found {
  readonly relevance: string
  readonly passages: readonly { readonly source: string; readonly path: string; readonly ref: string }[]
}

test('an agent searches and reads several packs, each as a source of its own', async () => {
  const client = await connect('north.zip', 'south.zip', 'west.zip')
  const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })
  const find = async (args: Record<string, unknown>) =>
    (await call('search_docs', args)).structuredContent as unknown as Found

  expect(client.getInstructions()).toContain('"north", "south", "west"')
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    ...['search_docs', 'list_sources', 'read_page', 'get_chunk', 'list_outline', 'list_symbols'],
  ])
  expect((await call('list_sources')).structuredContent).toEqual({
    sources: [
      { name: 'north', files: 2, chunks: expect.any(Number) },
      { name: 'south', files: 3, chunks: expect.any(Number) },
      { name: 'west', files: 60, chunks: expect.any(Number) },
    ],
  })

  // All packs are ranked together: the small ones first, because only they have both words.
  const both = await find({ query: 'which lamp oil burns' })
  expect(both.relevance).toBe('strong')
  expect(new Set(both.passages.slice(0, 2).map(({ source }) => source))).toEqual(new Set(['north', 'south']))
  expect((await find({ query: 'oil', source: 'north' })).passages.map(({ source }) => source)).toEqual(['north'])
  const two = await find({ query: 'oil', source: 'north,south' })
  expect(new Set(two.passages.map(({ source }) => source))).toEqual(new Set(['north', 'south']))
  expect((await find({ query: 'oil', source: 'south', path: 'guide' })).passages).toMatchObject([
    { source: 'south', path: 'guide.md' },
  ])

  // The same text in two packs stays two chunks, whose refs differ.
  const shared = await find({ query: 'share this text word for word' })
  expect(
    shared.passages
      .slice(0, 2)
      .map(({ source, path }) => `${source} ${path}`)
      .sort(),
  ).toEqual(['north licence.md', 'south licence.md'])
  for (const { ref, source } of shared.passages.slice(0, 2)) {
    expect((await call('get_chunk', { chunk: ref })).structuredContent).toMatchObject({ source, path: 'licence.md' })
  }

  const page = await call('read_page', { url: 'guide.md', source: 'north', startLine: 5 })
  expect(textOf(page)).toContain('guide.md (north, lines 5-9)')
  expect(textOf(page, 1)).toBe('The northern lamp burns whale oil.\n\n## Keeper\n\nThe keeper is Ada.')
  expect(textOf(await call('read_page', { url: 'guide.md' }))).toContain('in several packs')
  expect(textOf(await call('read_page', { url: 'lamp.py' }), 1)).toContain('def ignite')
  expect(textOf(await call('read_page', { url: 'gide.md', source: 'north' }))).toMatch(/FILE_NOT_IN_PACK.*guide\.md/)
  expect((await call('list_outline', { url: 'guide.md', source: 'south' })).structuredContent).toMatchObject({
    sections: expect.arrayContaining([expect.objectContaining({ headingPath: ['South', 'Lamp oil'] })]),
  })
  expect((await call('list_symbols', { prefix: 'ign' })).structuredContent).toMatchObject({
    symbols: [{ name: 'ignite', source: 'south', path: 'lamp.py' }],
    hasMore: false,
  })
  expect(textOf(await call('search_docs', { query: 'oil', source: 'nort' }))).toMatch(/SOURCE_UNKNOWN.*north/)
  expect(textOf(await call('get_chunk', { chunk: 'c0001' }))).toContain('CHUNK_NOT_FOUND')
})

test('packs of the same name are numbered', async () => {
  const client = await connect('north.zip', 'other/north')
  const { structuredContent } = await client.callTool({ name: 'list_sources', arguments: {} })
  expect(structuredContent).toMatchObject({ sources: [{ name: 'north' }, { name: 'north-2' }] })
})

test('a broken or missing pack is named when the server starts', async () => {
  for (const [pack, code] of [
    ['broken.zip', 1],
    ['nothing.zip', 3],
  ] as const) {
    const outcome = await sandbox.runInProcess(['mcp', '--pack', 'north.zip', '--pack', pack])
    expect(outcome).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(pack) })
  }
})
