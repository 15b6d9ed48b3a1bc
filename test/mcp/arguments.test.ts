import { beforeAll, describe, expect, test } from 'vitest'
import { type Connection, connect, openConnection } from './connect.ts'

/** All tools, in the order of `tools/list`. */
const ALL_TOOLS = [
  'search_docs',
  'list_sources',
  'add_source',
  'remove_source',
  'crawl_status',
  'recrawl_source',
  'refresh_source',
  'cancel_crawl',
  'index_statistics',
  'find_version',
  'what_changed',
  'fetch_url',
  'read_page',
  'get_chunk',
  'list_outline',
  'list_symbols',
  'export_pack',
]
/** Tools that write or fetch. Read-only mode leaves them out. */
const WRITING_TOOLS = [
  'add_source',
  'remove_source',
  'recrawl_source',
  'refresh_source',
  'cancel_crawl',
  'fetch_url',
  'export_pack',
]

const exportPack = () => Promise.reject(new Error('nothing is written here'))

/** A connection for calls that change nothing. */
let shared: Connection

beforeAll(async () => {
  const { connection, close } = await openConnection({ exportPack })
  shared = connection
  return close
})

test('the server has exactly the tools of the contract, each described and annotated', async () => {
  const { client, openCount } = await connect({ exportPack })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(ALL_TOOLS)
  for (const { name, description = '', annotations, inputSchema, outputSchema } of tools) {
    expect(description, name).toMatch(/^[A-Z].{80,}\.$/)
    expect(outputSchema?.['type'], name).toBe('object')
    for (const [parameter, schema] of Object.entries(inputSchema.properties ?? {})) {
      const { description: purpose } = schema as { description?: string }
      if (purpose !== undefined || inputSchema.required?.includes(parameter)) {
        expect(purpose, `${name} ${parameter}`).toMatch(/\.$/)
      }
    }
    // Omitted hints have the defaults of the protocol.
    const isReadOnly = annotations?.readOnlyHint ?? false
    const hints = {
      readOnlyHint: isReadOnly,
      destructiveHint: annotations?.destructiveHint ?? !isReadOnly,
      openWorldHint: annotations?.openWorldHint ?? true,
    }
    expect(hints, name).toEqual({
      readOnlyHint: !WRITING_TOOLS.includes(name) || name === 'fetch_url',
      destructiveHint: ['remove_source', 'recrawl_source', 'refresh_source'].includes(name),
      openWorldHint: ['add_source', 'recrawl_source', 'refresh_source', 'fetch_url'].includes(name),
    })
  }
  await client.listResources()
  expect(openCount()).toBe(0)
})

test('read-only mode has no tool that writes or fetches', async () => {
  const { client, call, callForText } = await connect({ isReadOnly: true })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(ALL_TOOLS.filter((name) => !WRITING_TOOLS.includes(name)))
  await expect(call('add_source', { url: 'https://docs.invalid/' })).rejects.toThrow('Tool add_source disabled')
  const instructions = client.getInstructions() ?? ''
  expect(instructions).toContain('read-only')
  const texts = [
    instructions,
    await callForText('read_page', { url: 'https://docs.invalid/' }),
    await callForText('list_sources'),
  ]
  const described = JSON.stringify(tools)
  for (const name of WRITING_TOOLS) expect([...texts, described].join('\n'), name).not.toContain(name)
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(resourceTemplates.map(({ name }) => name)).not.toContain('pack')
})

