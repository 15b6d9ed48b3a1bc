import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { ChunkProfile } from '../core/chunk/profiles.ts'
import { messageOf } from '../core/errors.ts'
import { extractPage } from '../core/extract/extract-page.ts'
import type { Snapshot } from '../core/model.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import type { DocumentReading, PageReading } from '../crawl/ports.ts'
import { readPage } from '../crawl/read-page.ts'
import { formatOfResponse } from '../documents/response-format.ts'

/** A request to the worker, one page or document at a time. */
export interface PageRequest {
  /** `extraction` reads a page without chunking it. */
  readonly type: 'page' | 'extraction' | 'document'
  readonly snapshot: Snapshot
  readonly key: string
  readonly profile?: ChunkProfile | undefined
  /** Whether to report what an extraction left out. */
  readonly debug?: boolean
  /** CPU time limit in milliseconds. */
  readonly maxCpuMs: number
}

/** The messages of the worker: `ready` once, then one for each request. */
export type PageReply =
  | { readonly type: 'ready' }
  | { readonly type: 'read'; readonly reading: PageReading | DocumentReading }
  | { readonly type: 'defect' | 'error'; readonly problem: string }

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

parentPort?.on('message', async (request: PageRequest) => parentPort?.postMessage(await handleRequest(request)))
parentPort?.postMessage({ type: 'ready' } satisfies PageReply)

async function handleRequest(request: PageRequest): Promise<PageReply> {
  const { snapshot, key, profile } = request
  try {
    if (request.type !== 'document') return { type: 'read', reading: await readResponse(request) }
    const { readDocument } = await import('./read-document.ts')
    return { type: 'read', reading: await readDocument(snapshot, key, sha256, profile) }
  } catch (error) {
    const type = error instanceof PageDefect ? 'defect' : 'error'
    return { type, problem: messageOf(error) }
  }
}

async function readResponse({ type, snapshot, key, profile, debug = false }: PageRequest): Promise<PageReading> {
  const format = formatOfResponse(snapshot)
  if (format === undefined && type === 'extraction') {
    return { extraction: extractPage(snapshot, { debug, sha256 }), record: null }
  }
  if (format === undefined) return readPage(snapshot, key, sha256, profile)
  const { readDocumentPage } = await import('./read-document-page.ts')
  return readDocumentPage(snapshot, format, key, sha256, profile)
}
