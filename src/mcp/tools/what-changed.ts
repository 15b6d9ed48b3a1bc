import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { oneLine, quote, quoteSpaced, writeLabel } from '../../library/search/display-text.ts'
import { labelOf } from '../../library/source.ts'
import { readNumber, requireArgument } from '../arguments.ts'
import { number, orNull, text, unlisted } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

const LIMIT = { default: 20, minimum: 1, maximum: 500 } as const

/** `what_changed`: compares two versions of a source, or its last two crawls. */
export const whatChanged: Tool = createTool({
  name: 'what_changed',
  description:
    'Compares two stored versions: release notes, removed, renamed and changed names, text. Without versions: the last crawl. Use before an upgrade.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    source: text('Name of the source.'),
    library: unlisted(text()),
    name: unlisted(text()),
    from: text('Older version or range.'),
    to: text('Newer one. Default: newest.'),
    for: text('Only what this project folder uses.'),
    limit: number('Per kind, 1 to 500. Default 20.'),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    isLastCrawl: z.boolean(),
    changes: z.array(
      z.object({
        kind: z.string(),
        name: z.string(),
        newName: orNull(z.string()),
        url: z.string(),
        before: orNull(z.string()),
        after: orNull(z.string()),
      }),
    ),
    totals: z.record(z.string(), z.number()),
  }),
  async run(args, { library, project, signal }) {
    const source = requireArgument(args, 'source', 'library', 'name')
    const limit = readNumber('limit', args.limit ?? LIMIT.default, LIMIT)
    const { compareVersions } = await import('../../library/changes/compare-versions.ts')
    const { writeChanges } = await import('../../library/changes/write-changes.ts')
    const { from, to, for: folder } = args
    if (folder !== undefined && project === undefined) throw usageError('for: this server belongs to no project')
    const unused: string[] = []
    const readUses =
      folder === undefined || project === undefined
        ? undefined
        : async (name: string) => {
            const used = await project.readUses(folder, name)
            if (used.files === 0) unused.push(`no file in ${JSON.stringify(folder)} imports ${name}`)
            return used
          }
    const list = await compareVersions(
      await library(),
      { source, limit, ...withoutUndefined({ from, to, readUses }) },
      signal,
    )
    const title =
      list.crawl === null ? `${writeLabel(list.from)} → ${writeLabel(list.to)}` : `last crawl of ${writeLabel(list.to)}`
    const parts = writeChanges(list).map((part) => {
      const entries = part.entries.flatMap((entry) => [
        `- ${quote(entry.title)} — ${quoteSpaced(entry.url)}`,
        ...entry.lines.map((line) => `    ${quote(line)}`),
      ])
      return [oneLine(part.title), ...entries, ...(part.more === null ? [] : [part.more])].join('\n')
    })
    const none = parts.length === 0 ? ['Nothing changed.'] : []
    return {
      content: [[oneLine(title), ...[...list.notices, ...unused].map(oneLine), ...none, ...parts].join('\n\n')],
      structured: {
        from: labelOf(list.from),
        to: labelOf(list.to),
        isLastCrawl: list.crawl !== null,
        changes: list.groups.flatMap(({ changes }) => {
          return changes.map(({ kind, name, newName, url, before, after }) => ({
            kind,
            name,
            newName,
            url,
            before,
            after,
          }))
        }),
        totals: Object.fromEntries(list.groups.map(({ kind, total }) => [kind, total])),
      },
    }
  },
})
