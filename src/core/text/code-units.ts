/** The text with these code units, a few thousand at most, without the iterator of a spread. */
export function writeUnits(units: Uint8Array | Uint16Array): string {
  return Reflect.apply(String.fromCharCode, null, units)
}
