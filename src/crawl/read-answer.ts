import { mediumOf } from '../core/extract/media-type.ts'
import type { Extraction, Snapshot } from '../core/model.ts'
import { dropSlash } from '../core/url/key.ts'
import type { PageReading, ReadOptions, RenderOutcome } from './ports.ts'

/** What an answer is read with. */
export interface AnswerReader {
  /** Runs the scripts of a document. Without it, what is empty until they ran stays so. */
  readonly render?: ((snapshot: Snapshot) => Promise<RenderOutcome>) | undefined
  /** Whether that is done with every document, and not only where it holds nothing by itself. */
  readonly isAlways: boolean
  /** Whether it is known that the document holds nothing by itself, whatever it looks like. @default false */
  readonly isShell?: boolean
  /** Reads what came; a text says what is wrong with it. */
  readonly read: (snapshot: Snapshot, options?: ReadOptions) => Promise<PageReading | string>
  /** What an address is known by. */
  readonly keyOf: (url: string) => string | undefined
}

/** An answer that was read. */
export interface ReadPage extends PageReading {
  readonly type: 'read'
  /** Whether as a browser shows it. */
  readonly isRendered: boolean
  /** Whether that was needed: what came held nothing by itself. */
  readonly isShell: boolean
}

/** What an answer came to. */
export type ReadAnswer =
  | ReadPage
  | { readonly type: 'defect'; readonly detail: string }
  /** Its scripts lead to another address. */
  | { readonly type: 'moved'; readonly target: string }
  | Extract<RenderOutcome, { type: 'failed' }>

/**
 * Reads an answer: as it came, or as a browser shows it. What came is looked at even where it is rendered anyway, so that it is known
 * whether that was needed. Where there is no browser, what needs one says why there is none.
 */
export async function readAnswer(snapshot: Snapshot, reader: AnswerReader): Promise<ReadAnswer> {
  const render = mediumOf(snapshot).type === 'html' ? reader.render : undefined
  if (render !== undefined && reader.isShell === true) {
    return readRendered(await render(snapshot), snapshot, reader, true)
  }
  const plain = await reader.read(snapshot, { keepsBody: render !== undefined })
  const shell = typeof plain === 'string' ? undefined : findShell(plain)
  // A document has no scripts, whatever it looks like.
  const isDocument = typeof plain === 'object' && plain.format !== undefined
  if (render !== undefined && !isDocument && (shell !== undefined || reader.isAlways)) {
    const outcome = await render(snapshot)
    const isMissing = outcome.type === 'failed' && outcome.reason === 'needs-rendering'
    if (shell === undefined || !isMissing) return readRendered(outcome, snapshot, reader, shell !== undefined)
    return { type: 'read', ...AS_IT_CAME, extraction: { ...shell, detail: outcome.detail }, record: null }
  }
  return typeof plain === 'string' ? { type: 'defect', detail: plain } : { type: 'read', ...AS_IT_CAME, ...plain }
}

const AS_IT_CAME = { isRendered: false, isShell: false } as const

/** What says of a document that it holds nothing before its scripts have run. */
function findShell({ extraction }: PageReading): Extract<Extraction, { type: 'no-page' }> | undefined {
  return extraction.type === 'no-page' && extraction.reason === 'needs_rendering' ? extraction : undefined
}

async function readRendered(
  outcome: RenderOutcome,
  { url: asked }: Snapshot,
  { read, keyOf }: AnswerReader,
  isShell: boolean,
): Promise<ReadAnswer> {
  if (outcome.type === 'failed') return outcome
  const { url } = outcome.snapshot
  // Scripts that tidy up the address of a page do not lead to another.
  if (dropSlash(keyOf(url) ?? url) !== dropSlash(keyOf(asked) ?? asked)) return { type: 'moved', target: url }
  const reading = await read(outcome.snapshot)
  if (typeof reading === 'string') return { type: 'defect', detail: reading }
  return { type: 'read', isRendered: true, isShell, ...reading }
}
