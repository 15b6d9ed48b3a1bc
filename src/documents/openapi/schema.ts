import { isJsonObject } from '../../core/json/is-json-object.ts'
import { clipText } from '../../core/text/lines.ts'
import { writeCellText } from '../markdown-text.ts'
import { boundedJson, type Description, type Fields, fieldsIn, listIn, nameOf, textIn } from './fields.ts'

/** Nesting depth of schemas that are written out; deeper schemas are only named. */
const MAX_DEPTH = 6
/** Line limit of one schema. */
const MAX_LINES = 500
const MAX_TEXT = 1000
const MAX_VALUES = 50
/** Limit of schemas visited per operation, because a short description can expand to very many. */
const MAX_VISITS = 20_000
/** Nesting limit of composed schemas. */
const MAX_NESTING = 50

/** Writes schemas as nested lists. A recursive schema is only named when it occurs again. */
export class SchemaWriter {
  readonly #description: Description
  readonly #lines: string[] = []
  readonly #openSchemas = new Set<unknown>()
  #visits = 0

  constructor(description: Description) {
    this.#description = description
  }

  #resolve(value: unknown): Fields {
    return ++this.#visits > MAX_VISITS ? {} : this.#description.resolve(value)
  }

  write(value: unknown): string {
    const schema = this.#resolve(value)
    const head = this.typeOf(value)
    const about = [head === '' ? '' : `Type: ${head}`, oneLine(textIn(schema, 'description'))].filter(
      (part) => part !== '',
    )
    this.#lines.length = 0
    this.#addMembers(schema, 0)
    const list = this.#lines.length >= MAX_LINES ? [...this.#lines, '- …'] : this.#lines
    return [about.join('. '), list.join('\n')].filter((part) => part !== '').join('\n\n')
  }

  /** The type of a value in words: `array of Pet`, `string (date-time)`. */
  typeOf(value: unknown, depth = 0): string {
    if (this.#visits > MAX_VISITS) return ''
    const name = nameOf(value)
    const schema = this.#resolve(value)
    const type = schema['type']
    const types = Array.isArray(type)
      ? type.map(String).slice(0, MAX_VALUES).join(' or ')
      : typeof type === 'string'
        ? type
        : ''
    if (types === 'array' && depth < MAX_DEPTH) return `array of ${this.typeOf(schema['items'], depth + 1) || 'any'}`
    if (name !== '') return `\`${name}\``
    const choices = [...listIn(schema, 'oneOf'), ...listIn(schema, 'anyOf')]
    if (types === '' && choices.length > 0 && depth < MAX_DEPTH) {
      const words = choices.slice(0, MAX_VALUES).map((choice) => this.typeOf(choice, depth + 1) || 'object')
      return [...new Set(words)].join(' or ')
    }
    const format = textIn(schema, 'format')
    const typeName = types || (isJsonObject(schema['properties']) || schema['allOf'] !== undefined ? 'object' : '')
    return format === '' ? typeName : `${typeName} (${format})`
  }

  /** Constraints, values and default of a schema. */
  detailsOf(value: unknown): string {
    const schema = this.#resolve(value)
    const values = listIn(schema, 'enum')
      .slice(0, MAX_VALUES)
      .map((item) => `\`${plain(item)}\``)
    const parts = [
      values.length === 0 ? '' : `One of ${values.join(', ')}.`,
      schema['default'] === undefined ? '' : `Default: \`${plain(schema['default'])}\`.`,
      ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern'].map((name) =>
        schema[name] === undefined ? '' : `${name}: \`${plain(schema[name])}\`.`,
      ),
    ]
    return parts.filter((part) => part !== '').join(' ')
  }

  #addMembers(schema: Fields, depth: number, nesting = 0): void {
    if (this.#openSchemas.has(schema) || depth >= MAX_DEPTH || nesting >= MAX_NESTING) return
    if (this.#visits > MAX_VISITS || this.#lines.length >= MAX_LINES) return
    this.#openSchemas.add(schema)
    for (const part of listIn(schema, 'allOf')) this.#addMembers(this.#resolve(part), depth, nesting + 1)
    const required = new Set(listIn(schema, 'required'))
    for (const [name, value] of Object.entries(fieldsIn(schema, 'properties'))) {
      this.#add(depth, `\`${name}\``, value, required.has(name))
    }
    if (isJsonObject(schema['additionalProperties']))
      this.#add(depth, 'any other key', schema['additionalProperties'], false)
    if (schema['items'] !== undefined) this.#addMembers(this.#resolve(schema['items']), depth, nesting + 1)
    for (const choice of [...listIn(schema, 'oneOf'), ...listIn(schema, 'anyOf')]) {
      const resolved = this.#resolve(choice)
      if (isJsonObject(resolved['properties']) || resolved['allOf'] !== undefined) this.#add(depth, 'or', choice, false)
    }
    this.#openSchemas.delete(schema)
  }

  #add(depth: number, name: string, value: unknown, isRequired: boolean): void {
    if (this.#lines.length >= MAX_LINES) return
    const schema = this.#resolve(value)
    const type = this.typeOf(value)
    const facts = [type, isRequired ? 'required' : '', schema['deprecated'] === true ? 'deprecated' : ''].filter(
      (fact) => fact !== '',
    )
    const about = [oneLine(textIn(schema, 'description')), this.detailsOf(value)]
      .filter((part) => part !== '')
      .join(' ')
    const head = facts.length === 0 ? name : `${name} (${facts.join(', ')})`
    this.#lines.push(`${'  '.repeat(depth)}- ${head}${about === '' ? '' : `: ${about}`}`)
    this.#addMembers(schema, depth + 1)
  }
}

/** A text on one line. */
export function oneLine(text: string): string {
  return clipText(text.replace(/\s+/g, ' ').trim(), MAX_TEXT)
}

function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : boundedJson(value)
  return writeCellText(clipText(text, 200)).replaceAll('`', "'")
}
