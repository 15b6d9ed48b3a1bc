import { z } from 'zod'
import { isoOrNull } from '../../core/text/iso-time.ts'
import { type Explanation, explainUrl } from '../../library/sources/explain.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { DISCOVERY_WORDS, STATE_WORDS, writeReason } from '../../library/sources/ledger-words.ts'
import { requiredTextField } from '../fields.ts'
import { rowRecord } from '../records/source-records.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { withLibrary } from '../server/store-access.ts'
import { failures, rowShape } from '../shapes.ts'

/** Route that explains what happened to an address. */
export const explainRoute: Route = createRoute({
  method: 'get',
  path: '/api/explain',
  group: 'Sources',
  summary: 'What happened to an address of a source, and why. Nothing is fetched.',
  query: z.object({
    source: requiredTextField('Id, name, name@version or start URL of a source.'),
    url: requiredTextField('The address; a relative one starts at the site of the source.', 4000),
  }),
  answers: {
    200: {
      what: 'The recorded state, and what the rules decide now.',
      schema: z.looseObject({ url: z.string(), key: z.string(), isKnown: z.boolean(), row: rowShape.nullable() }),
    },
    ...failures(400, 404, 503),
  },
  run: ({ query }, { ports }) =>
    withLibrary(ports, async (library) => {
      const source = await findSource(library, query.source)
      const { row, target, heldUntil, ...explanation } = await explainUrl(library, source, query.url)
      return reply({
        source: { id: source.id, name: source.name, version: source.version },
        ...explanation,
        isKnown: row !== null,
        row: row === null ? null : rowRecord(row),
        target: target === null ? null : rowRecord(target),
        heldUntil: isoOrNull(heldUntil),
        words: {
          state: row === null ? null : `${STATE_WORDS[row.state]}${writeLastRefusal(explanation.lastRefusal)}`,
          reason: row === null || row.reason === null ? null : writeReason({ ...row, reason: row.reason }),
          discovery: row === null ? null : DISCOVERY_WORDS[row.discovery],
          refusal: explanation.refusal === null ? null : writeReason(explanation.refusal),
        },
      })
    }),
})

/** Why the last crawl left a page untouched, when a scope given only for that crawl excluded it. */
function writeLastRefusal(refusal: Explanation['lastRefusal']): string {
  return refusal === null ? '' : `; refused in the last crawl only: ${writeReason(refusal)}`
}
