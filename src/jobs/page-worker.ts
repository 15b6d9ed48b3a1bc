import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { Snapshot } from '../core/model.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import type { PageReading } from '../crawl/ports.ts'
import { readPage } from '../crawl/read-page.ts'

/** What the worker is asked: one page at a time. */
export interface PageQuestion {
  readonly snapshot: Snapshot
  readonly key: string
}

/** What it answers. */
export type PageAnswer =
  | { readonly type: 'read'; readonly reading: PageReading }
  | { readonly type: 'defect' | 'error'; readonly problem: string }

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

parentPort?.on('message', ({ snapshot, key }: PageQuestion) => parentPort?.postMessage(answer(snapshot, key)))

function answer(snapshot: Snapshot, key: string): PageAnswer {
  try {
    return { type: 'read', reading: readPage(snapshot, key, sha256) }
  } catch (error) {
    const type = error instanceof PageDefect ? 'defect' : 'error'
    return { type, problem: error instanceof Error ? error.message : String(error) }
  }
}
