/** The fields that have a value. */
export function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  // Removing undefined values does not change the types of the remaining fields.
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
