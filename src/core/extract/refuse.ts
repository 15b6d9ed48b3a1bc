import { type Element, holdsText } from '../html/tree.ts'
import type { NoPageReason, Snapshot } from '../model.ts'
import { isFileUrl } from '../url/file-url.ts'
import type { Metadata } from './metadata.ts'
import { findAppShell } from './refuse/app-shell.ts'
import { findChallenge } from './refuse/challenge.ts'
import { findLogin } from './refuse/login.ts'
import { gatherSignals } from './refuse/page-signals.ts'
import { findRedirect } from './refuse/redirect.ts'
import { findSoft404 } from './refuse/soft-404.ts'

/** Why a document is not a page. */
export interface Refusal {
  readonly reason: NoPageReason
  readonly detail: string
  readonly target: string | null
}

/** A longer document is refused only if its status is an error. */
const MAX_REFUSABLE_CHARS = 3000

/**
 * Returns the reason why a document is not a page, or undefined. `content` holds the elements chosen as its content. `isDocument` says
 * that the HTML was converted from a document. In doubt the document is accepted: an article about captchas or missing pages has the same
 * words, but more of them.
 */
export function findRefusal(
  snapshot: Snapshot,
  root: Element,
  content: readonly Element[],
  metadata: Metadata,
  base: string,
  isDocument = false,
): Refusal | undefined {
  if ((snapshot.status ?? 200) < 400 && content.some((element) => holdsText(element, MAX_REFUSABLE_CHARS)))
    return undefined
  const signals = gatherSignals(snapshot, root, content, metadata)
  const createRefusal = (reason: NoPageReason, detail: string | undefined, target: string | null = null) =>
    detail === undefined ? undefined : { reason, detail, target }
  const redirect = isDocument ? undefined : findRedirect(signals, base)
  const mayBeErrorPage = !isDocument && isServerResponse(snapshot)
  return (
    (mayBeErrorPage ? createRefusal('challenge', findChallenge(signals)) : undefined) ??
    createRefusal('redirect', redirect?.detail, redirect?.target) ??
    (mayBeErrorPage ? createRefusal('login', findLogin(signals)) : undefined) ??
    (mayBeErrorPage ? createRefusal('soft_404', findSoft404(signals)) : undefined) ??
    createRefusal('needs_rendering', findAppShell(signals)) ??
    createRefusal('empty', signals.contentLength === 0 && !signals.hasPicture ? 'no text' : undefined)
  )
}

/**
 * Whether the snapshot is a server's response. A server may send a login or an error in place of the page; a file is always the document
 * itself.
 */
export function isServerResponse({ isFile, url }: Snapshot): boolean {
  return isFile !== true && !isFileUrl(url)
}
