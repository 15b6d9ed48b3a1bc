/** `Pharos/1.2.3 (+https://example.org/bot)`, or without an address where there is none. */
export function writeUserAgent(version: string, contactUrl?: string): string {
  return contactUrl === undefined ? `Pharos/${version}` : `Pharos/${version} (+${contactUrl})`
}
