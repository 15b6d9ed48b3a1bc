/** Converts code units, at most a few thousand, to text. A spread would be slower because of its iterator. */
export function writeUnits(units: Uint16Array): string {
  return Reflect.apply(String.fromCharCode, null, units)
}

const ONE_BYTE = new TextDecoder('windows-1252')

/**
 * Converts bytes to text, one character each; several times faster than `writeUnits`. The characters of bytes from 0x80 to 0x9f depend on
 * the runtime.
 */
export function bytesToText(bytes: Uint8Array): string {
  return ONE_BYTE.decode(bytes)
}
