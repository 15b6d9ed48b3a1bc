import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { ChunkProfile } from '../core/chunk/profiles.ts'
import { messageOf } from '../core/errors.ts'
import type { Snapshot } from '../core/model.ts'
import { PageDefect } from '../crawl/page-defect.ts'
import type { PageReading } from '../crawl/ports.ts'
import { readPage } from '../crawl/read-page.ts'

/** What the worker is asked: one page at a time. */
export interface PageQuestion {
  readonly snapshot: Snapshot
  readonly key: string
  readonly profile: ChunkProfile | undefined
}

/** What it answers. */
export type PageAnswer =
  | { readonly type: 'read'; readonly reading: PageReading }
  | { readonly type: 'defect' | 'error'; readonly problem: string }

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

parentPort?.on('message', (question: PageQuestion) => parentPort?.postMessage(answer(question)))

function answer({ snapshot, key, profile }: PageQuestion): PageAnswer {
  try {
    return { type: 'read', reading: readPage(snapshot, key, sha256, profile) }
  } catch (error) {
    const type = error instanceof PageDefect ? 'defect' : 'error'
    return { type, problem: messageOf(error) }
  }
}
