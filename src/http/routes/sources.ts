import { z } from 'zod'
import { CHUNK_PROFILES } from '../../core/chunk/profiles.ts'
import { PharosError } from '../../core/errors.ts'
import { looseKey } from '../../core/url/key.ts'
import { REACHES } from '../../core/url/scope.ts'
import { withoutUndefined } from '../../core/without-undefined.ts'
import { resolveScope } from '../../library/crawl/add-source.ts'
import type { CrawlInput } from '../../library/crawl/crawl-source.ts'
import { openRendering } from '../../library/crawl/open-rendering.ts'
import { resolvePasted } from '../../library/crawl/pasted-source.ts'
import { prepareSource } from '../../library/crawl/prepare-source.ts'
import { requireHostMilestones } from '../../library/crawl/require-milestones.ts'
import { withdrawUnstarted } from '../../library/crawl/withdraw-source.ts'
import { plannerSchema, renderSchema } from '../../library/jobs/crawl-request.ts'
import type { JobView } from '../../library/jobs/dispatcher.ts'
import { createSourceRequest } from '../../library/jobs/source-request.ts'
import type { Library, SourceLookup, SourceState } from '../../library/library.ts'
import { parseEvery } from '../../library/refresh/schedule.ts'
import { setRefreshInterval } from '../../library/refresh/set-interval.ts'
import { CRAWL_TYPES, labelOf, type Source, treeSettings } from '../../library/source.ts'
import { describeSource } from '../../library/sources/describe-source.ts'
import { endPauses } from '../../library/sources/end-pauses.ts'
import { findSource } from '../../library/sources/find-source.ts'
import { LEDGER_STATES, REASONS } from '../../library/sources/ledger-words.ts'
import { removeSource as removeStoredSource } from '../../library/sources/remove-source.ts'
import { reportSource } from '../../library/sources/source-status.ts'
import type { HttpContext } from '../context.ts'
import { flagField, limitField, requiredTextField, textField, wordField } from '../fields.ts'
import { rowRecord, sourceRecord } from '../records/source-records.ts'
import { createRoute, type Route, reply } from '../route.ts'
import { withLibrary } from '../server/store-access.ts'
import { failures, rowShape, sourceShape } from '../shapes.ts'
import { isOpen } from './crawls.ts'

const GROUP = 'Sources'
const id = z.object({ id: requiredTextField('Id, name, name@version or start URL of a source.') })
const patterns = z.array(z.string().max(500)).max(1000)
const limitOrNull = z.int().min(0).nullable()
const scope = z
  .object({
    reach: z.enum(REACHES).describe('In the folder of the start, on its host, or on all hosts of its domain.'),
    allow: patterns.describe('One must match an address; an empty list allows all, and a leading ! blocks.'),
    block: patterns.describe('Patterns of addresses that are left out.'),
    maxDepth: limitOrNull.describe('Maximum link depth from the start; null for no limit.'),
    maxPages: z.int().min(1).nullable().describe('Page limit; null for no limit.'),
    useDefaultExcludes: z.boolean().describe('Leaves out addresses that are rarely content, such as logins.'),
    allowQueryUrls: z.boolean().describe('Keeps tracking and display parameters in addresses.'),
    trapGuards: z.boolean().describe('Leaves out addresses that look endless, such as calendars.'),
  })
  .partial()
/** How often a source is refreshed by itself. */
const every = z
  .string()
  .max(50)
  .meta({ examples: ['1d'] })
  .describe(
    'Crawls the source again by itself, this long after its last crawl: 12h, 1d or 2w, at least 10m; never turns that off.',
  )
const label = z.string().min(1).max(200)
const started = z.object({
  jobId: z.string(),
  status: z.string(),
  source: z.looseObject({ id: z.string(), name: z.string() }),
  understoodAs: z
    .string()
    .optional()
    .describe('The repository or package that the address was understood as; left out if it was taken as it is.'),
  notice: z.string().optional().describe('That another source has the same address.'),
})