/** Tool, parameters that are synonyms, and its other required arguments. */
const ALIASES: readonly (readonly [string, readonly string[], Record<string, unknown>])[] = [
  ['search_docs', ['source', 'library'], { query: 'kiln' }],
  ['search_docs', ['maxResults', 'limit'], { query: 'kiln' }],
  ['search_docs', ['heading', 'sectionPath'], { query: 'kiln' }],
  ['add_source', ['name', 'library'], { url: 'https://docs.invalid/' }],
  ['remove_source', ['source', 'library', 'sourceId'], {}],
  ['crawl_status', ['source', 'library', 'sourceId'], {}],
  ['crawl_status', ['crawlId', 'jobId'], {}],
  ['recrawl_source', ['source', 'library', 'sourceId'], {}],
  ['refresh_source', ['source', 'library', 'sourceId'], {}],
  ['cancel_crawl', ['crawlId', 'jobId'], {}],
  ['cancel_crawl', ['source', 'library', 'sourceId'], {}],
  ['find_version', ['library', 'source', 'name'], {}],
  ['find_version', ['targetVersion', 'target', 'version'], { library: 'guide' }],
  ['what_changed', ['source', 'library', 'name'], {}],
  ['read_page', ['source', 'library'], { url: 'https://docs.invalid/' }],
  ['get_chunk', ['chunk', 'chunkId', 'id'], {}],
  ['list_outline', ['source', 'library'], { url: 'https://docs.invalid/' }],
  ['list_symbols', ['source', 'library'], {}],
  ['list_symbols', ['limit', 'maxResults'], {}],
  ['export_pack', ['source', 'library', 'sourceId'], {}],
]

describe('parameters with several names', () => {
  test.each(ALIASES)('%s treats %s as synonyms', async (tool, names, others) => {
    const { call, callForText } = shared
    const isNumber = names.includes('limit')
    const value = (n: number) => (isNumber ? n : `${tool === 'add_source' ? '@' : ''}${'a'.repeat(11 + n)}`)
    const answers = []
    for (const name of names) answers.push(await call(tool, { ...others, [name]: value(1) }))
    const texts = answers.map(({ content, isError }) =>
      JSON.stringify({ content, isError }).replace(/invalid source ID format.*?"/, ''),
    )
    // All synonyms give the same answer, except `sourceId`, which accepts only a UUID.
    if (!names.includes('sourceId')) expect(new Set(texts).size).toBe(1)
    expect(
      (await call(tool, { ...others, ...Object.fromEntries(names.map((name) => [name, value(1)])) })).content,
    ).toEqual(answers[names.includes('sourceId') ? names.indexOf('sourceId') : 0]?.content)
    const [first = '', second = ''] = names
    expect(await callForText(tool, { ...others, [first]: value(1), [second]: value(2) })).toBe(
      `Error (USAGE): ${first} and ${second} are the same parameter, but their values are ${JSON.stringify(value(1))} and ${JSON.stringify(value(2))}: give only one – correct the arguments; the schema of the tool lists them`,
    )
  })
})

/** Tool, arguments, and the expected error. */
const REFUSED: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  ['search_docs', { query: '  ' }, /query is empty/],
  ['search_docs', {}, /\(USAGE\): query is missing – /],
  ['search_docs', { query: 'a '.repeat(10_001) }, /expected a question of at most 20000 characters, got 20001/],
  ['search_docs', { query: 'kiln', minScore: 2 }, /minScore: Too big/],
  ['search_docs', { query: 'kiln', contentType: 'TEXT' }, /contentType: .*"prose"\|"code"/],
  ['search_docs', { query: 'kiln', max_results: 3 }, /there is no "max_results", did you mean maxResults\? – /],
  ['search_docs', { query: 'kiln', limit: 'ten' }, /limit: .*expected number/],
  ['search_docs', { query: 'kiln', source: 'nowhere' }, /no source nowhere/],
  ['search_docs', { query: 'kiln', cursor: 'x' }, /cursor/],
  ['add_source', { url: '/etc' }, /URL_INVALID.*on its own machine, with `pharos add <path>`.*begins with http/],
  ['add_source', { url: 'file:///etc/' }, /URL_INVALID.*on its own machine, with `pharos add <path>`/],
  ['add_source', { url: 'maven:junit' }, /URL_INVALID.*expected maven:group:artifact,/],
  ['add_source', { url: 'https://user:secret@docs.invalid/' }, /URL_INVALID.*contains a user name/],
  ['add_source', { url: 'https://docs.invalid/', name: 'a@b' }, /contains @/],
  ['add_source', { url: 'https://docs.invalid/', maxPages: 0 }, /maxPages: expected a whole number from 1 up, got 0/],
  ['add_source', { url: 'https://docs.invalid/', maxDepth: 1.5 }, /maxDepth: expected a whole number from 0 up/],
  ['add_source', { url: 'https://docs.invalid/', allowPatterns: ['/a', 3] }, /allowPatterns/],
  [
    'add_source',
    { url: 'https://docs.invalid/', blockPatterns: 'https://docs.invalid/a' },
    /pattern .*only paths are matched/,
  ],
  ['add_source', { url: 'https://docs.invalid/', llmsTxtUrl: 'ftp://docs.invalid/llms.txt' }, /URL_INVALID/],
  ['add_source', { url: 'https://docs.invalid/', render: 'firefox' }, /render/],
  ['add_source', { url: 'https://docs.invalid/', chunks: 'words' }, /chunks/],
  ['add_source', { url: 'https://docs.invalid/', followRedirects: false }, /always follows redirects/],
  ['add_source', { url: 'https://docs.invalid/', preserveHashes: true }, /preserveHashes: .*a place in a page/],
  ['add_source', { url: 'https://docs.invalid/', version: ' ' }, /the version " " is empty/],
  ['add_source', { url: 'https://docs.invalid/', version: '1@2' }, /the version "1@2" contains @/],
  [
    'add_source',
    { url: 'https://docs.invalid/', version: '1\nx' },
    /the version "1\\nx" contains an invisible character/,
  ],
  ['add_source', { url: 'https://docs.invalid/', name: 'a\u202eb' }, /the name .* contains an invisible character/],
  ['remove_source', {}, /source or library or sourceId is missing/],
  ['remove_source', { sourceId: 'not-an-id' }, /invalid source ID format: expected a UUID/],
  ['crawl_status', { crawlId: '12' }, /invalid crawl ID format: expected a UUID such as \S+, got "12"/],
  ['crawl_status', { jobId: '123e4567-e89b-42d3-a456-426614174000' }, /CRAWL_UNKNOWN/],
  ['crawl_status', { version: '2.0' }, /version alone names no source/],
  ['crawl_status', { status: 'gone' }, /status: .*"running"/],
  ['cancel_crawl', {}, /crawlId or source is missing/],
  ['recrawl_source', { source: 'guide', name: '' }, /no source guide/],
  ['find_version', {}, /library or source or name is missing/],
  ['fetch_url', { url: 'not an address' }, /URL_INVALID.*begins with http/],
  ['fetch_url', { url: 'http://10.0.0.1/' }, /FETCH_FAILED.*only the owner of this server can allow private addresses/],
  ['read_page', { url: 'https://docs.invalid/' }, /PAGE_UNKNOWN/],
  ['get_chunk', { chunk: 'abc' }, /invalid chunk ID format: expected <source>\/<id>/],
  ['get_chunk', { chunk: 'abcdefabcdef' }, /CHUNK_UNKNOWN/],
]

