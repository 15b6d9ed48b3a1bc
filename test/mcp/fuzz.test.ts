import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openTestSite } from '../sites/crawl.ts'
import { page } from '../sites/site.ts'
import { type Connection, connect, until } from './connect.ts'

const RUNS = process.env['TEST_LONG'] === undefined ? 15 : 400

/** The part of a tool's schema that is used here. */
interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

/** Texts that are likely to be misinterpreted. */
const TEXTS = [
  '',
  ' ',
  'docs',
  'docs@1.0',
  '1.0',
  'two',
  'docs@',
  '@',
  '*',
  '/',
  '../../etc/passwd',
  '/etc/passwd',
  'file:///etc/passwd',
  'http://127.0.0.1:1/',
  'http://[::1]:1/',
  'http://docs.invalid/',
  'docs://sources',
  '123e4567-e89b-42d3-a456-426614174000',
  'a'.repeat(64),
  `docs/${'0'.repeat(64)}`,
  "'; DROP TABLE sources; --",
  '"NEAR(a b)" AND *',
  '(((((',
  '[z-a]',
  '**/*'.repeat(50),
  '\u0000',
  '\ud800',
  '\u202e\u200b',
  '1.x || >=2 <3',
  '__proto__',
  'constructor',
  'x'.repeat(5000),
]

/** Any value. */
const GARBAGE = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(0, -1, 1, 0.5, 1e21, -0, Number.MAX_SAFE_INTEGER, true, false, null),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Values that satisfy a schema, as a client would generate them. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valuesOf))
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'grapheme', maxLength: 40 }))
    case 'number':
      return fc.oneof(fc.integer({ min: -5, max: 100 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}), { maxLength: 4 })
    default:
      return GARBAGE
  }
}

/** Arguments for a tool: most values satisfy the schema, and sometimes all names are unknown. */
function argumentsOf({ properties = {} }: Schema): fc.Arbitrary<Record<string, unknown>> {
  const entries = Object.entries(properties).map(([name, schema]) => {
    return [name, fc.oneof({ weight: 4, arbitrary: valuesOf(schema) }, { weight: 1, arbitrary: GARBAGE })] as const
  })
  return fc.oneof(
    { weight: 5, arbitrary: fc.record(Object.fromEntries(entries), { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.dictionary(fc.string({ maxLength: 8 }), GARBAGE, { maxKeys: 4 }) },
  )
}

/** The data of all sources as text. A refused call must not change it. */
async function dump({ library }: Connection): Promise<string> {
  const { store } = await library()
  const sources = await store.listSources()
  const rows = await Promise.all(
    sources.map(async (source) => ({
      source,
      content: await store.countContent(source.id),
      crawls: (await store.listCrawls(source.id, 100)).map(({ id, state }) => ({ id, state })),
    })),
  )
  return JSON.stringify(rows)
}

test('no input crashes a tool, causes an error outside of its answer, or leaves a partial write', {
  timeout: 300_000,
}, async () => {
  const site = await openTestSite({ '/': page('Start', ['/a']), '/a': page('Kiln'), '/two/': page('Two') })
  const connection = await connect({
    exportPack: async () => ({ path: '/nowhere', bytes: 0, files: 0, chunks: 0, tokens: 0 }),
  })
  const { client, call, callForText } = connection
  await call('add_source', { url: `${site.origin}/`, name: 'docs', version: '1.0' })
  // A second source, whose name the first must not take.
  await call('add_source', { url: `${site.origin}/two/`, name: 'two', version: '1.0' })
  for (const source of ['docs', 'two']) {
    await until(
      () => callForText('crawl_status', { source }),
      (text) => text.includes('INDEXED'),
    )
  }
  const { tools } = await client.listTools()
  let refusedCount = 0
  for (const { name, inputSchema } of tools) {
    // Tools that write also get input that must fail; the comparison below checks that a refused call changed nothing.
    await fc.assert(
      fc.asyncProperty(argumentsOf(inputSchema as Schema), async (args) => {
        const before = await dump(connection)
        // A protocol error would throw here; only a malformed message may cause one.
        const answer = await client.callTool({ name, arguments: args })
        expect(answer.content.length).toBeGreaterThan(0)
        if (answer.isError !== true) {
          expect(answer.structuredContent).toBeDefined()
          await settle(connection)
          return
        }
        refusedCount++
        const [block] = answer.content
        const text = block?.type === 'text' ? block.text : ''
        expect(text).toMatch(/^Error \([A-Z_]+\): ./)
        expect(text).not.toMatch(/^Error \(INTERNAL\)/)
        expect(await dump(connection)).toBe(before)
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: 15_000, markInterruptAsFailure: false },
    )
  }
  expect(refusedCount).toBeGreaterThan(tools.length)
  expect(await callForText('index_statistics')).toMatch(/^Sources: \d/)
})

/** Cancels running crawls and waits until they end, so that they change nothing between the two dumps of the next call. */
async function settle({ call, library }: Connection): Promise<void> {
  const { store } = await library()
  for (const { id } of await store.listSources()) {
    const [last] = await store.listCrawls(id, 1)
    if (last?.state === 'running') await call('cancel_crawl', { crawlId: last.id })
    await until(
      () => store.listCrawls(id, 1),
      ([crawl]) => crawl?.state !== 'running',
    )
  }
}
