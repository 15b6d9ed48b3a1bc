import { z } from 'zod'
import type { EffectiveConfig } from '../config.ts'
import { messageOf, PharosError, usageError } from '../core/errors.ts'
import { createQdrantClient } from '../embed/qdrant-client.ts'
import { type Allowance, parseAllowance } from '../fetch/addresses.ts'
import { findBrowser } from '../fetch/chromium/find-browser.ts'
import { systemClock } from '../fetch/clock.ts'
import { openServiceClient } from '../fetch/service-client.ts'
import { ServiceFailure } from '../library/service-call.ts'
import { TimeoutError, withTimeout } from '../library/with-timeout.ts'
import { type Connections, openConnections } from '../open-connections.ts'
import type { Config } from '../settings/settings.ts'
import { VERSION } from '../version.ts'
import { connectionsOf } from './library.ts'

/** The result of checking one part of the installation. */
export interface Check {
  readonly name: string
  /** False if the installation itself is broken. */
  readonly ok: boolean
  readonly found: string
  /** Whether an optional part is unusable, so that some features are missing. */
  readonly isWarning?: true
}

/** Timeout for the response of a service. */
const RESPONSE_TIMEOUT_MS = 3000

/** Timeout for starting and stopping a browser. */
const BROWSER_TIMEOUT_MS = 10_000

const NO_SANDBOX = 'root runs the browser without its sandbox; run Pharos as another user'

const NO_BROWSER = 'only --render auto and --render chromium need one'

/** Checks the browser and the configured services. A service that does not respond is a warning, not an error. */
export async function checkConnections(config: EffectiveConfig): Promise<Check[]> {
  const { values, origins } = config
  const options = connectionsOf(values)
  const services = openConnections({
    // The check gives a reranker as much time as any other service, instead of its budget in a search.
    options: {
      ...options,
      ...(options.reranking === undefined
        ? {}
        : { reranking: { ...options.reranking, budgetMs: RESPONSE_TIMEOUT_MS } }),
    },
    userAgent: `Pharos/${VERSION}`,
    allowance: allowanceOf(values),
    proxy: values.proxy === '' ? undefined : values.proxy,
    maxPageBytes: undefined,
    clock: systemClock,
  })
  try {
    return await Promise.all([
      checkBrowser(values),
      ...(options.embedding === undefined
        ? []
        : [check('embedding', () => tryEmbedder(services), describeService(values.embedder, values.embedEndpoint))]),
      ...(options.reranking === undefined
        ? []
        : [
            check(
              'reranker',
              (signal) => tryReranker(services, signal),
              describeService(values.reranker, values.rerankEndpoint),
            ),
          ]),
      ...(values.qdrantUrl === ''
        ? []
        : [check('qdrant', (signal) => tryQdrant(values, signal), describeService('Qdrant', values.qdrantUrl))]),
      ...(origins.crawl4aiEndpoint === 'default'
        ? []
        : [
            check(
              'crawl4ai',
              () => tryCrawl4AI(services, values),
              describeService('Crawl4AI', values.crawl4aiEndpoint),
            ),
          ]),
    ])
  } finally {
    await services.close()
  }
}

function allowanceOf({ allowPrivate }: Config): Allowance {
  const parsed = parseAllowance(allowPrivate)
  if (parsed.type === 'problem') throw usageError(`--allow-private: ${parsed.problem}`)
  return parsed.allowance
}

/** The name of a service with its origin. */
function describeService(what: string, address: string): string {
  return `${what} at ${new URL(address).origin}`
}

async function check(
  name: string,
  probe: (signal: AbortSignal) => Promise<string>,
  label: string = name,
  timeoutMs = RESPONSE_TIMEOUT_MS,
): Promise<Check> {
  try {
    return { name, ok: true, found: await withTimeout(timeoutMs, undefined, probe) }
  } catch (error) {
    return { name, ok: true, isWarning: true, found: describeError(error, label) }
  }
}

/** Formats an error with advice. `label` names the service in the message of a timeout. */
function describeError(error: unknown, label: string): string {
  const original = messageOf(error)
  const message = error instanceof TimeoutError ? `${label} gave ${original}` : original
  const advice = error instanceof PharosError ? error.entry.advice : ''
  return advice === '' ? `${message}; make sure that it runs, and check its settings` : `${message}; ${advice}`
}

/** A missing browser is a warning only if one is configured. */
async function checkBrowser({ browser }: Config): Promise<Check> {
  const given = browser === '' ? undefined : browser
  const located = await check('browser', () => findBrowser(given))
  if (located.isWarning !== undefined) {
    return given === undefined ? { name: located.name, ok: true, found: `${located.found} (${NO_BROWSER})` } : located
  }
  const started = await check('browser', () => tryBrowser(located.found), located.found, BROWSER_TIMEOUT_MS)
  return started.isWarning === undefined && process.getuid?.() === 0
    ? { ...started, isWarning: true, found: `${started.found}; ${NO_SANDBOX}` }
    : started
}

/** Starts the browser, because only that shows whether the file is a browser. */
async function tryBrowser(executablePath: string): Promise<string> {
  const { openChromiumRenderer } = await import('../fetch/chromium/renderer.ts')
  const renderer = await openChromiumRenderer({ executablePath, userAgent: `Pharos/${VERSION}` })
  try {
    await renderer.prepare()
    return executablePath
  } finally {
    await renderer.close()
  }
}

async function tryEmbedder({ openEmbedder }: Connections): Promise<string> {
  const embedder = await openEmbedder?.()
  return embedder === undefined ? 'none' : `${embedder.space.model}, ${embedder.space.dimensions} dimensions`
}

async function tryReranker({ openReranker }: Connections, signal: AbortSignal): Promise<string> {
  const reranker = await openReranker()
  await reranker?.rerank('Where is the harbour?', ['A lighthouse shows where the harbour is.'], signal)
  return `${reranker?.name} works`
}

async function tryQdrant(
  { qdrantUrl: url, qdrantCollection, qdrantKey: key }: Config,
  signal: AbortSignal,
): Promise<string> {
  const client = openServiceClient({ origins: [url], userAgent: `Pharos/${VERSION}` })
  const place = `${new URL(url).origin}, collection ${qdrantCollection}`
  try {
    const call = createQdrantClient({
      url,
      key,
      client,
      clock: systemClock,
      retries: 0,
      timeoutMs: RESPONSE_TIMEOUT_MS,
    })
    const path = `/collections/${encodeURIComponent(qdrantCollection)}`
    await call({ method: 'GET', path, result: z.unknown(), signal })
    return place
  } catch (error) {
    if (!(error instanceof ServiceFailure && error.status === 404)) throw error
    return `${place}, which is created with the first vectors`
  } finally {
    await client.close()
  }
}

async function tryCrawl4AI({ openCrawl4AI }: Connections, { crawl4aiEndpoint }: Config): Promise<string> {
  await openCrawl4AI()
  return `${new URL(crawl4aiEndpoint).origin} is healthy`
}
