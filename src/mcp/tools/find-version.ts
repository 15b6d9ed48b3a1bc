import { z } from 'zod'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { oneLine } from '../../library/search/display-text.ts'
import { pickArgument, requireArgument } from '../arguments.ts'
import { sourceRecord } from '../records.ts'
import { flag, orNull, SOURCE_RECORD, text, unlisted } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `find_version`: finds a stored version of a source. */
export const findVersion: Tool = createTool({
  name: 'find_version',
  description:
    'Finds the stored version of a library that matches a version, range (^5.1, >=5 <6, 5.x) or label, and lists all versions, newest first. Use the name@version of its answer as source of search_docs.',
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    library: text('Name without version.'),
    source: unlisted(text()),
    name: unlisted(text()),
    targetVersion: text('Default: latest.'),
    target: unlisted(text()),
    version: unlisted(text()),
    orOlder: flag('Accept the newest older version.'),
  }),
  output: z.object({
    name: z.string(),
    target: z.string(),
    best: orNull(z.object({ version: z.string(), isComplete: z.boolean(), source: SOURCE_RECORD })),
    versions: z.array(z.object({ version: z.string(), isComplete: z.boolean(), source: SOURCE_RECORD })),
    hasUnversioned: z.boolean(),
    message: z.string(),
  }),
  async run(args, { library }) {
    const name = requireArgument(args, 'library', 'source', 'name')
    const target = pickArgument(args, 'targetVersion', 'target', 'version')
    const { findVersion: find } = await import('../../library/sources/find-version.ts')
    const found = await find(await library(), { name, ...withoutUndefined({ target, orOlder: args.orOlder }) })
    const record = ({ version, isComplete, source }: (typeof found.versions)[number]) => {
      return { version, isComplete, source: sourceRecord(source) }
    }
    return {
      content: [oneLine(found.message)],
      structured: {
        name: found.name,
        target: found.target,
        best: found.best === null ? null : record(found.best),
        versions: found.versions.map(record),
        hasUnversioned: found.hasUnversioned,
        message: found.message,
      },
    }
  },
})
