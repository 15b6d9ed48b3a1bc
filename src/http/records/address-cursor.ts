import { PharosError } from '../../core/errors.ts'
import type { AddressCursor } from '../../library/ports/addresses.ts'

/** Writes the cursor at which the next page of an address list starts: base64 of `{"ts", "url", "id"}`. */
export function writeAddressCursor({ at, url, id }: AddressCursor): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ ts: at, url, id }))
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

/** Parses an address cursor. Also accepts one without `id`, with `ts` in ISO 8601, or in URL-safe base64. */
export function parseAddressCursor(text: string): AddressCursor {
  const cursor = readCursor(text)
  if (cursor !== undefined) return cursor
  throw new PharosError('CURSOR_INVALID', { cursor: text.slice(0, 100), problem: 'it does not come from this list' })
}

function readCursor(text: string): AddressCursor | undefined {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/').replaceAll(' ', '+'))
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0))
    const { ts, url, id } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) ?? {}
    const at = typeof ts === 'string' ? Date.parse(ts) : ts
    if (typeof url !== 'string' || !Number.isSafeInteger(at)) return undefined
    return { at, url, ...(Number.isSafeInteger(id) ? { id } : {}) }
  } catch {
    return undefined
  }
}
