/** A host with at least one dot, `localhost` or an IP address, then an optional port and path. The last label of a name has a letter. */
const BARE_ADDRESS =
  /^(?<host>localhost|\[[\da-f:.]+\]|(?:\d{1,3}\.){3}\d{1,3}|(?:[\p{L}\d_-]+\.)+(?=[\d-]*\p{L})[\p{L}\d-]+)(?::\d{1,5})?(?=[/?#]|$)/iu

/** Names such as `notes.md`, which more likely mean a missing file than a host. */
const FILE_NAME = /^[^./]+\.(?:csv|docx|epub|gz|html?|json|markdown|md|odt|pdf|pptx|rst|tar|tgz|txt|xlsx|zip)$/i

/** Loopback hosts, which rarely have a certificate. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/i

/**
 * Completes an address that a user typed without its scheme: https, or http for loopback hosts. Markup around the address is removed.
 * Returns any other text unchanged, including file names.
 */
export function withScheme(text: string): string {
  const address = unwrapAddress(text)
  const host = findBareHost(address)
  return host === undefined ? address : `${LOOPBACK.test(host) ? 'http' : 'https'}://${address}`
}

function findBareHost(text: string): string | undefined {
  return FILE_NAME.test(text) ? undefined : BARE_ADDRESS.exec(text)?.groups?.['host']
}

/** `[title](address)`, and an address in brackets, quotes or backticks. */
const WRAPPED =
  /^(?:\[[^\]]*\]\(\s*<?|[<(]|["'`“‘«])(?<inner>\S+?)(?:>?\s*(?:\s["'][^"']*["'])?\)|>|["'`”’»])(?=[.,;:!?]*$)/u

/**
 * Takes an address out of what surrounds it in a chat or document: the markup of a link, quotes, and punctuation after it. Returns any
 * other text unchanged.
 */
export function unwrapAddress(text: string): string {
  const inner = WRAPPED.exec(text.trim())?.groups?.['inner'] ?? text
  const address = inner.trim()
  if (!/^https?:\/\//i.test(address) && findBareHost(address) === undefined) return inner
  return dropPunctuation(address)
}

/** Removes punctuation after an address. A closing bracket stays if the address has an opening one, as in `/wiki/Lamp_(film)`. */
function dropPunctuation(address: string): string {
  const [last = ''] = /[.,;:!?'"’”»)\]}>*]$/u.exec(address) ?? []
  const opening = BRACKETS[last]
  const count = (mark: string) => address.split(mark).length
  const isPaired = opening !== undefined && count(opening) >= count(last)
  return last === '' || isPaired ? address : dropPunctuation(address.slice(0, -1))
}

const BRACKETS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{', '>': '<' }
