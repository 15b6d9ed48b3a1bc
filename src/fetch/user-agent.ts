/** `Pharos/1.2.3 (+https://example.org/bot)`; without a contact URL only the name and version. */
export function writeUserAgent(version: string, contactUrl?: string): string {
  return contactUrl === undefined ? `Pharos/${version}` : `Pharos/${version} (+${contactUrl})`
}
