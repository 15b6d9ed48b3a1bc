/** The text that has these code units, of which there are a few thousand at most. Without the iterator that spreading takes. */
export function writeUnits(units: Uint8Array | Uint16Array): string {
  return Reflect.apply(String.fromCharCode, null, units)
}
