import { z } from 'zod'
import { PharosError, usageError } from '../../core/errors.ts'
import { PAGE_CLASSES } from '../../core/model.ts'
import { isoOf, isoOrNull } from '../../core/text/iso-time.ts'
import { hideCredentials } from '../../core/url/credentials.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import type { AddressConditions, AddressEntry, Addresses } from '../../library/ports/addresses.ts'
import {
  type AddressDescription,
  describeAddress,
  type UnknownAddress,
} from '../../library/sources/describe-address.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { LEDGER_STATES, REASONS } from '../../library/sources/ledger-words.ts'
import {
  countField,
  flagField,
  limitField,
  numberField,
  requiredTextField,
  shareOf,
  textField,
  timeField,
  timestamp,
  wordField,
} from '../fields.ts'
import { parseAddressCursor, writeAddressCursor } from '../records/address-cursor.ts'
import { addressHistoryRecord, bodyId, describeMissing, detailRecord, entryRecord } from '../records/address-records.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { withAddresses, withLibrary } from '../server/store-access.ts'
import { failures, hubShape, rowShape } from '../shapes.ts'

const GROUP = 'Addresses'
/** Counting stops here; a larger total is reported as this number. */
const MAX_COUNTED = 100_000
/** Maximum number of entries that are searched for a file of a tree: those whose addresses begin with its address. */
const MAX_ENTRIES = 20
/** Maximum size of the page text in a response. */
const MAX_BODY_BYTES = 512 * 1024

const listQuery = z.object({
  limit: limitField(200, 5000),
  cursor: textField('Cursor from an earlier answer.', 6000),
  dir: wordField(['next', 'prev'], 'Which way to go from the cursor.'),
  order: wordField(['newest', 'oldest'], 'Sort order.'),
  source: textField('Only addresses of the source with this id or name.', 300),
  host: textField('Only addresses of this host.', 255),
  includeSubdomains: flagField(false, 'Includes subdomains of the host.'),
  from: timeField('Only addresses last requested, or found, at or after this time.'),
  to: timeField('Only addresses last requested, or found, at or before this time.'),
  minWordCount: countField(0, 'Only pages with at least this many words.'),
  status: countField(0, 'Only addresses whose last answer had this status.'),
  state: wordField(LEDGER_STATES, 'Only addresses in this state.'),
  reason: wordField(REASONS, 'Only addresses that are in their state for this reason.'),
  inScope: flagField(false, 'Leaves out links that lead out of the scope of their source.'),
  q: textField('Part of the address.', 500),
  classification: wordField(PAGE_CLASSES, 'Only pages of this kind.'),
  combinedHint: wordField(PAGE_CLASSES, 'Same as classification.'),
  minCombinedConfidence: numberField(0, 100, 'Minimum confidence of the kind: 0 to 1, or in percent.'),
  minConfidence: numberField(0, 100, 'Same as minCombinedConfidence.'),
  details: flagField(false, 'Includes all details of each address.'),
})

const storyShape = z.looseObject({
  url: z.string(),
  asked: z.string(),
  story: z.array(z.object({ ts: z.string(), event: z.string(), text: z.string(), url: z.string().nullable() })),
  sources: z.array(
    z.looseObject({
      row: rowShape,
      target: rowShape.nullable(),
      aliases: z.array(
        z.looseObject({
          url: z.string(),
          classification: z.string(),
          exists: z.boolean().nullable(),
          kind: z.string().nullable(),
        }),
      ),
      classification: z.looseObject({ kind: z.enum(PAGE_CLASSES), confidence: z.number() }).nullable(),
      analysis: z.looseObject({ kind: z.string() }).nullable(),
      analysedAt: timestamp,
    }),
  ),
  items: z.array(rowShape),
  article: z.looseObject({ id: z.string(), title: z.string().nullable() }).nullable(),
  fetches: z.array(z.looseObject({})),
  classification: z.looseObject({ kind: z.enum(PAGE_CLASSES), confidence: z.number() }).nullable(),
  analysis: z.looseObject({ kind: z.string() }).nullable(),
  analysedAt: timestamp,
  hub: hubShape.nullable(),
  verdict: z.looseObject({ state: z.string(), pattern: z.string() }).nullable(),
  problems: z.array(z.looseObject({ kind: z.string() })),
})

const errorGroupShape = z.looseObject({ status: z.int().nullable(), host: z.string(), count: z.int() })
const hostShape = z.looseObject({ host: z.string(), addresses: z.int(), pages: z.int(), failed: z.int() })