/** Routes for sources: list, add, recrawl, refresh, remove. */
export const sourceRoutes: readonly Route[] = [
  createRoute({
    method: 'get',
    path: '/api/sources',
    group: GROUP,
    summary: 'All sources with their state.',
    answers: {
      200: { what: 'By name.', schema: z.object({ total: z.int(), items: z.array(sourceShape) }) },
      ...failures(503),
    },
    async run(_, { ports }) {
      const items = await withLibrary(ports, listReports, () => [])
      return reply({ total: items.length, items })
    },
  }),
  createRoute({
    method: 'post',
    path: '/api/sources',
    group: GROUP,
    summary: 'Adds a site, archive, repository or package, and crawls it as soon as a slot is free.',
    body: z.object({
      url: z
        .string()
        .trim()
        .min(1)
        .max(2000)
        .describe(
          'Where it starts: an http or https address; or an archive on the web (.zip, .tar, .tar.gz, .tgz, .tar.zst), a git repository (git+https://…, git@host:…, ….git) or a package (npm:…, pypi:…, crates:…, maven:…, pkg:…).',
        ),
      ref: label.optional().describe('Branch, tag or commit to read, for a repository.'),
      path: z.string().min(1).max(1000).optional().describe('Folder to read, for an archive, repository or package.'),
      name: label.optional().describe('Name of the source. Default: derived from its address.'),
      version: label.optional().describe('Version of the documented product.'),
      scope: scope.optional().describe('Which addresses belong to the source.'),
      crawlType: z
        .enum(CRAWL_TYPES)
        .optional()
        .describe('Where addresses come from. history applies to this crawl only; later crawls are intelligent.'),
      seeds: z.array(z.string().max(2000)).max(1000).optional().describe('Further addresses to start from.'),
      llmsTxtUrl: z.string().max(2000).nullable().optional().describe('Its llms.txt; null for none.'),
      llmsFull: z.enum(['auto', 'off', 'only']).optional().describe('Whether its llms-full.txt is read.'),
      render: renderSchema.optional(),
      chunks: z.enum(CHUNK_PROFILES).optional().describe('How its pages are cut.'),
      planner: plannerSchema
        .optional()
        .describe('What the plan of an intelligent or history crawl may do; ignored for other types.'),
      every: every.optional(),
      force: z.boolean().optional().describe('Starts a history crawl even if too little is known about the site.'),
      as: z
        .enum(['site'])
        .optional()
        .describe(
          'Crawls the page of a repository or package as a web site, instead of reading the repository or package.',
        ),
    }),
    answers: {
      202: { what: 'The source is added, and its crawl is queued or running.', schema: started },
      ...failures(400, 404, 409, 422, 429, 503),
    },
    async run({ body }, { ports }) {
      const { url, ref, path, name, version, crawlType, seeds, llmsTxtUrl, llmsFull, render, chunks, planner, force } =
        body
      const everyMs = readEvery(body)
      return withLibrary(ports, async (library) => {
        // A source whose crawl is still queued looks like one that was never crawled, and must not be started twice.
        const resolved = await resolvePasted(library, { url, as: body.as, settings: treeSettings({ ref, path }) })
        await refuseDuplicateCrawl(library, { ...body, url: resolved.url }, ports)
        const prepared = await prepareSource(library, {
          url: resolved.url,
          as: body.as,
          ...withoutUndefined({ name, version }),
          scope: withoutUndefined(body.scope ?? {}),
          settings: {
            ...withoutUndefined({ crawlType, seeds, llmsTxtUrl, llmsFull, render, chunks }),
            ...resolved.settings,
          },
          force,
        })
        const { source, kind, options } = prepared
        // A concurrent request may have started the same source meanwhile.
        if (hasOpenJob(ports, source)) throw new PharosError('CRAWL_RUNNING', { source: labelOf(source) })
        if (everyMs !== undefined) await setRefreshInterval(library, source, everyMs)
        const input = { kind, ...withoutUndefined({ planner, force }), ...options }
        const request = await createSourceRequest(library, source, input, prepared.found !== 'interrupted')
        const job = await ports.dispatcher.enqueue(request).catch(async (error: unknown) => {
          // A refused crawl leaves no new source behind.
          await withdrawUnstarted(library, prepared)
          throw error
        })
        return startedReply(source, job, withoutUndefined({ understoodAs: resolved.meaning, notice: prepared.notice }))
      })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/sources/:id',
    group: GROUP,
    summary: 'One source, with its page counts and its failed, filtered and left-out addresses.',
    params: id,
    query: z.object({ limit: limitField(20, 200) }),
    answers: { 200: { what: 'The source with all details.', schema: sourceShape }, ...failures(400, 404, 503) },
    run: ({ params, query }, { ports }) =>
      withLibrary(ports, async (library) => {
        const source = await findSource(library, params.id)
        const description = await describeSource(library, source, query.limit)
        const { settled, commit, errors, filtered, leftOut } = description
        return reply({
          ...sourceRecord(description),
          crawled: settled.indexed + settled.unchanged,
          commit,
          errors: errors.map(rowRecord),
          filtered: filtered.map(rowRecord),
          leftOut: leftOut.map(rowRecord),
        })
      }),
  }),
  createRoute({
    method: 'delete',
    path: '/api/sources/:id',
    group: GROUP,
    summary: 'Removes a source and all its pages; answers 409 while the source is being crawled, unless force is set.',
    params: id,
    query: z.object({ force: flagField(false, 'Removes it even while it is crawled; the crawl is cancelled first.') }),
    answers: {
      200: {
        what: 'What was removed.',
        schema: z.object({ removed: z.boolean(), pages: z.int(), chunks: z.int(), cancelled: z.int() }),
      },
      ...failures(400, 404, 409, 503),
    },
    run: ({ params, query }, context) =>
      withLibrary(context.ports, (library) => removeSource(library, params.id, query.force, context)),
  }),
  createRoute({
    method: 'post',
    path: '/api/sources/:id/recrawl',
    group: GROUP,
    summary: 'Looks for new pages, reads changed ones, and removes those that are proven gone.',
    params: id,
    body: z
      .object({
        full: z.boolean(),
        acceptLoss: z.boolean(),
        scope,
        crawlType: z.enum(CRAWL_TYPES).describe('Where addresses come from in this crawl.'),
        render: renderSchema,
        chunks: z
          .enum(CHUNK_PROFILES)
          .describe('How pages are cut, in this and later crawls. Unchanged pages are cut again only with full.'),
        planner: plannerSchema.describe(
          'What the plan of an intelligent or history crawl may do; ignored for other types.',
        ),
        every,
        force: z.boolean().describe('Starts a history crawl even if too little is known about the site.'),
      })
      .partial()
      .optional(),
    answers: { 202: { what: 'The crawl waits or runs.', schema: started }, ...failures(400, 404, 409, 429, 503) },
    run: ({ params, body = {} }, context) => {
      const { scope: givenScope, every: _, ...rest } = body
      const input: CrawlInput = {
        kind: 'recrawl',
        ...withoutUndefined(rest),
        ...(givenScope === undefined ? {} : { scope: withoutUndefined(givenScope) }),
      }
      return enqueue(params.id, input, context, readEvery(body))
    },
  }),
  createRoute({
    method: 'post',
    path: '/api/sources/:id/refresh',
    group: GROUP,
    summary: 'Fetches the known pages again.',
    params: id,
    body: z
      .object({ discover: z.boolean(), acceptLoss: z.boolean(), render: renderSchema, every })
      .partial()
      .optional(),
    answers: { 202: { what: 'The crawl waits or runs.', schema: started }, ...failures(400, 404, 409, 429, 503) },
    run: ({ params, body = {} }, context) => {
      const { every: _, ...options } = body
      return enqueue(params.id, { kind: 'refresh', ...withoutUndefined(options) }, context, readEvery(body))
    },
  }),
  createRoute({
    method: 'post',
    path: '/api/sources/:id/retry',
    group: GROUP,
    summary: 'Fetches the failed pages again.',
    params: id,
    body: z.object({ acceptLoss: z.boolean(), render: renderSchema }).partial().optional(),
    answers: { 202: { what: 'The crawl waits or runs.', schema: started }, ...failures(400, 404, 409, 429, 503) },
    run: ({ params, body = {} }, context) => enqueue(params.id, { kind: 'retry', ...withoutUndefined(body) }, context),
  }),
  createRoute({
    method: 'post',
    path: '/api/sources/:id/resume',
    group: GROUP,
    summary: 'Ends the pauses of hosts that the source waits for; a running crawl goes on. Starts no crawl.',
    params: id,
    answers: { 200: { what: 'The hosts.', schema: z.object({ hosts: z.string().array() }) }, ...failures(404, 503) },
    run: ({ params }, { ports }) =>
      withLibrary(ports, async (library) => {
        return reply({ hosts: await endPauses(library, await findSource(library, params.id)) })
      }),
  }),
  createRoute({
    method: 'post',
    path: '/api/sources/:id/schedule',
    group: GROUP,
    summary: 'Sets how often the source is crawled again by itself. Nothing is crawled now.',
    params: id,
    body: z.object({ every }),
    answers: { 200: { what: 'The source with its schedule.', schema: sourceShape }, ...failures(400, 404, 409, 503) },
    run: ({ params, body }, { ports }) => {
      const everyMs = parseEvery('every', body.every)
      return withLibrary(ports, async (library) => {
        await setRefreshInterval(library, await findSource(library, params.id), everyMs)
        return reply(sourceRecord(await reportSource(library, await findSource(library, params.id))))
      })
    },
  }),
  createRoute({
    method: 'get',
    path: '/api/sources/:id/urls',
    group: GROUP,
    summary: 'The addresses of a source, each with its state.',
    params: id,
    query: z.object({
      state: wordField(LEDGER_STATES, 'Only addresses in this state.'),
      reason: wordField(REASONS, 'Only addresses that are in their state for this reason.'),
      after: textField('Only addresses after this key, in the order of keys.', 4000),
      limit: limitField(100, 1000),
    }),
    answers: {
      200: {
        what: 'The addresses, and the key to continue after.',
        schema: z.object({ items: z.array(rowShape), nextAfter: z.string().nullable() }),
      },
      ...failures(400, 404, 503),
    },
    run: ({ params, query }, { ports }) =>
      withLibrary(ports, async (library) => {
        const source = await findSource(library, params.id)
        const { limit, ...filter } = query
        const rows = await library.store.listRows(source.id, { limit: limit + 1, ...withoutUndefined(filter) })
        const items = rows.slice(0, limit)
        return reply({
          items: items.map(rowRecord),
          nextAfter: rows.length > limit ? (items.at(-1)?.key ?? null) : null,
        })
      }),
  }),
]

async function listReports(library: SourceState & Pick<Library, 'vectors'>): Promise<Record<string, unknown>[]> {
  const sources = await library.store.listSources()
  return Promise.all(sources.map(async (source) => sourceRecord(await reportSource(library, source))))
}

/** The interval in a body; null for never, undefined if it is not given. */
function readEvery({ every: given }: { readonly every?: string | undefined }): number | null | undefined {
  return given === undefined ? undefined : parseEvery('every', given)
}

async function enqueue(idOrName: string, input: CrawlInput, { ports }: HttpContext, everyMs?: number | null) {
  return withLibrary(ports, async (library) => {
    const source = await findSource(library, idOrName)
    resolveScope(source.scope, input.scope ?? {})
    if (input.crawlType === 'history' && input.force !== true) {
      await requireHostMilestones(library, new URL(source.siteUrl).host)
    }
    if (input.render !== undefined) await openRendering(library, input.render)
    if (hasOpenJob(ports, source) || (await reportSource(library, source)).isRunning) {
      throw new PharosError('CRAWL_RUNNING', { source: labelOf(source) })
    }
    if (everyMs !== undefined) await setRefreshInterval(library, source, everyMs)
    return startedReply(source, await ports.dispatcher.enqueue(await createSourceRequest(library, source, input)))
  })
}

/** Whether a job of this source is queued or running. */
function hasOpenJob({ dispatcher }: HttpContext['ports'], { id: sourceId }: Source): boolean {
  return dispatcher.list().some((job) => job.sourceId === sourceId && isOpen(job))
}

async function refuseDuplicateCrawl(
  { store, trees }: Pick<Library, 'store' | 'trees'>,
  {
    url,
    name,
    version,
  }: { readonly url: string; readonly name?: string | undefined; readonly version?: string | undefined },
  ports: HttpContext['ports'],
): Promise<void> {
  const same = (await store.listSources()).find(
    (source) =>
      looseKey(source.url) === looseKey(trees?.addressOf(url) ?? url) &&
      (name === undefined || source.name === name) &&
      (version ?? null) === source.version &&
      hasOpenJob(ports, source),
  )
  if (same !== undefined) throw new PharosError('CRAWL_RUNNING', { source: labelOf(same) })
}

function startedReply({ id: sourceId, name, version, url }: Source, { id: job, status }: JobView, notes: object = {}) {
  return reply({ jobId: job, status, source: { id: sourceId, name, version, url }, ...notes }, 202)
}

async function removeSource(
  library: SourceLookup & Pick<Library, 'imports' | 'vectors'>,
  idOrName: string,
  isForced: boolean,
  { ports }: HttpContext,
) {
  const { dispatcher } = ports
  const source = await findSource(library, idOrName)
  if (!isForced && (hasOpenJob(ports, source) || (await reportSource(library, source)).isRunning)) {
    throw new PharosError('CRAWL_RUNNING', { source: labelOf(source), wanted: 'removal' })
  }
  const jobs = dispatcher.list().filter((job) => job.sourceId === source.id && isOpen(job))
  for (const job of jobs) {
    await dispatcher.stop(job.id, 'cancelled')
    // Waits for the job to end, so that nothing writes to the source while it is removed.
    await dispatcher.wait(job.id)
  }
  const { pages, chunks } = await removeStoredSource(library, source.id)
  return reply({ removed: true, pages, chunks, cancelled: jobs.length })
}
