import { z } from 'zod'
import { oneLine } from '../../library/words.ts'
import { given, need, pick } from '../arguments.ts'
import { sourceRecord } from '../records.ts'
import { flag, orNull, SOURCE_RECORD, text } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `find_version`: which version of a documentation is there. */
export const findVersion: Tool = createTool({
  name: 'find_version',
  title: 'Find a version',
  description: `Finds the indexed version of a library that matches: latest (default), an exact version, a range such as ^5.1 or >=5 <6, an X-range such as 5.x, a calendar version or a plain label. An exact version that is not there is not replaced by another, unless orOlder is given. Also lists all versions, newest first, and says whether there are documents without a version.
Use the name@version it returns as source of search_docs.`,
  effects: { isReadOnly: true, isIdempotent: true },
  isSafe: true,
  input: z.strictObject({
    library: text('Name of the source, without version.'),
    source: text('Same as library.'),
    name: text('Same as library.'),
    targetVersion: text('The version, range or label that is asked for. Default: latest.'),
    target: text('Same as targetVersion.'),
    version: text('Same as targetVersion.'),
    orOlder: flag('Takes the newest version before the one asked for, where there is no such. Default false.'),
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
    const name = need(args, 'library', 'source', 'name')
    const target = pick(args, 'targetVersion', 'target', 'version')
    const { findVersion: find } = await import('../../library/operations/find-version.ts')
    const found = await find(await library(), { name, ...given({ target, orOlder: args.orOlder }) })
    const record = (one: (typeof found.versions)[number]) => {
      return { version: one.version, isComplete: one.isComplete, source: sourceRecord(one.source) }
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
