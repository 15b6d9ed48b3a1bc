import { z } from 'zod'
import { PharosError } from '../../core/errors.ts'
import { isoOf } from '../../core/text/iso-time.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { countField, limitField, requiredTextField, textField, wordField } from '../../http/fields.ts'
import { hubRecord } from '../../http/records/address-records.ts'
import { createRoute, type Route, reply } from '../../http/route.ts'
import { withLibrary } from '../../http/server/store-access.ts'
import { failures, hubShape } from '../../http/shapes.ts'
import { splitMilestones } from '../../library/crawl/split-milestones.ts'
import { PLACE_KINDS } from '../../library/ports/findings.ts'
import { placeShape, readMentions } from './place-records.ts'
import { withAnalysisStores } from './place-stores.ts'

const GROUP = 'Hubs'
const count = z.int().min(0)
const MAX_KINDS = 50

/** Routes for hub pages, their coverage of the world, and the learned patterns of their hosts. */
export const hubRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/api/hubs',
    group: GROUP,
    summary: 'Hubs by host, place and topic.',
    query: z.object({
      host: textField('Only those of this host.', 255),
      place: countField(1, 'Only those of the place with this number.'),
      kind: wordField(PLACE_KINDS, 'Only those of places of this kind.'),
      topic: textField('Only those of the topic with this slug.', 200),
      limit: limitField(50, 500),
      offset: countField(0, 'Number of hubs to skip.'),
    }),
    answers: {
      200: { what: 'The hubs.', schema: z.object({ total: count, items: z.array(hubShape) }) },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const { host, place, kind, topic, limit, offset = 0 } = query
      const filter = withoutUndefined({ host: host?.toLowerCase(), placeId: place, placeKind: kind, topicSlug: topic })
      const { total, items } = await withAnalysisStores(
        ports,
        ({ placeHubs }) => placeHubs.list({ ...filter, offset, limit }),
        () => ({ total: 0, items: [] }),
      )
      return reply({ total, items: items.map(hubRecord) })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/hubs/hosts',
    group: GROUP,
    summary: 'Hosts with hubs or learned patterns, those with the most hubs first.',
    query: z.object({ limit: limitField(50, 200) }),
    answers: {
      200: {
        what: 'The hosts.',
        schema: z.object({ count, items: z.array(z.object({ host: z.string(), hubs: count })) }),
      },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const items = await withAnalysisStores(
        ports,
        ({ placeHubs }) => placeHubs.listHosts(query.limit),
        () => [],
      )
      return reply({ count: items.length, items })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/hubs/coverage',
    group: GROUP,
    summary: 'How well the hubs of a host cover the world: which exist, which are missing, and by which patterns.',
    query: z.object({ host: requiredTextField('The host.', 255) }),
    answers: {
      200: {
        what: 'The counts, and the first 500 missing hubs: those that the site names or its patterns imply, not one for each country without a hub. All counts are 0 for an unknown host.',
        schema: z.object({
          host: z.string(),
          hubs: count,
          countriesCovered: count,
          countries: count,
          missing: z
            .array(
              z.object({
                url: z.string(),
                placeId: z.int().nullable(),
                placeSlug: z.string().nullable(),
                checkedAt: z.string(),
              }),
            )
            .max(500),
          missingCount: count,
          patterns: z.array(
            z.object({
              pattern: z.string(),
              role: z.string(),
              seen: count,
              hits: count,
              misses: count,
              confidence: z.number(),
              examples: z.array(z.string()),
            }),
          ),
          topics: z.array(z.object({ slug: z.string(), label: z.string(), hubs: count })),
        }),
      },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const host = query.host.toLowerCase()
      const { missing, ...coverage } = await withAnalysisStores(
        ports,
        ({ placeHubs }) => placeHubs.coverage(host),
        () => ({
          host,
          hubs: 0,
          countriesCovered: 0,
          countries: 0,
          missing: [],
          missingCount: 0,
          patterns: [],
          topics: [],
        }),
      )
      return reply({
        ...coverage,
        missing: missing.map(({ checkedAt, ...rest }) => ({ ...rest, checkedAt: isoOf(checkedAt) })),
      })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/places/mentions',
    group: GROUP,
    summary: 'Places that pages are about, those with the most pages first: the data of the map.',
    query: z.object({ host: textField('Only pages of this host.', 255), limit: limitField(200, 1000) }),
    answers: {
      200: {
        what: 'The places, each with how many pages name it and how many hubs lead to it.',
        schema: z.object({ count, items: z.array(z.object({ place: placeShape, pages: count, hubs: count })) }),
      },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const items = await readMentions(ports, query.limit, query.host?.toLowerCase())
      return reply({ count: items.length, items })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/milestones/met',
    group: 'History',
    summary: 'Which of the given milestones a host has reached, by a crawl or an analysis run.',
    query: z.object({
      host: requiredTextField('The host.', 255),
      kinds: requiredTextField('Their kinds, with commas between them: full-understanding,depth2-coverage.', 2000),
    }),
    answers: {
      200: {
        what: 'Those that were reached, and those that were not.',
        schema: z.object({ host: z.string(), met: z.array(z.string()), unmet: z.array(z.string()) }),
      },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const host = query.host.toLowerCase()
      const kinds = parseKinds(query.kinds)
      return reply({ host, ...(await withLibrary(ports, (library) => splitMilestones(library, host, kinds))) })
    },
  }),
]

function parseKinds(text: string): readonly string[] {
  const kinds = [...new Set(text.split(',').map((kind) => kind.trim()))].filter((kind) => kind !== '')
  if (kinds.length > 0 && kinds.length <= MAX_KINDS && kinds.every((kind) => /^[a-z0-9-]{1,64}$/.test(kind))) {
    return kinds
  }
  const problem = `query kinds: expected kinds of milestones such as full-understanding,depth2-coverage, got ${JSON.stringify(text.slice(0, 100))}`
  throw new PharosError('USAGE', { problem, field: 'kinds' })
}
