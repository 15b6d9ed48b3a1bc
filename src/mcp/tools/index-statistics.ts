import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { writeBytes } from '../../core/text/bytes.ts'
import { countOf, writeNumber } from '../../core/text/count.ts'
import { writeTime } from '../../core/text/iso-time.ts'
import type { SourceLookup } from '../../library/library.ts'
import { quote, quoteSpaced, timeOrNull } from '../../library/search/display-text.ts'
import type { DuplicateList, DuplicatesInput } from '../../library/search/list-duplicates.ts'
import { flag, number, orNull, text, unlisted } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** Groups of similar pages. A search shows only one page of each group. */
const DUPLICATES = z.object({
  groupCount: z.number(),
  pageCount: z.number(),
  compared: z.number(),
  unknown: z.number(),
  groups: z.array(
    z.object({
      count: z.number(),
      pages: z.array(
        z.object({
          url: z.string(),
          title: z.string(),
          source: z.string(),
          sourceId: z.string(),
          version: orNull(z.string()),
          language: orNull(z.string()),
        }),
      ),
    }),
  ),
})

/** `index_statistics`: reports the size of the library. */
export const indexStatistics: Tool = createTool({
  name: 'index_statistics',
  description:
    'Reports the size of the library: sources, pages, chunks, bytes, embedding model, last change. With duplicates, also lists groups of nearly identical or translated pages, 20 at a time.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    duplicates: flag(),
    source: text('Only duplicates of this source.'),
    offset: number('Groups to skip.'),
  }),
  output: z.object({
    sources: z.number(),
    pages: z.number(),
    chunks: z.number(),
    bytes: z.number(),
    embeddingModel: orNull(z.string()),
    embeddingDimensions: unlisted(orNull(z.number())),
    embeddedChunks: z.number(),
    lastActivityAt: orNull(z.string()),
    duplicates: DUPLICATES.optional(),
  }),
  async run({ duplicates, source, offset = 0 }, context) {
    const library = await context.library()
    const { store, vectors } = library
    if (duplicates !== true && (source !== undefined || offset !== 0)) {
      throw usageError('source and offset narrow the list of duplicates: expected duplicates to be true')
    }
    const list = duplicates === true ? await readDuplicates(library, { source, offset }, context.signal) : undefined
    const { sources, pages, chunks, bytes, changedAt } = await store.stats()
    const space = await vectors?.readSpace()
    const embedded = space === undefined ? 0 : ((await vectors?.count())?.embedded ?? 0)
    const lines = [
      `Sources: ${writeNumber(sources)}`,
      `Pages: ${writeNumber(pages)}`,
      `Chunks: ${writeNumber(chunks)}`,
      `Storage: ${writeBytes(bytes)}`,
      space === undefined
        ? 'Embeddings: none'
        : `Embeddings: ${space.model}, ${space.dimensions} dimensions, ${writeNumber(embedded)} of ${writeNumber(chunks)} chunks`,
      `Last activity: ${changedAt === null ? 'never' : writeTime(changedAt)}`,
      ...(list === undefined ? [] : writeDuplicates(list)),
    ]
    return {
      content: [lines.join('\n')],
      structured: {
        sources,
        pages,
        chunks,
        bytes,
        embeddingModel: space?.model ?? null,
        embeddingDimensions: space?.dimensions ?? null,
        embeddedChunks: embedded,
        lastActivityAt: timeOrNull(changedAt),
        ...(list === undefined ? {} : { duplicates: toRecord(list) }),
      },
    }
  },
})

/** Lists duplicates. The operation is loaded on demand, because it is rarely needed. */
async function readDuplicates(
  library: SourceLookup,
  input: DuplicatesInput,
  signal: AbortSignal,
): Promise<DuplicateList> {
  const { listDuplicates } = await import('../../library/search/list-duplicates.ts')
  return listDuplicates(library, input, signal)
}

function writeDuplicates({ groups, groupCount, pageCount, compared, unknown }: DuplicateList): string[] {
  const missing = unknown === 0 ? '' : `; ${countOf(unknown, 'page')} not compared yet`
  const all = `${countOf(groupCount, 'group')} of ${countOf(pageCount, 'page')} among ${countOf(compared, 'page')}`
  return [
    `Duplicates: ${all}${missing}`,
    ...groups.map(({ count, pages }) => {
      const named = pages.map(({ url, source, language }) => {
        return `${quoteSpaced(url)} (${[source, ...(language === null ? [] : [language])].map(quoteSpaced).join(', ')})`
      })
      return `- ${quote(pages[0]?.title ?? '')}, ${countOf(count, 'page')}: ${named.join(', ')}`
    }),
  ]
}

function toRecord({ groups, ...counts }: DuplicateList): z.input<typeof DUPLICATES> {
  return { ...counts, groups: groups.map(({ count, pages }) => ({ count, pages: [...pages] })) }
}
