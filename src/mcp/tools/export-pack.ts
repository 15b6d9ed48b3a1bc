import { z } from 'zod'
import { labelOf } from '../../library/source.ts'
import { oneLine } from '../../library/words.ts'
import { usage } from '../arguments.ts'
import { findOne } from '../find-one.ts'
import { flag, ONE_SOURCE, text } from '../schemas.ts'
import { createTool, type Tool } from '../tool.ts'

/** `export_pack`: a source as a portable file. */
export const exportPack: Tool = createTool({
  name: 'export_pack',
  title: 'Export a pack',
  description: `Writes the pages of a source as a portable pack (llm.md, manifests, chunk files in one zip) into the folder that the owner of this server chose. Returns an id and a link to a resource, docs://packs/{id}, at once; the resource tells whether it is done and where the file is. One pack is written at a time, others wait; while a pack of the same source waits or is written, its id is returned again.`,
  effects: { isIdempotent: true },
  isSafe: false,
  input: z.strictObject({
    ...ONE_SOURCE,
    version: text('The version that is meant, exactly as it was given.'),
    compact: flag('Only what a model reads: llm.md, a manifest and the chunks. Default false.'),
  }),
  output: z.object({ packId: z.string(), source: z.string(), uri: z.string(), state: z.string() }),
  async run(args, { library, packs, progress }) {
    if (packs === undefined) throw usage('this server has no place to write packs to')
    const opened = await library()
    const source = await findOne(opened, args)
    const { id, state } = packs.start(opened, source, args.compact ?? false)
    await progress(0, 1, 'writing')
    const uri = `docs://packs/${id}`
    const label = oneLine(labelOf(source))
    return {
      content: [
        `${state === 'waiting' ? 'Going to write' : 'Writing'} a pack of ${label}. Pack: ${id}`,
        { type: 'resource_link', uri, name: `pack of ${label}`, mimeType: 'application/json' },
      ],
      structured: { packId: id, source: labelOf(source), uri, state },
    }
  },
})
