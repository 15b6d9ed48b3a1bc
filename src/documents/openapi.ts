import { parseDocument } from 'yaml'
import { slugify } from '../core/chunk/slug.ts'
import { isJsonObject } from '../core/json/is-json-object.ts'
import { writeNumber } from '../core/text/count.ts'
import { type Converter, DOCUMENT_LIMITS, DocumentError, type DocumentPart } from './document.ts'
import { Anchors, readText } from './markup.ts'
import { Description, type Fields, fieldsIn, listIn, textIn } from './openapi/fields.ts'
import { type Operation, titleOf, writeOperation, writeProse, writeSecurity } from './openapi/operation.ts'

/** Size limit of YAML, whose parser keeps many objects per line. */
const MAX_YAML = 5_000_000
/** Limit of YAML alias uses, because each stands for the whole anchored value. */
const MAX_ALIASES = 1000

/** Converts an OpenAPI description (2.0, 3.0, 3.1) to one page per operation, plus an introduction. */
export const convertOpenapi: Converter = (bytes) => {
  const description = new Description(parseDescription(readText(bytes)))
  const operations = listOperations(description)
  if (operations.length > DOCUMENT_LIMITS.pages)
    throw new DocumentError('too-large', `it has ${writeNumber(operations.length)} operations`)
  const names = new Anchors()
  const introduction = writeIntroduction(description, operations)
  const about = fieldsIn(description.root, 'info')
  const parts = [createPart(names.claim('introduction'), textIn(about, 'title') || 'Introduction', introduction)]
  let length = introduction.length
  for (const operation of operations) {
    const text = writeOperation(operation, description)
    length += text.length
    if (length > DOCUMENT_LIMITS.characters) throw new DocumentError('too-large', 'its operations are too long')
    parts.push(createPart(names.claim(nameOf(operation)), titleOf(operation), text))
  }
  return { type: 'parts', title: textIn(about, 'title') || null, parts }
}

function createPart(name: string, title: string, text: string): DocumentPart {
  return { name, title, author: null, language: null, modifiedAt: null, body: { form: 'markdown', text } }
}

function nameOf({ method, path, fields }: Operation): string {
  return slugify(textIn(fields, 'operationId').replace(/(?<=[a-z\d])(?=[A-Z])/g, '-') || `${method} ${path}`)
}

function parseDescription(text: string): Fields {
  const value = text.trimStart().startsWith('{') ? parseJson(text) : parseYaml(text)
  if (!isJsonObject(value) || (value['openapi'] === undefined && value['swagger'] === undefined))
    throw new DocumentError('damaged', 'it is not an OpenAPI description')
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new DocumentError('damaged', 'it is not valid JSON', { cause: error })
  }
}

function parseYaml(text: string): unknown {
  if (text.length > MAX_YAML)
    throw new DocumentError('too-large', `it is YAML of more than ${writeNumber(MAX_YAML)} characters`)
  if (isTooDeep(text)) throw new DocumentError('too-large', 'its values are nested too deeply')
  const document = parseDocument(text, { logLevel: 'silent', strict: false, uniqueKeys: false })
  const [error] = document.errors
  if (error !== undefined) throw new DocumentError('damaged', 'it is not valid YAML', { cause: error })
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (cause) {
    throw new DocumentError('too-large', 'its YAML aliases expand to too much data', { cause })
  }
}

/** Whether brackets are nested beyond the depth limit. Brackets in texts are mostly balanced, so they are counted too. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === '{' || bracket === '[' ? depth + 1 : Math.max(depth - 1, 0)
    if (depth > DOCUMENT_LIMITS.depth) return true
  }
  return false
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'])

function listOperations(description: Description): Operation[] {
  const operations: Operation[] = []
  for (const holder of ['paths', 'webhooks']) {
    for (const [path, value] of Object.entries(fieldsIn(description.root, holder))) {
      const item = description.resolve(value)
      for (const [method, fields] of Object.entries(item)) {
        if (METHODS.has(method) && isJsonObject(fields))
          operations.push({ method, path, fields, shared: listIn(item, 'parameters') })
      }
    }
  }
  return operations
}

/** Writes the introduction: description, servers, authentication and operations. */
function writeIntroduction({ root }: Description, operations: readonly Operation[]): string {
  const info = fieldsIn(root, 'info')
  const version = textIn(info, 'version') || String(info['version'] ?? '')
  const license = textIn(fieldsIn(info, 'license'), 'name')
  const parts = [
    `# ${textIn(info, 'title') || 'Introduction'}`,
    version === '' ? '' : `Version: ${version}`,
    writeProse(textIn(info, 'description') || textIn(info, 'summary')),
    license === '' ? '' : `License: ${license}`,
    writeServers(root),
    writeSchemes(root),
    writeSecurity(listIn(root, 'security')),
    writeTags(root),
    operations.length === 0 ? '' : `## Operations\n\n${operations.map(writeLine).join('\n')}`,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function writeLine({ method, path, fields }: Operation): string {
  const summary = textIn(fields, 'summary').replace(/\s+/g, ' ')
  return `- \`${method.toUpperCase()} ${path}\`${summary === '' ? '' : `: ${summary}`}`
}

function writeServers(root: Fields): string {
  const servers = listIn(root, 'servers').filter(isJsonObject)
  const lines = servers.map((server) => `- \`${textIn(server, 'url')}\` ${textIn(server, 'description')}`.trimEnd())
  // Version 2 stores scheme, host and path separately.
  const [scheme = 'https'] = listIn(root, 'schemes').filter((value) => typeof value === 'string')
  const host = textIn(root, 'host')
  if (host !== '') lines.push(`- \`${scheme}://${host}${textIn(root, 'basePath')}\``)
  return lines.length === 0 ? '' : `## Servers\n\n${lines.join('\n')}`
}

function writeSchemes(root: Fields): string {
  const schemes = {
    ...fieldsIn(root, 'securityDefinitions'),
    ...fieldsIn(fieldsIn(root, 'components'), 'securitySchemes'),
  }
  const lines = Object.entries(schemes).map(([name, value]) => {
    const scheme = isJsonObject(value) ? value : {}
    const facts = ['type', 'scheme', 'bearerFormat', 'in', 'name']
      .map((field) => textIn(scheme, field))
      .filter((fact) => fact !== '')
    const about = textIn(scheme, 'description').replace(/\s+/g, ' ')
    return `- \`${name}\` (${facts.join(', ')})${about === '' ? '' : `: ${about}`}`
  })
  return lines.length === 0 ? '' : `## Security schemes\n\n${lines.join('\n')}`
}

function writeTags(root: Fields): string {
  const lines = listIn(root, 'tags')
    .filter(isJsonObject)
    .map((tag) => ({ name: textIn(tag, 'name'), about: textIn(tag, 'description').replace(/\s+/g, ' ') }))
    .filter(({ about }) => about !== '')
    .map(({ name, about }) => `- ${name}: ${about}`)
  return lines.length === 0 ? '' : `## Tags\n\n${lines.join('\n')}`
}