/** The addresses of all sources together. */
export const addressRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/api/urls',
    group: GROUP,
    summary: 'Addresses of all sources, most recently requested first.',
    query: listQuery,
    answers: {
      200: {
        what: 'The addresses, and cursors to continue the list.',
        schema: z.object({
          total: z.int(),
          isTotalExact: z.boolean(),
          count: z.int(),
          items: z.array(rowShape),
          cursor: z.string().nullable(),
          prevCursor: z.string().nullable(),
        }),
      },
      ...failures(400, 404, 503),
    },
    async run({ query }, { ports }) {
      const empty = { total: 0, isTotalExact: true, count: 0, items: [], cursor: null, prevCursor: null }
      const start = query.cursor === undefined ? undefined : parseAddressCursor(query.cursor)
      const found = await withAddresses(
        ports,
        async (addresses, library) => {
          const source = query.source === undefined ? undefined : (await findSource(library, query.source)).id
          const filter = filterOf({ ...query, source })
          const total = await addresses.count(filter, MAX_COUNTED)
          const part = await readAddressPage(addresses, filter, { ...query, start })
          const write = query.details ? detailRecord : entryRecord
          return {
            total,
            isTotalExact: total < MAX_COUNTED,
            count: part.items.length,
            items: part.items.map(write),
            cursor: part.next,
            prevCursor: part.previous,
          }
        },
        () => empty,
      )
      return reply(found)
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/url-details',
    group: GROUP,
    summary: 'The history of one address in every source that knows it: discovery, state and content.',
    query: z.object({ url: requiredTextField('The address.', 4000) }),
    answers: {
      200: {
        what: 'The address with its page, its last responses, the analysis of its content, and the findings of plans and crawls.',
        schema: storyShape,
      },
      ...failures(400, 404, 503),
    },
    async run({ query }, { ports }) {
      const answer = await withAddresses(
        ports,
        async (addresses, library) => {
          const story = await describeAddress(library, query.url)
          return { found: await findEntries(addresses, story), story }
        },
        () => undefined,
      )
      const found = answer?.found ?? []
      const [first] = found
      if (answer === undefined || first === undefined) throw unknownAddress(query.url, answer?.story.unknown)
      const page = found.find(({ title }) => title !== null)
      return reply({
        url: first.url,
        asked: query.url,
        ...addressHistoryRecord(answer.story),
        items: found.map(detailRecord),
        article:
          page === undefined
            ? null
            : { id: bodyId(page), title: page.title, wordCount: page.wordCount, chunks: page.chunks },
        fetches: found.flatMap((entry) => (entry.checkedAt === null ? [] : [fetchRecord(entry)])),
      })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/fetch-body',
    group: GROUP,
    summary: 'The stored text of a page, up to 512 KB of it; GET /read.md?url=… gives all of it.',
    query: z.object({ id: requiredTextField('The id that url-details gives: <id of the source>/<key>.', 5000) }),
    answers: { 200: { what: 'Markdown, as text.', type: 'text/plain' }, ...failures(400, 404, 503) },
    async run({ query }, { ports }) {
      const slash = query.id.indexOf('/')
      if (slash < 1) throw usageError(`query id: expected <source>/<key>, got ${JSON.stringify(query.id)}`)
      const [source, key] = [query.id.slice(0, slash), query.id.slice(slash + 1)]
      const page = await withLibrary(ports, (library) => library.store.readPageText(source, key))
      if (page === undefined) throw unknownAddress(key)
      const bytes = new TextEncoder().encode(page.markdown)
      const isCut = bytes.length > MAX_BODY_BYTES
      return new Response(isCut ? cutText(bytes) : page.markdown, {
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          'cache-control': 'no-cache',
          etag: `"${page.changedAt.toString(36)}-${bytes.length.toString(36)}"`,
          'x-total-bytes': String(bytes.length),
          ...(isCut ? { 'x-truncated': '1' } : {}),
        },
      })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/recent-errors',
    group: GROUP,
    summary: 'The last failures, grouped by host, status and reason.',
    query: z.object({ rows: limitField(500, 5000) }),
    answers: {
      200: { what: 'The most frequent first.', schema: z.object({ rows: z.int(), items: z.array(errorGroupShape) }) },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const groups = await withAddresses(
        ports,
        (addresses) => addresses.groupErrors(query.rows),
        () => [],
      )
      return reply({
        rows: groups.reduce((sum, { count }) => sum + count, 0),
        items: groups.map(({ lastAt, examples, ...rest }) => ({
          ...rest,
          lastAt: isoOf(lastAt),
          examples: examples.map(({ at, ...example }) => ({ ...example, at: isoOf(at) })),
        })),
      })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/recent-domains',
    group: GROUP,
    summary: 'The most recently requested hosts.',
    query: z.object({ limit: limitField(50, 200) }),
    answers: {
      200: { what: 'The hosts.', schema: z.object({ count: z.int(), items: z.array(hostShape) }) },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const listed = await withAddresses(
        ports,
        (addresses) => addresses.listHosts(query.limit),
        () => [],
      )
      // Links name hosts that were never requested, and files have no host.
      const hosts = listed.filter(({ host, lastAt }) => host !== '' && lastAt !== null)
      return reply({
        count: hosts.length,
        items: hosts.map(({ lastAt, ...rest }) => ({ ...rest, lastAt: isoOrNull(lastAt) })),
      })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/domain-summary',
    group: GROUP,
    summary: 'What is known about one host.',
    query: z.object({ host: requiredTextField('Name of the host, with its port if that is not the default.', 255) }),
    answers: {
      200: { what: 'Its addresses by state, and what an analysis run found out about it.', schema: hostShape },
      ...failures(400, 404, 503),
    },
    async run({ query }, { ports }) {
      const name = query.host.toLowerCase()
      const answer = await withAddresses(
        ports,
        async (addresses, { findings }) => {
          return { found: await addresses.describeHost(name), domain: await findings?.readDomain(name) }
        },
        () => undefined,
      )
      if (answer?.found === undefined) throw unknownAddress(query.host)
      const { found, domain } = answer
      const analysis = domain === undefined ? null : { ...domain, analysedAt: isoOf(domain.analysedAt) }
      return reply({ ...found, lastAt: isoOrNull(found.lastAt), analysis })
    },
  }),
]

/** Finds the entries of a described address. Files of trees have paths as keys, so they are found by their source. */
async function findEntries(addresses: Addresses, { url, known }: AddressDescription): Promise<readonly AddressEntry[]> {
  const found = await addresses.find(url)
  if (found.length > 0) return found
  const listed = await Promise.all(
    known.map(async ({ source, row }) => {
      const entries = await addresses.list({ sourceId: source.id, text: row.url, order: 'newest', limit: MAX_ENTRIES })
      return entries.filter(({ key }) => key === row.key)
    }),
  )
  return listed.flat()
}

type ListQuery = z.infer<typeof listQuery>

function filterOf({ source, includeSubdomains, inScope, q, ...query }: ListQuery): AddressConditions {
  const { host: name, from, to, minWordCount, status, state, reason, classification, combinedHint } = query
  return {
    ...withoutUndefined({
      sourceId: source,
      host: name?.toLowerCase(),
      from,
      to,
      minWordCount,
      status,
      state,
      reason,
      text: q,
    }),
    ...withoutUndefined({ classification: classification ?? combinedHint }),
    ...withoutUndefined({ minConfidence: shareOf(query.minCombinedConfidence ?? query.minConfidence) }),
    ...(includeSubdomains ? { includeSubdomains } : {}),
    ...(inScope ? { isInScope: true } : {}),
  }
}

/** Reads one page of the list in the requested order, after or before the cursor. */
async function readAddressPage(
  addresses: Addresses,
  filter: AddressConditions,
  {
    limit,
    order = 'newest',
    dir = 'next',
    start,
  }: Pick<ListQuery, 'limit' | 'order' | 'dir'> & { start: ReturnType<typeof parseAddressCursor> | undefined },
): Promise<{ items: readonly AddressEntry[]; next: string | null; previous: string | null }> {
  const isBack = dir === 'prev' && start !== undefined
  const readOrder = isBack ? (order === 'newest' ? 'oldest' : 'newest') : order
  const found = await addresses.list({
    ...filter,
    limit: limit + 1,
    order: readOrder,
    ...withoutUndefined({ cursor: start }),
  })
  const shown = found.slice(0, limit)
  const items = isBack ? shown.toReversed() : shown
  const hasMore = found.length > limit
  const [first, last] = [items[0], items.at(-1)]
  return {
    items,
    next: last !== undefined && (isBack || hasMore) ? writeAddressCursor(last) : null,
    previous: first !== undefined && (isBack ? hasMore : start !== undefined) ? writeAddressCursor(first) : null,
  }
}

function fetchRecord({ sourceId, status, state, reason, detail, checkedAt }: AddressEntry) {
  return { sourceId, ts: isoOrNull(checkedAt), status, state, reason, detail }
}

/** The beginning of a text, cut at a character boundary. */
function cutText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, MAX_BODY_BYTES), { stream: true })
}

function unknownAddress(url: string, unknown: UnknownAddress | null = null): PharosError {
  const why = unknown === null ? { known: '', nearest: '' } : describeMissing(unknown)
  return new PharosError('PAGE_UNKNOWN', { url: hideCredentials(url), library: 'the library', ...why })
}
