import { detectBodyKind } from '../core/extract/media-type.ts'
import type { Extraction, Snapshot } from '../core/model.ts'
import { dropSlash } from '../core/url/key.ts'
import type { PageReading, ReadOptions, RenderOutcome } from './ports.ts'

/** Functions and settings for reading a response. */
export interface ReadResponseOptions {
  /** Runs the scripts of a document. Without it, a page that is empty before its scripts run stays empty. */
  readonly render?: ((snapshot: Snapshot) => Promise<RenderOutcome>) | undefined
  /** Whether every document is rendered, not only those that are empty without scripts. */
  readonly isAlwaysRendered: boolean
  /** Whether the document is known to be empty without scripts. @default false */
  readonly isShell?: boolean
  /** Reads a snapshot; a returned string describes what is wrong with it. */
  readonly read: (snapshot: Snapshot, options?: ReadOptions) => Promise<PageReading | string>
  /** Returns the key of an address. */
  readonly keyOf: (url: string) => string | undefined
}

/** A response that was read. */
export interface PageResponse extends PageReading {
  readonly type: 'read'
  /** Whether a browser rendered the response. */
  readonly isRendered: boolean
  /** Whether rendering was necessary, because the response was empty without it. */
  readonly isShell: boolean
}

/** Result of reading a response. */
export type ReadResponseResult =
  | PageResponse
  | { readonly type: 'defect'; readonly detail: string }
  /** The scripts of the response redirect to another address. */
  | { readonly type: 'moved'; readonly target: string }
  | Extract<RenderOutcome, { type: 'failed' }>

/**
 * Reads a response directly or as rendered by a browser. Also reads the original of a rendered page, to know whether rendering was
 * necessary. If a page needs a browser and none is available, the detail of the extraction says why.
 */
export async function readResponse(snapshot: Snapshot, reader: ReadResponseOptions): Promise<ReadResponseResult> {
  const render = detectBodyKind(snapshot).type === 'html' ? reader.render : undefined
  if (render !== undefined && reader.isShell === true) {
    return readRendered(await render(snapshot), snapshot, reader, true)
  }
  const plain = await reader.read(snapshot, { keepsBody: render !== undefined })
  const shell = typeof plain === 'string' ? undefined : findShell(plain)
  // A document such as a PDF has no scripts.
  const isDocument = typeof plain === 'object' && plain.format !== undefined
  if (render !== undefined && !isDocument && (shell !== undefined || reader.isAlwaysRendered)) {
    const outcome = await render(snapshot)
    const isBrowserMissing = outcome.type === 'failed' && outcome.reason === 'needs-rendering'
    if (shell === undefined || !isBrowserMissing) return readRendered(outcome, snapshot, reader, shell !== undefined)
    return { type: 'read', ...NOT_RENDERED, extraction: { ...shell, detail: outcome.detail }, record: null }
  }
  return typeof plain === 'string' ? { type: 'defect', detail: plain } : { type: 'read', ...NOT_RENDERED, ...plain }
}

const NOT_RENDERED = { isRendered: false, isShell: false } as const

/** Returns the extraction if a document is empty before its scripts run. */
function findShell({ extraction }: PageReading): Extract<Extraction, { type: 'no-page' }> | undefined {
  return extraction.type === 'no-page' && extraction.reason === 'needs_rendering' ? extraction : undefined
}

async function readRendered(
  outcome: RenderOutcome,
  { url: original }: Snapshot,
  { read, keyOf }: ReadResponseOptions,
  isShell: boolean,
): Promise<ReadResponseResult> {
  if (outcome.type === 'failed') return outcome
  const { url } = outcome.snapshot
  // Scripts that only tidy up the address of a page are no redirect.
  if (dropSlash(keyOf(url) ?? url) !== dropSlash(keyOf(original) ?? original)) return { type: 'moved', target: url }
  const reading = await read(outcome.snapshot)
  if (typeof reading === 'string') return { type: 'defect', detail: reading }
  return { type: 'read', isRendered: true, isShell, ...reading }
}
