import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { KINDS } from '../../core/model.ts'
import { CONTENT_TYPES } from '../../core/retrieval/content-type.ts'
import { MAX_QUESTION_CHARS } from '../../core/retrieval/question.ts'
import { RELEVANCES } from '../../core/retrieval/relevance.ts'
import { isoOf } from '../../core/text/iso-time.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { answerRecord } from '../../library/search/answer-record.ts'
import { findChunk } from '../../library/search/find-chunk.ts'
import { DEFAULT_GROUPS } from '../../library/search/list-duplicates.ts'
import { DEFAULT_LIMIT } from '../../library/search/search-library.ts'
import { DEFAULT_TOKENS, DUPLICATES, FUSIONS, type SearchInput } from '../../library/search.ts'
import { labelOf, versionFieldsOf } from '../../library/source.ts'
import {
  countField,
  flagField,
  limitField,
  numberField,
  requiredTextField,
  textField,
  textsField,
  wordField,
} from '../fields.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { withLibrary } from '../server/store-access.ts'
import { failures } from '../shapes.ts'

const GROUP = 'Search'
/** `<source>/<id>`, an id, or an id prefix. */
const CHUNK_NAME = /^(?:.+\/)?[0-9a-f]{12,64}$/i
const similar = z.looseObject({
  url: z.string(),
  source: z.string(),
  version: z.string().nullable(),
  language: z.string().nullable(),
  isTranslation: z.boolean().optional(),
})
const passage = z.looseObject({
  title: z.string(),
  url: z.string(),
  source: z.string(),
  packagePage: z.string().optional().describe('Web page of the package version, for a page without a web address.'),
  headingPath: z.array(z.string()),
  chunk: z.string(),
  score: z.number(),
  similar: z.array(similar).optional(),
  html: z.string().optional(),
  citation: z.string().optional(),
})

const EMPTY_LIBRARY =
  'the library has no sources yet; POST /api/sources adds one: {"url": "https://docs.example.com/"}, or a repository or package'

/** Routes that search the library. */
export const searchRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/api/search',
    group: GROUP,
    summary: 'The passages that answer a question best, as an agent sees them.',
    query: z.object({
      q: textField('What to look for.', MAX_QUESTION_CHARS),
      query: textField('Same as q.', MAX_QUESTION_CHARS),
      source: textsField('Ids, names, name@version or start URLs; all sources without it.'),
      version: textField('Exact version, range, latest, or * for all.', 200),
      limit: limitField(DEFAULT_LIMIT, 100),
      tokens: limitField(DEFAULT_TOKENS, 100_000),
      path: textField('A glob on the path of the page, or the beginning of that path.'),
      kind: wordField(KINDS, 'Only text of this kind.'),
      heading: textField('Part of the heading path, as slugs.'),
      symbol: textField('Beginning of a name that the passage defines.'),
      contentType: wordField(CONTENT_TYPES, 'Only what is mostly prose, or mostly code.'),
      language: textField(
        'Only pages in this language (BCP 47). auto (default) picks the translation in the language of the question; any returns all translations.',
        50,
      ),
      duplicates: wordField(
        DUPLICATES,
        'Nearly identical pages: group returns one and lists the others in similar, show returns each.',
      ),
      minScore: numberField(0, 1, 'Leaves out passages that score below this share of the best score.'),
      cursor: textField('The cursor of an answer, to continue after it.'),
      fusion: wordField(FUSIONS, 'How scores by words and by meaning are combined.'),
      explain: flagField(false, 'Adds to each passage where its score comes from.'),
      html: flagField(
        false,
        'Adds to each passage its text as safe HTML with the matching words marked, and its citation.',
      ),
    }),
    answers: {
      200: {
        what: 'Passages within the budget, and further pages with one line each.',
        schema: z.looseObject({
          query: z.string(),
          relevance: z.enum(RELEVANCES),
          engines: z.array(z.string()),
          notices: z.array(z.string()),
          passages: z.array(passage),
          more: z.array(passage),
          tokens: z.int(),
          cursor: z.string().nullable(),
        }),
      },
      ...failures(400, 404, 503),
    },
    run({ query: parameters, request, began }, { ports, metrics }) {
      const { q, query = q, source, html, ...rest } = parameters
      if (query === undefined || query.trim() === '') {
        throw usageError('query q: expected words to search for, got none')
      }
      const input: SearchInput = { ...withoutUndefined(rest), query, ...withoutUndefined({ sources: source }) }
      return withLibrary(ports, async (library) => {
        const found = await ports.search(input, request.signal)
        const { renderPassages } = html ? await import('../reader/render-passages.ts') : {}
        const answer = { ...found, passages: (await renderPassages?.(library, found.passages)) ?? found.passages }
        metrics.recordSearch(performance.now() - began)
        const isEmptyLibrary = answer.available?.names.length === 0
        const notices = [...(isEmptyLibrary ? [EMPTY_LIBRARY] : []), ...answer.notices]
        return reply(answerRecord({ ...answer, notices }))
      })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/duplicates',
    group: GROUP,
    summary:
      'Pages that say nearly the same or are translations of each other, by their groups. All pages are compared.',
    query: z.object({
      source: textField('Id, name (with all its versions), name@version or start URL; the whole library without it.'),
      limit: limitField(DEFAULT_GROUPS, 1000),
      offset: countField(0, 'Number of groups to skip.'),
    }),
    answers: {
      200: {
        what: 'The groups, each with its pages and their number.',
        schema: z.looseObject({
          groups: z.array(z.looseObject({ count: z.int(), pages: z.array(similar) })),
          groupCount: z.int(),
          pageCount: z.int(),
          compared: z.int(),
          unknown: z.int().describe('Pages that have no signature yet and were not compared.'),
        }),
      },
      ...failures(400, 404, 503),
    },
    run({ query, request }, { ports }) {
      return withLibrary(ports, async () => reply(await ports.listDuplicates(query, request.signal)))
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/chunks/:id{.+}',
    group: GROUP,
    summary: 'The exact text of one chunk, with its citation.',
    params: z.object({
      id: requiredTextField('<source>/<id>, an id, or at least the first twelve characters of one.'),
    }),
    answers: {
      200: { what: 'The chunk.', schema: z.looseObject({ chunk: z.string(), text: z.string(), url: z.string() }) },
      ...failures(400, 404, 503),
    },
    run({ params }, { ports }) {
      if (!CHUNK_NAME.test(params.id)) {
        const form =
          'expected <source>/<id>, where the id has 64 hexadecimal characters, or at least the first 12 of them'
        throw usageError(`chunk: ${form}, got ${JSON.stringify(params.id)}`)
      }
      return withLibrary(ports, async (library) => {
        const { source, name, url, title, chunk, checkedAt, changedAt } = await findChunk(library, params.id)
        const { packagePage } = versionFieldsOf(source, url)
        const { id, kind, startLine, endLine, headingPath, symbol, content, tokenEstimate, contentHash } = chunk
        return reply(
          {
            chunk: name,
            id,
            source: { id: source.id, name: source.name, version: source.version, label: labelOf(source) },
            title,
            url,
            ...(packagePage !== undefined && { packagePage }),
            headingPath,
            kind,
            symbol,
            startLine,
            endLine,
            text: content,
            tokens: tokenEstimate,
            checkedAt: isoOf(checkedAt),
            changedAt: isoOf(changedAt),
          },
          200,
          // `checkedAt` is part of the response and changes without the text, so it is part of the ETag.
          { etag: `"${contentHash.slice(0, 16)}-${checkedAt}"`, 'cache-control': 'no-cache' },
        )
      })
    },
  }),
]