describe('invalid arguments are answered with a text that begins with Error', () => {
  test.each(REFUSED)('%s refuses %.80j', async (tool, args, message) => {
    const { call, library } = shared
    const answer = await call(tool, args)
    const [block] = answer.content
    expect(answer.isError).toBe(true)
    expect(block).toMatchObject({ type: 'text', text: expect.stringMatching(/^Error \([A-Z_]+\): /) })
    expect(block?.type === 'text' ? block.text : '').toMatch(message)
    expect(await (await library()).store.listSources()).toEqual([])
  })
})

test('a blank filter of a search counts as not given', async () => {
  const { call } = await connect()
  const blank = { source: '', version: ' ', path: '', heading: '', symbol: '', language: '', cursor: '' }
  expect(await call('search_docs', { query: 'kiln', ...blank })).toEqual(await call('search_docs', { query: 'kiln' }))
})

test('an unknown source is answered with the nearest name, and null counts as not given', async () => {
  const { call, callForText, library } = await connect()
  const { addSource } = await import('../../src/library/crawl/add-source.ts')
  await addSource(await library(), { url: 'https://docs.invalid/', name: 'guide' })
  expect(await callForText('search_docs', { query: 'kiln', source: 'giude' })).toMatch(
    /no source giude .*did you mean guide\?.*list_sources/,
  )
  expect(await callForText('remove_source', { sourceId: 'giude' })).toMatch(
    /invalid source ID format.*did you mean guide\?/,
  )
  const answer = await call('search_docs', { query: 'kiln', source: null, limit: null })
  expect(answer.isError).toBeUndefined()
})

