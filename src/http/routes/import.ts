import { z } from 'zod'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { importRequest } from '../../library/import/import-request.ts'
import { IMPORT_LIMITS, IMPORT_SHAPE } from '../../library/import/parse-import.ts'
import { flagField, optionalFlagField, textField, withJsonSchema } from '../fields.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { withLibrary } from '../server/store-access.ts'
import { failures } from '../shapes.ts'

const count = z.int().min(0)

/** Imports chunks that another program has cut. The import runs in this process, because the data exists only in the request. */
export const importRoutes: readonly Route[] = [
  createRoute({
    method: 'post',
    path: '/api/import',
    group: 'Sources',
    summary: 'Imports chunks as they are, all or none; they replace the earlier import of the same source_url.',
    query: z.object({
      name: textField('Name of the source. Default: its current name, or host and path of source_url.', 200),
      version: textField('Version of the documented product; each version is a source of its own.', 200),
      acceptLoss: flagField(false, 'Removes pages that are missing from the import, even if they are many.'),
      embed: optionalFlagField(
        'Makes the vectors before the import is stored. Default: true if the library has vectors of the current model and the import has at most 2,000 chunks.',
      ),
    }),
    // The import itself validates the body, so that all surfaces report the same errors.
    body: withJsonSchema(z.unknown(), IMPORT_SHAPE),
    maxBodyBytes: IMPORT_LIMITS.bytes,
    answers: {
      200: {
        what: 'The import is complete.',
        schema: z.object({
          source: z.looseObject({ id: z.string(), name: z.string() }),
          crawlId: z.string(),
          pages: count.describe('Pages that the source has now.'),
          chunks: count.describe('Chunks that the source has now.'),
          indexed: count.describe('Pages that are new or changed.'),
          unchanged: count.describe('Pages that have not changed.'),
          removed: count.describe('Pages removed because the import lacks them.'),
          embedded: z.boolean().describe('Whether the vectors were made before the import was stored.'),
          notice: z
            .string()
            .nullable()
            .describe('Why no vectors were made first, if the library has vectors and embed is not false.'),
        }),
      },
      ...failures(400, 409, 422, 503),
    },
    run: ({ body, query, request }, { ports }) =>
      withLibrary(ports, async (library) => {
        const { signal } = request
        const result = await importRequest(library, body, { ...withoutUndefined(query), what: 'the body', signal })
        const { source, summary, isEmbedded: embedded, notice } = result
        const { id, name, version, url } = source
        const { crawlId, indexed, unchanged, removed } = summary
        const { pages, chunks } = await library.store.countContent(id)
        const counts = { pages, chunks, indexed, unchanged, removed }
        return reply({ source: { id, name, version, url }, crawlId, ...counts, embedded, notice })
      }),
  }),
]
