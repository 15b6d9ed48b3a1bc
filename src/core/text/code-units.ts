/** Converts code units, at most a few thousand, to text. A spread would be slower because of its iterator. */
export function writeUnits(units: Uint8Array | Uint16Array): string {
  return Reflect.apply(String.fromCharCode, null, units)
}