test('numbers below the range are refused, and larger ones count as the maximum', async () => {
  const { call, callForText } = await connect()
  const calls: [string, string, Record<string, unknown>?][] = [
    ['search_docs', 'maxResults', { query: 'kiln' }],
    ['search_docs', 'tokens', { query: 'kiln' }],
    ['list_symbols', 'limit'],
    ['crawl_status', 'limit'],
    ['what_changed', 'limit', { source: 'guide' }],
    ['add_source', 'maxPages', { url: 'https://docs.invalid/' }],
  ]
  for (const [tool, name, args] of calls) {
    for (const value of [-5, 0, 0.4]) {
      expect(await callForText(tool, { ...args, [name]: value })).toMatch(
        new RegExp(`^Error \\(USAGE\\): ${name}: expected a whole number from \\d+ up, got ${value} –`),
      )
    }
  }
  expect(await callForText('search_docs', { query: 'kiln', tokens: 99 })).toContain('from 100 up, got 99')
  for (const limit of [51, 1e9]) {
    expect((await call('search_docs', { query: 'kiln', maxResults: limit, tokens: 1e9 })).isError).toBeUndefined()
    expect((await call('list_symbols', { limit })).isError).toBeUndefined()
    expect((await call('crawl_status', { limit })).isError).toBeUndefined()
  }
})

test('a source with a comma in its name can be searched, and commas still separate names', async () => {
  const { call, callForText, library } = await connect()
  const { addSource } = await import('../../src/library/crawl/add-source.ts')
  const opened = await library()
  await addSource(opened, { url: 'https://docs.invalid/1/', name: 'pots, pans', version: '1.0' })
  await addSource(opened, { url: 'https://docs.invalid/2/', name: 'guide' })
  for (const source of ['pots, pans', 'pots, pans@1.0', 'pots, pans@1.x', ['pots, pans', 'guide'], 'guide,guide']) {
    expect((await call('search_docs', { query: 'kiln', source })).isError, String(source)).toBeUndefined()
  }
  expect(await callForText('search_docs', { query: 'kiln', source: 'guide,pots' })).toMatch(/no source pots /)
})

test('an unknown source is answered with several near names', async () => {
  const { callForText, library } = await connect()
  const { addSource } = await import('../../src/library/crawl/add-source.ts')
  const names = ['guide', 'guid', 'guides', 'python3.11-doc', 'kiln']
  for (const name of names) await addSource(await library(), { url: `https://docs.invalid/${name}/`, name })
  expect(await callForText('search_docs', { query: 'kiln', source: 'guids' })).toMatch(
    /did you mean guide, guid or guides\?/,
  )
  expect(await callForText('search_docs', { query: 'kiln', source: 'python' })).toMatch(
    /did you mean python3\.11-doc\?/,
  )
})

test('add_source accepts preserveHashes false and followRedirects true, which change nothing', async () => {
  const { call } = await connect()
  const args = { url: 'http://127.0.0.1:1/', name: 'docs', preserveHashes: false, followRedirects: true }
  expect((await call('add_source', args)).isError).toBeUndefined()
})

test('an empty version counts as not given, so that a tool never picks another version of the source', async () => {
  const { callForText, library } = await connect()
  const { addSource } = await import('../../src/library/crawl/add-source.ts')
  await addSource(await library(), { url: 'https://docs.invalid/', name: 'lib' })
  await addSource(await library(), { url: 'https://docs.invalid/2/', name: 'lib', version: '2.1.0' })
  expect(await callForText('remove_source', { source: 'lib', version: '' })).toMatch(/^Removed lib:/)
  const remaining = await (await library()).store.listSources()
  expect(remaining.map(({ version }) => version)).toEqual(['2.1.0'])
})
