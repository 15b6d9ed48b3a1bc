import { z } from 'zod'
import type { ContentTypeCounts } from '../core/retrieval/content-type.ts'
import { countOf, writeNumber } from '../core/text/count.ts'
import { writeTime } from '../core/text/iso-time.ts'
import type { Library, SourceState } from '../library/library.ts'
import { oneLine, quoteSpaced, timeOrNull, writeLabel } from '../library/search/display-text.ts'
import { writeShortfall } from '../library/sources/shortfall.ts'
import type { SourceReport } from '../library/sources/source-status.ts'
import { sourceRecord } from './records.ts'
import { type OrNull, orNull } from './schemas.ts'
import { writePartial } from './status-text.ts'

/** A source in a list, with its status and size. */
export interface ListedSource
  extends Pick<SourceReport, 'source' | 'status' | 'pages' | 'chunks' | 'lastCrawledAt' | 'isRunning' | 'shortfall'> {
  /** Number of chunks by type; not complete while the index is behind. */
  readonly types: ContentTypeCounts
}

type ListedShape = Record<'id' | 'name' | 'url' | 'status', z.ZodString> &
  Record<'version' | 'partial' | 'lastCrawledAt' | 'nextRefreshAt', OrNull<z.ZodString>> &
  Record<'pages' | 'chunks' | 'proseChunks' | 'codeChunks', z.ZodNumber>

/** The schema of a listed source. */
export const LISTED_SOURCE: z.ZodObject<ListedShape> = z.object({
  id: z.string(),
  name: z.string(),
  version: orNull(z.string()),
  url: z.string(),
  status: z.string(),
  partial: orNull(z.string()),
  pages: z.number(),
  chunks: z.number(),
  proseChunks: z.number(),
  codeChunks: z.number(),
  lastCrawledAt: orNull(z.string()),
  nextRefreshAt: orNull(z.string()),
})

/** Reads the status and size of every source. */
export async function readSourceList(library: SourceState & Pick<Library, 'vectors'>): Promise<ListedSource[]> {
  const { reportSource } = await import('../library/sources/source-status.ts')
  const types = await library.store.countContentTypes()
  const listed: ListedSource[] = []
  for (const source of await library.store.listSources()) {
    const report = await reportSource(library, source)
    listed.push({ ...report, types: types.get(source.id) ?? { prose: 0, code: 0 } })
  }
  return listed
}

/** A listed source in structured content. */
export function listedRecord(listed: ListedSource): z.input<typeof LISTED_SOURCE> {
  const { source, status, pages, chunks, types, lastCrawledAt, shortfall } = listed
  return {
    ...sourceRecord(source),
    status,
    partial: shortfall === null ? null : writeShortfall(shortfall),
    pages,
    chunks,
    proseChunks: types.prose,
    codeChunks: types.code,
    lastCrawledAt: timeOrNull(lastCrawledAt),
    nextRefreshAt: timeOrNull(source.refresh?.dueAt ?? null),
  }
}

/** `guide@2.0 — https://… — INDEXED — 3 pages, 9 chunks (7 prose, 2 code) — last crawled … — id …` */
export function writeListed(listed: ListedSource, isReadOnly = false): string {
  const { source, status, pages, chunks, types, lastCrawledAt, shortfall } = listed
  const when = lastCrawledAt === null ? 'never crawled' : `last crawled ${writeTime(lastCrawledAt)}`
  const isBehind = types.prose + types.code < chunks
  const split = `${writeNumber(types.prose)} prose, ${writeNumber(types.code)} code${isBehind ? ' so far' : ''}`
  const size = `${countOf(pages, 'page')}, ${countOf(chunks, 'chunk')}${chunks === 0 ? '' : ` (${split})`}`
  const partial = shortfall === null ? '' : ` — ${writePartial(source, shortfall, isReadOnly)}`
  const { readVersion } = source.settings
  const read = readVersion === undefined || readVersion === source.version ? '' : ` (${quoteSpaced(readVersion)} read)`
  return `${writeLabel(source)} — ${quoteSpaced(source.url)}${read} — ${status}${partial} — ${size} — ${when}${writeNext(listed)} — id ${source.id}`
}

/** `, next 2026-02-21T10:30:00Z`, with the problem of the last refresh; empty without a schedule. */
function writeNext({ source: { refresh }, isRunning }: ListedSource): string {
  if (refresh === undefined || isRunning) return ''
  const { dueAt, attempts, problem } = refresh
  const failed = attempts === 0 ? '' : ` (${problem === null ? 'last refresh unfinished' : oneLine(problem)})`
  return `, next ${writeTime(dueAt)}${failed}`
}
