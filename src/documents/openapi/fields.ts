import { isJsonObject } from '../../core/json/is-json-object.ts'
import { decodePart } from '../../core/url/decode-part.ts'

/* Access to unvalidated values of a description. */

export type Fields = Readonly<Record<string, unknown>>

export function fieldsIn(fields: Fields, name: string): Fields {
  const value = fields[name]
  return isJsonObject(value) ? value : {}
}

export function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name]
  return Array.isArray(value) ? value : []
}

export function textIn(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value.trim() : ''
}

/** Limit of references that lead to another reference. */
const MAX_STEPS = 20

/** A description, in which `$ref` may refer to any other part. References to other files are never opened. */
export class Description {
  readonly root: Fields

  constructor(root: Fields) {
    this.root = root
  }

  /** A value, or the part of the description that it refers to. */
  resolve(value: unknown): Fields {
    let current: unknown = value
    for (let steps = 0; steps < MAX_STEPS && isJsonObject(current) && typeof current['$ref'] === 'string'; steps++) {
      const target = this.#find(current['$ref'])
      // Properties next to a reference override those of its target.
      const { $ref, ...siblings } = current
      if (target === undefined)
        return { ...siblings, description: textIn(current, 'description') || `See \`${String($ref)}\`.` }
      current = Object.keys(siblings).length === 0 || !isJsonObject(target) ? target : { ...target, ...siblings }
    }
    return isJsonObject(current) ? current : {}
  }

  #find(reference: string): unknown {
    if (!reference.startsWith('#/')) return undefined
    let current: unknown = this.root
    for (const part of reference.slice(2).split('/')) {
      const name = decodePart(part).replaceAll('~1', '/').replaceAll('~0', '~')
      if (Array.isArray(current)) current = current[Number(name)]
      else if (isJsonObject(current) && Object.hasOwn(current, name)) current = current[name]
      else return undefined
    }
    return current
  }
}

/** The last segment of a reference: `#/components/schemas/Pet` → Pet. */
export function nameOf(value: unknown): string {
  const reference = isJsonObject(value) && typeof value['$ref'] === 'string' ? value['$ref'] : ''
  return reference.slice(reference.lastIndexOf('/') + 1)
}

const MAX_VALUES = 2000

/** A value as JSON; '' when it would be too long, because a short description can refer to one value many times. */
export function boundedJson(value: unknown, indent = 0): string {
  let remaining = MAX_VALUES
  const isSmall = (item: unknown): boolean => {
    remaining--
    if (remaining < 0) return false
    return typeof item !== 'object' || item === null || Object.values(item).every(isSmall)
  }
  return isSmall(value) ? (JSON.stringify(value, null, indent) ?? '') : ''
}
