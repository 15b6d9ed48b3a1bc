import { z } from 'zod'
import { usageError } from '../../core/errors.ts'
import { writeLabel } from '../../library/search/display-text.ts'
import { labelOf } from '../../library/source.ts'
import { findNamedSource } from '../find-named-source.ts'
import { flag, ONE_SOURCE, text } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `export_pack`: exports a source as a portable file. */
export const exportPack: Tool = createTool({
  name: 'export_pack',
  description:
    'Writes the pages of a source as a portable zip into a folder on the server, in the background. Returns packId and the resource docs://packs/{id}, which shows the state and the path of the file.',
  effects: { isIdempotent: true },
  isSafe: false,
  input: z.strictObject({
    ...ONE_SOURCE,
    version: text(),
    compact: flag('Only what a model reads.'),
  }),
  output: z.object({ packId: z.string(), source: z.string(), uri: z.string(), state: z.string() }),
  async run(args, { library, packs, progress }) {
    if (packs === undefined) throw usageError('this server cannot write packs')
    const opened = await library()
    const source = await findNamedSource(opened, args)
    const { id, state } = packs.start(opened, source, args.compact ?? false)
    await progress(0, 1, 'writing')
    const uri = `docs://packs/${id}`
    const label = writeLabel(source)
    return {
      content: [
        `${state === 'waiting' ? 'Queued' : 'Writing'} a pack of ${label}. Pack: ${id}`,
        { type: 'resource_link', uri, name: `pack of ${label}`, mimeType: 'application/json' },
      ],
      structured: { packId: id, source: labelOf(source), uri, state },
    }
  },
})
