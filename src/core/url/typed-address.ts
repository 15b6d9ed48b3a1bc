/** A host with a dot and a path, as users type an address without its scheme: `docs.example/guide` */
export const ADDRESS_WITHOUT_SCHEME: RegExp = /^[\w-]+(?:\.[\w-]+)+(?::\d+)?\//

/**
 * Tells a typed address from words: `https://docs.example/`, `docs.example/guide`, `/folder/file.md`, `npm:react`, `git@host:owner/name`. A
 * colon alone makes no address, because words such as `std::vector` and `node:fs` have one too.
 */
export const TYPED_ADDRESS: RegExp =
  /^(?:[a-z][a-z\d+.-]*:\/\/\S|(?:pkg|npm|pypi|crates|cargo|maven|golang):\S|git@\S|\/\S|[\w-]+(?:\.[\w-]+)+(?::\d+)?\/)\S*$/i
