import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import type { Snapshot } from '../core/model.ts'
import { readPage } from '../crawl/read-page.ts'

/** What the worker is asked. */
export interface PageQuestion {
  readonly id: number
  readonly snapshot: Snapshot
  readonly key: string
}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

parentPort?.on('message', ({ id, snapshot, key }: PageQuestion) => {
  try {
    parentPort?.postMessage({ id, reading: readPage(snapshot, key, sha256) })
  } catch (error) {
    parentPort?.postMessage({ id, problem: error instanceof Error ? error.message : String(error) })
  }
})
