import { isJsonObject } from '../../core/json/is-json-object.ts'
import { closeFences, FenceReader } from '../../core/markdown/fences.ts'
import { clipText, splitLines } from '../../core/text/lines.ts'
import { writeCellText, writeFence } from '../markdown-text.ts'
import { boundedJson, type Description, type Fields, fieldsIn, listIn, textIn } from './fields.ts'
import { SchemaWriter } from './schema.ts'

/** One operation of an API. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly fields: Fields
  /** Parameters shared by all operations of the path. */
  readonly shared: readonly unknown[]
}

const MAX_EXAMPLE = 5000
const MAX_PARAMETERS = 500
const MAX_RESPONSES = 100

/** Writes an operation as Markdown. */
export function writeOperation(operation: Operation, description: Description): string {
  const { method, path, fields } = operation
  const writer = new SchemaWriter(description)
  const id = textIn(fields, 'operationId')
  const tags = listIn(fields, 'tags').filter((tag) => typeof tag === 'string')
  const parameters = listParameters(operation, description)
  const parts = [
    `# ${titleOf(operation)}`,
    `\`${method.toUpperCase()} ${path}\``,
    fields['deprecated'] === true ? '> [!WARNING]\n> This operation is deprecated.' : '',
    writeProse(textIn(fields, 'description')),
    id === '' ? '' : `Operation: \`${id}\``,
    tags.length === 0 ? '' : `Tags: ${tags.join(', ')}`,
    writeParameters(parameters, writer),
    writeBody(fields, parameters, description, writer),
    writeResponses(fields, description, writer),
    writeSecurity(listIn(fields, 'security')),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** The title of an operation: its summary, its id, or its method and path. */
export function titleOf({ method, path, fields }: Operation): string {
  const summary = textIn(fields, 'summary').replace(/\s+/g, ' ')
  return summary || textIn(fields, 'operationId') || `${method.toUpperCase()} ${path}`
}

/** The author's Markdown, with its headings below those of the page. */
export function writeProse(text: string): string {
  const fences = new FenceReader()
  const lines = splitLines(text).map((line) => {
    return fences.read(line) === undefined && /^#{1,6} /.test(line)
      ? `${'#'.repeat(Math.min(line.indexOf(' ') + 2, 6))}${line.slice(line.indexOf(' '))}`
      : line
  })
  return closeFences(lines.join('\n'))
}

function listParameters({ fields, shared }: Operation, description: Description): Fields[] {
  const all = new Map<string, Fields>()
  for (const value of [...shared, ...listIn(fields, 'parameters')].slice(0, MAX_PARAMETERS)) {
    const parameter = description.resolve(value)
    all.set(`${textIn(parameter, 'in')} ${textIn(parameter, 'name')}`, parameter)
  }
  return [...all.values()]
}

function writeParameters(parameters: readonly Fields[], writer: SchemaWriter): string {
  // In version 2 the body and the form fields are parameters too.
  const rows = parameters
    .filter((parameter) => parameter['in'] !== 'body' && parameter['in'] !== 'formData')
    .map((parameter) => writeParameter(parameter, writer))
  if (rows.length === 0) return ''
  return [
    '## Parameters',
    '',
    '| Name | In | Type | Required | Description |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

function writeParameter(parameter: Fields, writer: SchemaWriter): string {
  const schema = parameter['schema'] ?? firstSchema(parameter) ?? parameter
  const about = [textIn(parameter, 'description'), writer.detailsOf(schema)].filter((part) => part !== '').join(' ')
  const cells = [
    `\`${textIn(parameter, 'name')}\``,
    textIn(parameter, 'in'),
    writer.typeOf(schema),
    parameter['required'] === true ? 'yes' : 'no',
    about,
  ]
  return `| ${cells.map(writeCellText).join(' | ')} |`
}

function firstSchema(fields: Fields): unknown {
  const [media] = Object.values(fieldsIn(fields, 'content'))
  return isJsonObject(media) ? media['schema'] : undefined
}

function writeBody(
  fields: Fields,
  parameters: readonly Fields[],
  description: Description,
  writer: SchemaWriter,
): string {
  const body = description.resolve(fields['requestBody'])
  const bodyParameter = parameters.find((parameter) => parameter['in'] === 'body')
  const form = parameters.filter((parameter) => parameter['in'] === 'formData')
  const parts: string[] = []
  if (fields['requestBody'] !== undefined) {
    parts.push(
      textIn(body, 'description'),
      body['required'] === true ? 'Required.' : '',
      writeContent(body, description, writer),
    )
  } else if (bodyParameter !== undefined) {
    parts.push(
      textIn(bodyParameter, 'description'),
      bodyParameter['required'] === true ? 'Required.' : '',
      writer.write(bodyParameter['schema']),
    )
  } else if (form.length > 0) {
    const rows = form.map((parameter) => writeParameter(parameter, writer))
    parts.push(['| Name | In | Type | Required | Description |', '| --- | --- | --- | --- | --- |', ...rows].join('\n'))
  }
  const filledParts = parts.filter((part) => part !== '')
  return filledParts.length === 0 ? '' : ['## Request body', ...filledParts].join('\n\n')
}

function writeContent(holder: Fields, description: Description, writer: SchemaWriter): string {
  const parts: string[] = []
  for (const [type, value] of Object.entries(fieldsIn(holder, 'content'))) {
    const media = description.resolve(value)
    parts.push(
      `Content type: \`${type.replaceAll('`', '')}\``,
      writer.write(media['schema']),
      writeExample(media, description),
    )
  }
  return parts.filter((part) => part !== '').join('\n\n')
}

function writeExample(media: Fields, description: Description): string {
  const [first] = Object.values(fieldsIn(media, 'examples'))
  const value = media['example'] ?? (first === undefined ? undefined : description.resolve(first)['value'])
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : boundedJson(value, 2)
  return text === ''
    ? ''
    : `Example:\n\n${writeFence(clipText(text, MAX_EXAMPLE), typeof value === 'string' ? '' : 'json')}`
}

function writeResponses(fields: Fields, description: Description, writer: SchemaWriter): string {
  const parts: string[] = []
  for (const [status, value] of Object.entries(fieldsIn(fields, 'responses')).slice(0, MAX_RESPONSES)) {
    const response = description.resolve(value)
    parts.push(
      `### ${status}`,
      writeProse(textIn(response, 'description')),
      writeContent(response, description, writer),
    )
    if (response['schema'] !== undefined) parts.push(writer.write(response['schema']))
    const headers = Object.entries(fieldsIn(response, 'headers')).map(([name, header]) => {
      const about = textIn(description.resolve(header), 'description').replace(/\s+/g, ' ')
      return `- \`${name}\`${about === '' ? '' : `: ${about}`}`
    })
    if (headers.length > 0) parts.push('Headers:', headers.join('\n'))
  }
  const filledParts = parts.filter((part) => part !== '')
  return filledParts.length === 0 ? '' : ['## Responses', ...filledParts].join('\n\n')
}

/** The authentication schemes that an operation requires. */
export function writeSecurity(requirements: readonly unknown[]): string {
  const alternatives = requirements.filter(isJsonObject).map((requirement) =>
    Object.entries(requirement)
      .map(
        ([name, scopes]) => `\`${name}\`${Array.isArray(scopes) && scopes.length > 0 ? ` (${scopes.join(', ')})` : ''}`,
      )
      .join(' and '),
  )
  const filled = alternatives.filter((alternative) => alternative !== '')
  return filled.length === 0 ? '' : `Security: ${filled.join(' or ')}`
}
