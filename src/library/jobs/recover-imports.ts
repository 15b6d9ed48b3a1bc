import type { Library, SourceState } from '../library.ts'
import { reportSource } from '../sources/source-status.ts'
import type { CrawlRequest, JobView } from './dispatcher.ts'
import { createSourceRequest } from './source-request.ts'

/** The part of a dispatcher that recovery needs. */
interface ImportQueue {
  list(): readonly Pick<JobView, 'sourceId' | 'endedAt'>[]
  enqueue(request: CrawlRequest): Promise<unknown>
}

/** Resumes interrupted imports, unless a job or process is already running for the source. */
export async function recoverImports(
  library: SourceState & Pick<Library, 'imports' | 'vectors'>,
  dispatcher: ImportQueue,
): Promise<void> {
  const pending = (await library.imports?.list()) ?? []
  if (pending.length === 0) return
  for (const source of await library.store.listSources()) {
    const isUnderWay = dispatcher.list().some(({ sourceId, endedAt }) => sourceId === source.id && endedAt === null)
    if (!pending.includes(source.id) || isUnderWay || (await reportSource(library, source)).isRunning) continue
    await dispatcher.enqueue(await createSourceRequest(library, source, { kind: 'recrawl' }))
  }
}
