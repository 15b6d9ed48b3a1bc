import { isJsonObject } from './is-json-object.ts'

/* Reads unknown data. Only own fields count, so that names such as `__proto__` and `constructor` are plain keys. */

/** The field of an object; undefined if there is no such field or no object. */
export function fieldOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The field of an object, if it is a string. */
export function textOf(value: unknown, key: string): string | undefined {
  const field = fieldOf(value, key)
  return typeof field === 'string' ? field : undefined
}

/** The fields of an object; none if it is no object. */
export function entriesOf(value: unknown): [key: string, value: unknown][] {
  return isJsonObject(value) ? Object.entries(value) : []
}

/** The fields of an object whose values are strings, such as names with ranges. */
export function textEntriesOf(value: unknown): [key: string, value: string][] {
  return entriesOf(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
}

/** The elements of a list; none if it is no list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The strings of a list. */
export function textsOf(value: unknown): string[] {
  return listOf(value).filter((one) => typeof one === 'string')
}
