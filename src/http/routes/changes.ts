import { z } from 'zod'
import { isoOrNull } from '../../core/text/iso-time.ts'
import { type ChangeList, DEFAULT_CHANGES } from '../../library/changes/compare-versions.ts'
import { writeChanges } from '../../library/changes/write-changes.ts'
import { labelOf } from '../../library/source.ts'
import { limitField, requiredTextField, textField } from '../fields.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { withLibrary } from '../server/store-access.ts'
import { failures } from '../shapes.ts'

/** Route that compares two versions of a source, or its last two crawls. */
export const changesRoute: Route = createRoute({
  method: 'get',
  path: '/api/changes',
  group: 'Sources',
  summary: 'What changed between two versions of a source, or in its last crawl.',
  query: z.object({
    source: requiredTextField('Id, name, name@version or start URL of a source.'),
    from: textField('Older version or range. Default: the version before `to`.'),
    to: textField('Newer version or range. Default: the newest.'),
    limit: limitField(DEFAULT_CHANGES, 500),
  }),
  answers: {
    200: {
      what: 'Parts in words, the most important first, and the number of changes of each kind.',
      schema: z.looseObject({ from: z.string(), to: z.string(), parts: z.array(z.looseObject({ title: z.string() })) }),
    },
    ...failures(400, 404, 503),
  },
  run: ({ query, request }, { ports }) =>
    withLibrary(ports, async () => reply(changesRecord(await ports.compareVersions(query, request.signal)))),
})

function changesRecord(list: ChangeList) {
  const { from, to, crawl, groups, notices } = list
  return {
    from: labelOf(from),
    to: labelOf(to),
    crawl: crawl === null ? null : { id: crawl.id, kind: crawl.kind, startedAt: isoOrNull(crawl.startedAt) },
    parts: writeChanges(list),
    totals: Object.fromEntries(groups.map(({ kind, total }) => [kind, total])),
    notices,
  }
}
