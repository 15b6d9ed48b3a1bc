/** A UUID from the first 16 bytes of a hexadecimal hash, with unchanged bits: the same text always gets the same UUID. */
export function uuidFromHash(hash: string): string {
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join('-')
}
