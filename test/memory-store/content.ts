import { planExcerpt, readLayout, writeLayout } from '../../src/core/retrieval/page-layout.ts'
import { createPageSignature, type PageSignature } from '../../src/core/retrieval/page-signature.ts'
import type {
  PageExcerpt,
  PageText,
  PageWithSignature,
  StoredChunk,
  StoredPage,
  StoreStats,
} from '../../src/library/ports/store.ts'
import { listChunks } from './chunk-index.ts'
import type { Row } from './row.ts'
import type { SourceLedger } from './source-ledger.ts'

/** Minimum length of a chunk id prefix. */
const SHORT_ID_LENGTH = 12

/** The page that a row holds. */
export function toStoredPage(row: Row): StoredPage | undefined {
  const { sourceId, key, record, firstSeenAt, checkedAt, changedAt } = row
  if (record === null) return undefined
  return { sourceId, key, page: record.page, checkedAt: checkedAt ?? firstSeenAt, changedAt: changedAt ?? firstSeenAt }
}

/** The text of the page that a row holds, with the positions of its chunks. */
export function toPageText(row: Row): PageText | undefined {
  const stored = toStoredPage(row)
  if (stored === undefined) return undefined
  const { page, ...rest } = stored
  const { title, language, markdown, sections } = page
  const chunks = listChunks(row).map(({ chunk: { id, startLine, endLine, headingPath, symbol } }) => ({
    id,
    startLine,
    endLine,
    headingPath,
    symbol,
  }))
  return { ...rest, url: row.url, title, language, markdown, sections, chunks }
}

/** The signature of the page of a row. */
export function toPageSignature({ record }: Row): PageSignature | undefined {
  return record === null ? undefined : createPageSignature(record.page)
}

/** The page of a row with its signature. */
export function toPageWithSignature(row: Row): PageWithSignature | undefined {
  const { sourceId, key, url, record } = row
  return record === null
    ? undefined
    : { sourceId, key, url, title: record.page.title, ...createPageSignature(record.page) }
}

/** Whether the page of a row contains a text, ignoring the case of A to Z. */
export function holdsText({ record }: Row, text: string): boolean {
  return record !== null && lowerAscii(record.page.markdown).includes(lowerAscii(text))
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** The part of the page of a row around one of its chunks. */
export function toExcerpt(row: Row, chunkIndex: number): PageExcerpt | undefined {
  const text = toPageText(row)
  const plan = text && planExcerpt(readLayout(writeLayout(text, text.chunks)), chunkIndex)
  if (text === undefined || plan === undefined) return undefined
  const { offset, length, ...excerpt } = plan
  const bytes = new TextEncoder().encode(text.markdown).subarray(offset, offset + length)
  const { checkedAt, changedAt } = text
  return { checkedAt, changedAt, ...excerpt, markdown: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) }
}

/** The chunk with this id, or with the only id that has this prefix. */
export function findChunk(ledger: SourceLedger, id: string): StoredChunk | undefined {
  const chunks = ledger.rows().flatMap(listChunks)
  const found = chunks.filter(
    ({ chunk }) => chunk.id === id || (id.length >= SHORT_ID_LENGTH && chunk.id.startsWith(id)),
  )
  return new Set(found.map(({ chunk }) => chunk.id)).size === 1 ? found[0] : undefined
}

export function countContent(ledger: SourceLedger): { readonly pages: number; readonly chunks: number } {
  const rows = ledger.rows().filter((row) => row.hasPage)
  return { pages: rows.length, chunks: rows.flatMap(listChunks).length }
}

/** The size of all sources; bytes are those of the Markdown. */
export function computeStats(ledgers: readonly SourceLedger[]): StoreStats {
  const pages = ledgers.flatMap((ledger) => ledger.rows()).filter((row) => row.hasPage)
  const encoder = new TextEncoder()
  const sizes = pages.map(({ record }) => encoder.encode(record?.page.markdown).length)
  return {
    sources: ledgers.length,
    pages: pages.length,
    chunks: pages.flatMap(listChunks).length,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    changedAt: pages.reduce<number | null>((latest, { changedAt }) => laterOf(latest, changedAt), null),
  }
}

function laterOf(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}
