/** A host with a dot and a path, as users type an address without its scheme: `docs.example/guide` */
export const ADDRESS_WITHOUT_SCHEME: RegExp = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?\//

/** The start of an address of this machine, whose servers seldom speak TLS. */
export const LOOPBACK_WITHOUT_SCHEME: RegExp = /^(?:localhost|127(?:\.\d+){3})(?::\d+)?\//

/**
 * Tells a typed address from words: `https://docs.example/`, `docs.example/guide`, `/folder/file.md`, `npm:react`, `git@host:owner/name`. A
 * colon alone makes no address, because words such as `std::vector` and `node:fs` have one too.
 */
export const TYPED_ADDRESS: RegExp =
  /^(?:[a-z][a-z\d+.-]*:\/\/\S|(?:pkg|npm|pypi|crates|cargo|maven|golang):\S|git@\S|\/\S|(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?\/)\S*$/i

/** A typed address with its scheme. */
export function completeAddress(text: string): string {
  if (!ADDRESS_WITHOUT_SCHEME.test(text)) return text
  return `${LOOPBACK_WITHOUT_SCHEME.test(text) ? 'http' : 'https'}://${text}`
}
