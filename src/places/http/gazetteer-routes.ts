import { z } from 'zod'
import { PharosError } from '../../core/errors.ts'
import { isoOf } from '../../core/text/iso-time.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { countField, limitField, placeId, requiredTextField, textField, wordField } from '../../http/fields.ts'
import { hubRecord } from '../../http/records/address-records.ts'
import { createRoute, type Route, reply } from '../../http/route.ts'
import { failures, hubShape } from '../../http/shapes.ts'
import { PLACE_KINDS } from '../../library/ports/findings.ts'
import { articleRecord, placeShape, readSummary } from './place-records.ts'
import { withAnalysisStores } from './place-stores.ts'

const GROUP = 'Gazetteer'
const count = z.int().min(0)
const SORTS = ['name', 'population', 'country', 'kind'] as const
const MAX_ARTICLES = 20
const MAX_HUBS = 50
const MAX_RESOLVED = 10

/** Places of the world, their names, and the pages about them. With an empty gazetteer the lists are empty. */
export const gazetteerRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/api/gazetteer/summary',
    group: GROUP,
    summary: 'How many places and names are known, and where they come from.',
    answers: {
      200: {
        what: 'The counts, and the credits of the data.',
        schema: z.object({
          countries: count,
          regions: count,
          cities: count,
          others: count,
          names: count,
          sources: z.array(
            z.object({
              name: z.string(),
              version: z.string(),
              license: z.string(),
              attribution: z.string(),
              url: z.string().nullable(),
              importedAt: z.string(),
              places: count,
            }),
          ),
          revision: z.string(),
        }),
      },
    },
    async run(_, { ports }) {
      const { sources, ...figures } = await readSummary(ports)
      const written = sources.map(({ importedAt, ...source }) => ({ ...source, importedAt: isoOf(importedAt) }))
      return reply({ ...figures, sources: written })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/gazetteer/places',
    group: GROUP,
    summary: 'Places, the largest first.',
    query: z.object({
      q: textField('Beginning of a name, or any of its words.', 200),
      kind: wordField(PLACE_KINDS, 'Only places of this kind.'),
      cc: textField('Only places of the country with this code of two letters.', 2),
      adm1: textField('Only places of the region with this code.', 20),
      minpop: countField(0, 'Only places with at least this many inhabitants.'),
      sort: wordField(SORTS, 'Sort key; population by default.'),
      dir: wordField(['asc', 'desc'], 'Smallest or largest first.'),
      page: countField(1, 'Which page of the list; the first is 1.'),
      pageSize: limitField(50, 200),
    }),
    answers: {
      200: {
        what: 'The places of that page.',
        schema: z.object({ total: count, page: count, pageSize: count, items: z.array(placeShape) }),
      },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const { q, kind, cc, adm1, minpop, sort, dir, page = 1, pageSize } = query
      const filter = withoutUndefined({
        text: q,
        kind,
        countryCode: cc?.toUpperCase(),
        adm1Code: adm1?.toUpperCase(),
        minPopulation: minpop,
        sort,
        order: dir === undefined ? undefined : dir === 'asc' ? ('ascending' as const) : ('descending' as const),
      })
      const found = await withAnalysisStores(
        ports,
        ({ gazetteer }) => gazetteer.listPlaces({ ...filter, offset: (page - 1) * pageSize, limit: pageSize }),
        () => ({ total: 0, items: [] }),
      )
      return reply({ total: found.total, page, pageSize, items: found.items })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/gazetteer/place/:id',
    group: GROUP,
    summary: 'One place with its names, and the places around it.',
    params: z.object({ id: placeId }),
    answers: {
      200: {
        what: 'The place, and the 200 largest places in it.',
        schema: z.looseObject({
          place: placeShape,
          names: z.array(z.looseObject({ name: z.string(), lang: z.string().nullable(), kind: z.string() })),
          parents: z.array(placeShape),
          children: z.array(placeShape),
          size: z.object({ names: count, parents: count, children: count }),
        }),
      },
      ...failures(400, 404, 503),
    },
    async run({ params }, { ports }) {
      const found = await withAnalysisStores(
        ports,
        ({ gazetteer }) => gazetteer.findPlace(params.id),
        () => undefined,
      )
      if (found === undefined) throw new PharosError('PLACE_UNKNOWN', { place: params.id })
      const { place, names, externalIds, parents, children, childCount } = found
      const size = { names: names.length, parents: parents.length, children: childCount }
      return reply({ place, names, externalIds, parents, children, size })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/gazetteer/articles',
    group: GROUP,
    summary: 'Pages on which a place was found.',
    query: z.object({ id: placeId }),
    answers: {
      200: {
        what: `At most ${MAX_ARTICLES}: those that name it in their title first, then in their address; the newest of these first.`,
        schema: z.object({
          id: count,
          count,
          items: z.array(
            z.looseObject({ url: z.string(), title: z.string(), mentions: count, firstSeenAt: z.string() }),
          ),
        }),
      },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const items = await withAnalysisStores(
        ports,
        ({ gazetteer }) => gazetteer.listArticles(query.id, MAX_ARTICLES),
        () => [],
      )
      return reply({ id: query.id, count: items.length, items: items.map(articleRecord) })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/gazetteer/hubs',
    group: GROUP,
    summary: 'Hub pages of places.',
    query: z.object({ host: textField('Only those of this host.', 255) }),
    answers: {
      200: {
        what: `At most ${MAX_HUBS}; /api/hubs lists all of them.`,
        schema: z.object({ host: z.string().nullable(), total: count, items: z.array(hubShape) }),
      },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const host = query.host?.toLowerCase()
      const { total, items } = await withAnalysisStores(
        ports,
        ({ placeHubs }) => placeHubs.list({ ...withoutUndefined({ host }), offset: 0, limit: MAX_HUBS }),
        () => ({ total: 0, items: [] }),
      )
      return reply({ host: host ?? null, total, items: items.map(hubRecord) })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/gazetteer/resolve',
    group: GROUP,
    summary: 'Places with a given name: cities, then regions, then the others, each group by population.',
    query: z.object({ q: requiredTextField('The name, in any language and script.', 200) }),
    answers: {
      200: {
        what: `At most ${MAX_RESOLVED}.`,
        schema: z.object({ q: z.string(), items: z.array(placeShape) }),
      },
      ...failures(400, 503),
    },
    async run({ query }, { ports }) {
      const items = await withAnalysisStores(
        ports,
        ({ gazetteer }) => gazetteer.resolve(query.q, MAX_RESOLVED),
        () => [],
      )
      return reply({ q: query.q, items })
    },
  }),
]
