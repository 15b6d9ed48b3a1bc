import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { ChunkProfile } from '../core/chunk/profiles.ts'
import { messageOf } from '../core/errors.ts'
import { extractPage } from '../core/extract/extract-page.ts'
import type { Snapshot } from '../core/model.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import type { DocumentReading, PageReading } from '../crawl/ports.ts'
import { readPage } from '../crawl/read-page.ts'
import { formatOfAnswer } from '../documents/answers.ts'

/** A request to the worker, one page or document at a time. */
export interface PageQuestion {
  /** `extraction` reads a page without chunking it. */
  readonly type: 'page' | 'extraction' | 'document'
  readonly snapshot: Snapshot
  readonly key: string
  readonly profile?: ChunkProfile | undefined
  /** Whether to report what an extraction left out. */
  readonly debug?: boolean
  /** CPU time limit in milliseconds. */
  readonly computeMs: number
}

/** The messages of the worker: `ready` once, then one for each request. */
export type PageAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'read'; readonly reading: PageReading | DocumentReading }
  | { readonly type: 'defect' | 'error'; readonly problem: string }

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

parentPort?.on('message', async (question: PageQuestion) => parentPort?.postMessage(await answer(question)))
parentPort?.postMessage({ type: 'ready' } satisfies PageAnswer)

async function answer(question: PageQuestion): Promise<PageAnswer> {
  const { snapshot, key, profile } = question
  try {
    if (question.type !== 'document') return { type: 'read', reading: await readAnswer(question) }
    const { readDocument } = await import('./read-document.ts')
    return { type: 'read', reading: await readDocument(snapshot, key, sha256, profile) }
  } catch (error) {
    const type = error instanceof PageDefect ? 'defect' : 'error'
    return { type, problem: messageOf(error) }
  }
}

async function readAnswer({ type, snapshot, key, profile, debug = false }: PageQuestion): Promise<PageReading> {
  const format = formatOfAnswer(snapshot)
  if (format === undefined && type === 'extraction') {
    return { extraction: extractPage(snapshot, { debug, sha256 }), record: null }
  }
  if (format === undefined) return readPage(snapshot, key, sha256, profile)
  const { readDocumentPage } = await import('./read-document-page.ts')
  return readDocumentPage(snapshot, format, key, sha256, profile)
}
