import { PharosError } from '../../core/errors.ts'
import { urlKey } from '../../core/url/key.ts'
import type { CrawlKind } from '../../crawl/events.ts'
import type { Library } from '../library.ts'
import type { Source } from '../source.ts'
import type { CrawlRunOptions } from '../store.ts'
import { addSource, type SourceInput } from './add-source.ts'
import { findSource } from './find-source.ts'
import { reportSource } from './source-status.ts'

/** A source that is to be crawled for the first time, and what was found of it. */
export interface TakenUp {
  readonly source: Source
  /** `new`: nothing; `interrupted`: a crawl that goes on; `failed`: one that brought nothing, whose source was replaced. */
  readonly found: 'new' | 'interrupted' | 'failed'
  readonly kind: CrawlKind
  /** What the interrupted crawl was asked for, to be asked again. */
  readonly options: Partial<CrawlRunOptions>
}

/**
 * Records a source, or takes up one that was recorded before and never came to anything: an interrupted crawl is to go on with
 * the settings it began with, one that failed without a page gives way to what is asked for now. Every other one is refused
 * with `SOURCE_EXISTS`.
 */
export async function takeUpSource(library: Library, input: SourceInput): Promise<TakenUp> {
  try {
    return { source: await addSource(library, input), found: 'new', kind: 'add', options: {} }
  } catch (error) {
    if (!(error instanceof PharosError) || error.code !== 'SOURCE_EXISTS') throw error
    const source = await findSource(library, String(error.details['source']))
    if ((urlKey(source.url) ?? source.url) !== (urlKey(input.url) ?? input.url)) throw error
    const { crawl, isRunning, isInterrupted, pages } = await reportSource(library, source)
    if (isRunning) throw new PharosError('CRAWL_RUNNING', { source: String(error.details['source']) }, { cause: error })
    if (crawl === null) return { source, found: 'interrupted', kind: 'add', options: {} }
    if (isInterrupted) return { source, found: 'interrupted', kind: crawl.kind, options: crawl.options }
    if (crawl.state !== 'failed' || pages > 0) throw error
    await library.store.removeSource(source.id)
    return { source: await addSource(library, input), found: 'failed', kind: 'add', options: {} }
  }
}
