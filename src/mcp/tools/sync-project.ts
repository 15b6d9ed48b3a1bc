import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { countOf } from '../../core/text/count.ts'
import { oneLine, quoteSpaced } from '../../library/search/display-text.ts'
import { labelOf, type Source } from '../../library/source.ts'
import { flag, orNull } from '../schemas.ts'
import { writeDocumentation } from '../status-text.ts'
import { createTool, type Tool } from '../tool.ts'

/** `sync_project`: takes in the packages that the project uses. */
export const syncProject: Tool = createTool({
  name: 'sync_project',
  description:
    'Takes in the packages that the current project uses, at the versions of its lock file, so that search_docs answers for exactly these. Reads only what is missing; removes nothing. Call it once at the start, and after an upgrade.',
  effects: { isIdempotent: true, isOpenWorld: true },
  isSafe: false,
  input: z.strictObject({
    all: flag('Also packages that only other packages use.'),
    dev: flag('Also packages for development.'),
  }),
  output: z.object({
    project: z.string(),
    read: z.array(z.string()),
    ready: z.number(),
    failed: z.array(z.string()),
    unused: z.array(z.string()),
    documentation: z.array(z.object({ package: z.string(), version: orNull(z.string()), urls: z.array(z.string()) })),
  }),
  async run(args, { library, project, signal, progress }) {
    if (project === undefined) throw usageError('this server belongs to no project')
    const packages = await project.read()
    const { adviseUnlocked, choosePackages, createUseCheck, listWanted, requireFiles } = await import(
      '../../library/projects/choose-packages.ts'
    )
    const { syncProject: sync } = await import('../../library/projects/sync-project.ts')
    const { titleOf } = await import('../../library/projects/plan-project.ts')
    requireFiles(packages)
    const chosen = choosePackages(packages.packages, args)
    const wanted = listWanted(chosen)
    const unlocked = adviseUnlocked(chosen)
    const isUsed = createUseCheck(packages.packages)
    const read: string[] = []
    const failed: string[] = []
    const unused: string[] = []
    const offers: { readonly source: Source; readonly documentation: readonly string[] }[] = []
    let ready = 0
    for await (const event of sync(await library(), packages, wanted, signal, isUsed)) {
      if (event.type === 'reading') await progress(event.done, event.total, titleOf(event.wanted.address))
      else if (event.type === 'read') {
        read.push(labelOf(event.source))
        if (event.documentation.length > 0) offers.push(event)
      } else if (event.type === 'failed')
        failed.push(`${quoteSpaced(titleOf(event.wanted.address))}: ${oneLine(event.problem)}`)
      else if (event.type === 'dropped') unused.push(labelOf(event.source))
      else ready = event.result.ready
    }
    const { name } = packages
    const lines = [
      `${quoteSpaced(name)}: ${countOf(read.length, 'package')} read, ${ready} already in the library.`,
      ...failed.map((problem) => `Could not be read: ${problem}`),
      ...packages.skipped.map(({ name: left, reason }) => oneLine(`Left out: ${quoteSpaced(left)}: ${reason}`)),
      ...(unlocked === undefined ? [] : [oneLine(`Left out: ${unlocked}`)]),
      ...unused.map((label) => `No longer used: ${quoteSpaced(label)}`),
      ...offers.flatMap((offer) => writeDocumentation(offer, false)),
    ]
    const documentation = offers.map(({ source, documentation: urls }) => {
      return { package: source.name, version: source.version, urls: [...urls] }
    })
    return { content: [lines.join('\n')], structured: { project: name, read, ready, failed, unused, documentation } }
  },
})
