import { z } from 'zod'
import { PharosError } from '../../core/errors.ts'
import { isoOf } from '../../core/text/iso-time.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { requiredTextField } from '../fields.ts'
import type { HttpPorts, PackEntry } from '../ports.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { withLibrary } from '../server/store-access.ts'
import { failures, packShape } from '../shapes.ts'

const GROUP = 'Packs'
const id = z.object({ id: requiredTextField('Id of a pack.', 100) })

/** Routes for packs that are exported on request. */
export const packRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/api/packs',
    group: GROUP,
    summary: 'The packs that were requested since the server started.',
    answers: { 200: { what: 'The packs.', schema: z.object({ total: z.int(), items: z.array(packShape) }) } },
    run(_, { ports }) {
      const items = ports.packs.list().map(packRecord)
      return reply({ total: items.length, items })
    },
  }),
  createRoute({
    method: 'post',
    path: '/api/packs',
    group: GROUP,
    summary: 'Starts the export of a source as a pack.',
    body: z.object({ source: z.string().trim().min(1).max(2000), compact: z.boolean().optional() }),
    answers: { 202: { what: 'The pack is being written.', schema: packShape }, ...failures(400, 404, 429, 503) },
    async run({ body }, { ports }) {
      const source = await withLibrary(ports, (library) => findSource(library, body.source))
      return reply(packRecord(await ports.packs.begin(source.id, body.compact ?? false)), 202)
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/packs/:id',
    group: GROUP,
    summary: 'One pack.',
    params: id,
    answers: { 200: { what: 'The pack.', schema: packShape }, ...failures(404) },
    run: ({ params }, { ports }) => reply(packRecord(findPack(ports, params.id))),
  }),
  createRoute({
    method: 'get',
    path: '/api/packs/:id/file',
    group: GROUP,
    summary: 'The file of a pack that is ready.',
    params: id,
    answers: { 200: { what: 'The pack.', type: 'application/zip' }, ...failures(404, 409) },
    async run({ params }, { ports }) {
      const pack = findPack(ports, params.id)
      const file = await ports.packs.read(pack.id)
      if (file === undefined) {
        // The file may have been deleted meanwhile; then this call throws `PACK_UNKNOWN`.
        const { state } = findPack(ports, pack.id)
        throw new PharosError('PACK_UNREADY', { pack: pack.id, state })
      }
      return new Response(file.body, {
        headers: {
          'content-type': 'application/zip',
          'content-length': String(file.bytes),
          'content-disposition': `attachment; filename="${file.name.replace(/[^\w.@-]/g, '-')}"`,
        },
      })
    },
  }),
]

function findPack({ packs }: HttpPorts, packId: string): PackEntry {
  const pack = packs.find(packId)
  if (pack === undefined) throw new PharosError('PACK_UNKNOWN', { pack: packId })
  return pack
}

function packRecord({ createdAt, ...pack }: PackEntry): Record<string, unknown> {
  return { ...pack, createdAt: isoOf(createdAt) }
}
