import { z } from 'zod'
import { countOf } from '../../core/text/count.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { quote, quoteSpaced } from '../../library/search/display-text.ts'
import { pickArgument, readNumber } from '../arguments.ts'
import { number, text, unlisted } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

const LIMIT = { default: 100, minimum: 1, maximum: 1000 } as const

/** `list_symbols`: lists the symbols that pages define. */
export const listSymbols: Tool = createTool({
  name: 'list_symbols',
  description:
    'Lists functions, classes, commands and other names that a page, a source or the library defines, with signature, URL, line and chunk. Use it to find the exact name of an API.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    url: text('Only this page.'),
    source: text(),
    library: unlisted(text()),
    prefix: text('Prefix of the name, or of its last part.'),
    limit: number('1 to 1000. Default 100.'),
    maxResults: unlisted(number()),
  }),
  output: z.object({
    symbols: z.array(
      z.object({
        name: z.string(),
        signature: z.string(),
        source: z.string(),
        title: z.string(),
        url: z.string(),
        line: z.number(),
        chunk: z.string(),
      }),
    ),
    hasMore: z.boolean(),
  }),
  async run(args, { library, signal }) {
    const source = pickArgument(args, 'source', 'library')
    const limit = readNumber('limit', pickArgument(args, 'limit', 'maxResults') ?? LIMIT.default, LIMIT)
    const { listSymbols: list } = await import('../../library/search/list-symbols.ts')
    const { url, prefix } = args
    const input = { limit, ...withoutUndefined({ url, source, prefix }) }
    const { symbols, hasMore, stoppedAfter } = await list(await library(), input, signal)
    const lines = symbols.map(({ name, signature, url: symbolUrl, line, chunk }) => {
      return `${quote(name)} — ${quote(signature)} — ${quoteSpaced(symbolUrl)} — line ${line} — chunk ${quoteSpaced(chunk)}`
    })
    const more = hasMore ? [`There are more than ${limit}: use prefix, source or url, or raise limit.`] : []
    const stopped =
      stoppedAfter === null ? [] : [`Only ${countOf(stoppedAfter, 'page')} were searched: use prefix, source or url.`]
    return {
      content: [[...(lines.length === 0 ? ['No symbols found.'] : lines), ...more, ...stopped].join('\n')],
      structured: { symbols: symbols.map((symbol) => ({ ...symbol })), hasMore },
    }
  },
})
