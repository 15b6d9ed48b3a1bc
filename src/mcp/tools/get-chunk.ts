import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { writeCitation } from '../../library/search/display-text.ts'
import { labelOf, versionFieldsOf } from '../../library/source.ts'
import { requireArgument } from '../arguments.ts'
import { CITED, citedRecord } from '../cited-text.ts'
import { orNull, text, unlisted } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `<source>/<id>`, an id, or an id prefix. */
const CHUNK_NAME = /^(?:.+\/)?[0-9a-f]{12,64}$/i

/** `get_chunk`: reads a chunk by its id. */
export const getChunk: Tool = createTool({
  name: 'get_chunk',
  description:
    'Returns the exact text of one chunk with its citation. Use it with a chunk name from search_docs or list_symbols.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    chunk: text('<source>/<id>, an id, or at least its first 12 characters.'),
    chunkId: unlisted(text()),
    id: unlisted(text()),
  }),
  output: z.object({ ...CITED, kind: z.string(), symbol: orNull(z.string()) }),
  async run(args, { library }) {
    const name = requireArgument(args, 'chunk', 'chunkId', 'id').trim()
    if (!CHUNK_NAME.test(name)) {
      const form = '<source>/<id>, where the id has 64 hexadecimal characters, or at least the first 12 of them'
      throw usageError(`invalid chunk ID format: expected ${form}, got ${JSON.stringify(name)}`)
    }
    const { findChunk } = await import('../../library/search/find-chunk.ts')
    const found = await findChunk(await library(), name)
    const { chunk, title, url, source, checkedAt, changedAt } = found
    const { headingPath, startLine, endLine, content, tokenEstimate, kind, symbol } = chunk
    const cited = {
      title,
      url,
      headingPath,
      startLine,
      endLine,
      text: content,
      tokens: tokenEstimate,
      source: labelOf(source),
      ...versionFieldsOf(source, url),
      checkedAt,
      changedAt,
      chunk: found.name,
    }
    return {
      content: [writeCitation(cited), { pageText: content }],
      structured: { ...citedRecord(cited), kind, symbol },
    }
  },
})
