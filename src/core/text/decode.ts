/** The decoded text, or the reason why decoding failed. */
export type Decoded = { readonly text: string } | { readonly problem: 'utf8' }

/** Decodes bytes: UTF-8, or UTF-16 with a byte order mark, which is dropped. Other bytes give a problem, never replacement characters. */
export function decodeText(bytes: Uint8Array): Decoded {
  const [first, second] = bytes
  const label =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  try {
    return { text: new TextDecoder(label, { fatal: true }).decode(bytes) }
  } catch (error) {
    // The decoder throws a TypeError for bytes that are not in the encoding.
    if (error instanceof TypeError) return { problem: 'utf8' }
    throw error
  }
}

/** Whether bytes of an unknown kind are not text: a NUL near the beginning, and no byte order mark of UTF-16. */
export function isBinary(bytes: Uint8Array): boolean {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return false
  return bytes.subarray(0, 8192).includes(0)
}
