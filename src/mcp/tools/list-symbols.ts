import { z } from 'zod'
import { countOf } from '../../core/text/count.ts'
import { oneLine, quote } from '../../library/words.ts'
import { clamp, given, pick } from '../arguments.ts'
import { number, text } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

const LIMIT = { default: 100, least: 1, most: 1000 } as const

/** `list_symbols`: what pages define. */
export const listSymbols: Tool = createTool({
  name: 'list_symbols',
  title: 'List symbols',
  description: `Lists the functions, classes, commands and other names that a stored page defines, or those of a whole source or the library whose name begins with prefix. Each comes with its signature, the URL with anchor, its line and the chunk that holds it, for get_chunk.`,
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    url: text('Only those of this page.'),
    source: text('The source: its name, name@version, id or start URL.'),
    library: text('Same as source.'),
    prefix: text('Beginning of the name, or of what follows its last dot; case does not matter.'),
    limit: number('Most symbols, 1 to 1000. Default 100.'),
    maxResults: number('Same as limit.'),
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
    const source = pick(args, 'source', 'library')
    const limit = clamp(pick(args, 'limit', 'maxResults') ?? LIMIT.default, LIMIT.least, LIMIT.most)
    const { listSymbols: list } = await import('../../library/operations/list-symbols.ts')
    const { url, prefix } = args
    const asked = { limit, ...given({ url, source, prefix }) }
    const { symbols, hasMore, stoppedAfter } = await list(await library(), asked, signal)
    const lines = symbols.map(({ name, signature, url: place, line, chunk }) => {
      return `${quote(name)} — ${quote(signature)} — ${oneLine(place)} — line ${line} — chunk ${oneLine(chunk)}`
    })
    const more = hasMore ? [`There are more than ${limit}: narrow it with prefix, source or url, or raise limit.`] : []
    const stopped =
      stoppedAfter === null
        ? []
        : [`Only ${countOf(stoppedAfter, 'page')} were looked at: narrow it with prefix, source or url.`]
    return {
      content: [[...(lines.length === 0 ? ['No symbols found.'] : lines), ...more, ...stopped].join('\n')],
      structured: { symbols: symbols.map((symbol) => ({ ...symbol })), hasMore },
    }
  },
})
