import type { Library } from '../library.ts'
import { reportSource } from '../operations/source-status.ts'
import type { CrawlOrder, JobView } from './dispatcher.ts'
import { writeSourceOrder } from './source-order.ts'

/** The part of a dispatcher that recovery needs. */
interface ImportQueue {
  list(): readonly Pick<JobView, 'sourceId' | 'endedAt'>[]
  enqueue(order: CrawlOrder): Promise<unknown>
}

/** Resumes interrupted imports, unless a job or process is already running for the source. */
export async function recoverImports(library: Library, dispatcher: ImportQueue): Promise<void> {
  const left = (await library.imports?.list()) ?? []
  if (left.length === 0) return
  for (const source of await library.store.listSources()) {
    const isUnderWay = dispatcher.list().some(({ sourceId, endedAt }) => sourceId === source.id && endedAt === null)
    if (!left.includes(source.id) || isUnderWay || (await reportSource(library, source)).isRunning) continue
    await dispatcher.enqueue(await writeSourceOrder(library, source, { kind: 'recrawl' }))
  }
}
