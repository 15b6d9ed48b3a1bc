import { z } from 'zod'
import { writeBytes } from '../../core/text/bytes.ts'
import { writeNumber } from '../../core/text/count.ts'
import { timeOrNull, writeTime } from '../../library/words.ts'
import { orNull } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `index_statistics`: how large the library is. */
export const indexStatistics: Tool = createTool({
  name: 'index_statistics',
  title: 'Index statistics',
  description:
    'Tells how large the library is: number of sources, pages and chunks, bytes on disk, the embedding model with its dimensions and how many chunks have a vector (none where search goes by words alone), and when content last changed.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({}),
  output: z.object({
    sources: z.number(),
    pages: z.number(),
    chunks: z.number(),
    bytes: z.number(),
    embeddingModel: orNull(z.string()),
    embeddingDimensions: orNull(z.number()),
    embeddedChunks: z.number(),
    lastActivityAt: orNull(z.string()),
  }),
  async run(_args, context) {
    const { store, vectors } = await context.library()
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
      },
    }
  },
})
