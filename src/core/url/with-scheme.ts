/** A host with at least one dot, `localhost` or an IP address, then an optional port and path. The last label of a name has a letter. */
const BARE_ADDRESS =
  /^(?<host>localhost|\[[\da-f:.]+\]|(?:\d{1,3}\.){3}\d{1,3}|(?:[\p{L}\d_-]+\.)+[\p{L}\d-]*\p{L}[\p{L}\d-]*)(?::\d{1,5})?(?=[/?#]|$)/iu

/** Names such as `notes.md`, which more likely mean a missing file than a host. */
const FILE_NAME = /^[^./]+\.(?:csv|docx|epub|gz|html?|json|markdown|md|odt|pdf|pptx|rst|tar|tgz|txt|xlsx|zip)$/i

/** Loopback hosts, which rarely have a certificate. */
const LOOPBACK = /^(?:(?:.+\.)?localhost|127\.[\d.]+|\[::1\])$/i

/**
 * Completes an address that a user typed without its scheme: https, or http for loopback hosts. Returns any other text unchanged, including
 * file names.
 */
export function withScheme(text: string): string {
  const host = FILE_NAME.test(text) ? undefined : BARE_ADDRESS.exec(text)?.groups?.['host']
  if (host === undefined) return text
  return `${LOOPBACK.test(host) ? 'http' : 'https'}://${text}`
}
