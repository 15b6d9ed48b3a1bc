import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { KINDS } from '../../core/model.ts'
import type { PackHit } from '../../core/pack/search-pack.ts'
import { describeDoubt, RELEVANCES } from '../../core/retrieval/relevance.ts'
import { countOf } from '../../core/text/count.ts'
import { oneLine, quoteSpaced } from '../../library/search/display-text.ts'
import { nonBlank, parseList, readNumber } from '../arguments.ts'
import { PAGE_TEXT_RULE } from '../page-text.ts'
import { number, text, texts } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'
import { CHUNK_POSITION, positionRecord, writePosition } from './chunk-position.ts'
import type { OpenPacks } from './open-packs.ts'
import type { PackMcpPorts } from './pack-server.ts'

const MAX_RESULTS = { default: 10, minimum: 1, maximum: 50 } as const

/** `search_docs` of a server for packs. */
export function createPackSearch(
  opened: OpenPacks,
  { embedQuestion, readOrdinaryWords }: Pick<PackMcpPorts, 'embedQuestion' | 'readOrdinaryWords'>,
): Tool {
  const { search, packs } = opened
  return createTool({
    name: 'search_docs',
    description: `Searches packs of documentation and returns the best chunks with citations. Use it before you answer from memory about anything the packs hold. Ask in a sentence, or with names as the text spells them. ${PAGE_TEXT_RULE}`,
    effects: { isReadOnly: true, isIdempotent: true },
    isSafe: true,
    input: z.strictObject({
      query: z.string().max(2000).describe('Question or names.'),
      source: texts('Name of a pack; several with commas.'),
      maxResults: number('1 to 50, default 10.'),
      path: text('Prefix of the path.'),
      kind: z.enum(KINDS).optional().describe('Such as markdown or python.'),
      heading: text('Prefix of the heading path, parts joined by /.'),
      symbol: text('Prefix of a defined name.'),
    }),
    output: z.object({
      query: z.string(),
      relevance: z.enum(RELEVANCES),
      uncovered: z.array(z.string()).optional(),
      engines: z.array(z.string()),
      notices: z.array(z.string()),
      // The texts themselves are in the text blocks.
      passages: z.array(z.object({ ...CHUNK_POSITION, score: z.number(), byMeaning: z.boolean().optional() })),
    }),
    async run(args, { signal }) {
      const query = args.query.trim()
      if (query === '') throw usageError('query is empty: expected words to look for')
      const sources = parseList(args.source) ?? []
      const pathPrefix = (sources.length === 0 ? packs.map(({ name }) => name) : sources).map(
        (source) => opened.prefixOf(source) + (nonBlank(args.path) ?? ''),
      )
      const { meaning, notices } = await search.findMeaning(query, (question) => embedQuestion(question, signal))
      const hits = search.search(query, {
        limit: readNumber('maxResults', args.maxResults ?? MAX_RESULTS.default, MAX_RESULTS),
        pathPrefix,
        kind: args.kind,
        headingPrefix: nonBlank(args.heading),
        symbolPrefix: nonBlank(args.symbol),
        meaning,
      })
      const judgement = search.judge(query, hits, await readOrdinaryWords())
      const doubt = hits.length === 0 ? undefined : describeDoubt(judgement)
      const engines = meaning === undefined ? ['words'] : ['words', 'vectors']
      const where = (sources.length === 0 ? packs.map(({ name }) => name) : sources).map(quoteSpaced).join(', ')
      const found = `${countOf(hits.length, 'passage')} for ${JSON.stringify(query)} in ${where}, by ${engines.join(' and ')}.`
      const head = hits.length === 0 ? `Nothing found for ${JSON.stringify(query)} in ${where}.` : found
      return {
        content: [
          [
            head,
            ...(doubt === undefined ? [] : [`${doubt} Try other words.`]),
            ...notices.map((notice) => `Note: ${oneLine(notice)}`),
          ].join('\n'),
          ...hits.flatMap((hit, i) => [
            `[${i + 1}] ${writePosition(opened, hit)}${hit.missing === null ? ' — by meaning alone' : ''}`,
            { pageText: contentOf(opened, hit) },
          ]),
        ],
        structured: {
          query,
          relevance: judgement.relevance,
          ...(judgement.uncovered.length > 0 && { uncovered: [...judgement.uncovered] }),
          engines,
          notices: [...notices],
          passages: hits.map((hit) => {
            return {
              ...positionRecord(opened, hit),
              score: hit.score,
              ...(hit.missing === null && { byMeaning: true }),
            }
          }),
        },
      }
    },
  })
}

function contentOf({ search }: OpenPacks, { chunkRef, snippet }: PackHit): string {
  return search.find(chunkRef)?.chunk.content ?? snippet
}
