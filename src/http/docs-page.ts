import { html } from 'hono/html'
import { isJsonObject } from '../core/json/is-json-object.ts'
import type { OpenApiDocument, Operation, Parameter } from './openapi.ts'
import { renderPage } from './pages/layout.ts'
import type { Html } from './pages/parts.ts'

/** Renders the OpenAPI description as a self-contained page. */
export async function renderDocs({ tags, paths, info }: OpenApiDocument): Promise<string> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const groups = tags.map(({ name }) => ({
    name,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }))
  const page = renderPage({
    title: 'HTTP API',
    section: 'API',
    body: html`<p>${info.description} For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1), version ${info.version}.</p>
<p>Errors are <code>{"error", "code", "id", "advice", "field"}</code>; advice and field are optional. The server log has the details under the id. If a token is set, send it as <code>Authorization: Bearer …</code>.</p>
<nav class="panel" aria-label="Groups"><ul class="outline">${groups.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>`)}</ul></nav>
${groups.map(
  ({ name, operations: operationsOfGroup }) =>
    html`<h2 id="${name}">${name}</h2>${operationsOfGroup.map(({ method, path, operation }) => renderOperation(method, path, operation))}`,
)}`,
  })
  return String(await page)
}

function renderOperation(method: string, path: string, operation: Operation): Html {
  const { operationId, summary, parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json']?.schema
  return html`<details class="panel" id="${operationId}"><summary><span class="pill pill-${METHOD_TONES[method] ?? 'quiet'}">${method}</span> <code>${path}</code> <span>${writeCodes(summary)}</span></summary>
${parameters.length === 0 ? '' : renderParameters(parameters)}
${body === undefined ? '' : renderBody(method, path, body)}
${isTryable(method, path) ? renderTry(method, path, parameters, body) : ''}
<h3>Responses</h3>
<dl class="facts">${Object.entries(responses).map(
    ([status, { description, content }]) =>
      html`<dt><code>${status}</code></dt><dd>${description}${Object.entries(content ?? {}).map(
        ([type, { schema }]) =>
          html` <small class="quiet">${type}</small>${schema === undefined || Number(status) >= 400 ? '' : html`<details><summary>Shape</summary><pre class="mono" tabindex="0">${JSON.stringify(schema, null, 2)}</pre></details>`}`,
      )}</dd>`,
  )}</dl></details>`
}

/** A text in which parts between backticks are code. */
function writeCodes(text: string): readonly Html[] {
  return text.split('`').map((part, i) => (i % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))
}

/** Colors of methods: reading, changing and removing differ at a glance. */
const METHOD_TONES: Readonly<Record<string, string>> = { GET: 'info', POST: 'good', DELETE: 'bad' }

/** Whether the page offers to send a request. Streams do not end, and removing something takes more than a click. */
function isTryable(method: string, path: string): boolean {
  return method !== 'DELETE' && path !== '/events' && path !== '/mcp' && path !== '/login' && path !== '/logout'
}

/** A form that the script shows and sends. */
function renderTry(method: string, path: string, parameters: readonly Parameter[], body: Schema | undefined): Html {
  return html`<form class="try" data-try="${path}" data-method="${method}" hidden><h3>Try it</h3><div class="filters">${parameters.map(
    ({ name, in: place, required }) =>
      html`<label>${name}${required ? ' *' : ''}<input type="text" name="${name}" data-in="${place}"${required ? html` required` : ''} autocomplete="off"></label>`,
  )}${body === undefined ? '' : html`<label class="try-body">Body<textarea name="body" rows="4" spellcheck="false">${JSON.stringify(createExample('', body), null, 2)}</textarea></label>`}<button type="submit">Send</button></div>
<p class="quiet small" role="status" data-answer-status></p><pre class="mono" data-answer hidden tabindex="0" aria-label="Answer"></pre></form>`
}

function renderParameters(parameters: readonly Parameter[]): Html {
  return html`<div class="box" tabindex="0"><table><thead><tr><th scope="col">Parameter</th><th scope="col">In</th><th scope="col">Takes</th><th scope="col">Meaning</th></tr></thead>
<tbody>${parameters.map(
    ({ name, in: place, required, description, schema }) =>
      html`<tr><td><code>${name}</code>${required ? ' *' : ''}</td><td>${place}</td><td><code>${writeSchema(schema)}</code></td><td>${description ?? ''}</td></tr>`,
  )}</tbody></table></div>`
}

type Schema = Readonly<Record<string, unknown>>

/** A field of a request body, with the names of its parent fields. */
interface Field {
  readonly name: string
  readonly isRequired: boolean
  readonly schema: Schema
}

function renderBody(method: string, path: string, body: Schema): Html {
  const fields = listFields(body, '')
  return html`<h3>Body</h3>
<div class="box" tabindex="0"><table><thead><tr><th scope="col">Field</th><th scope="col">Takes</th><th scope="col">Meaning</th></tr></thead>
<tbody>${fields.map(
    ({ name, isRequired, schema }) =>
      html`<tr><td><code>${name}</code>${isRequired ? ' *' : ''}</td><td><code>${writeSchema(schema)}</code></td><td>${schema['description'] ?? ''}</td></tr>`,
  )}</tbody></table></div>
<pre class="mono" tabindex="0">${writeExample(method, path, body)}</pre>`
}

function listFields({ properties, required }: Schema, prefix: string): Field[] {
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (!isJsonObject(schema)) return []
    const isRequired = Array.isArray(required) && required.includes(name)
    return [{ name: prefix + name, isRequired, schema }, ...listFields(schema, `${prefix}${name}.`)]
  })
}

/** A value that a schema accepts, with all required fields. */
export function createExample(name: string, schema: Schema): unknown {
  const { type, examples, enum: words, properties, required, items, minimum } = schema
  if (Array.isArray(examples)) return examples[0]
  if (Array.isArray(words)) return words[0]
  if (type === 'array') return isJsonObject(items) ? [createExample(name, items)] : []
  if (type === 'integer' || type === 'number') return minimum ?? 1
  if (type === 'boolean') return false
  if (type !== 'object') return /url/i.test(name) ? 'https://docs.example/' : 'docs'
  const fields = isJsonObject(properties) && Array.isArray(required) ? required.map(String) : []
  return Object.fromEntries(
    fields.flatMap((field) => {
      const described = isJsonObject(properties) ? properties[field] : undefined
      return isJsonObject(described) ? [[field, createExample(field, described)]] : []
    }),
  )
}

/** A curl command for the route, with all required fields. */
function writeExample(method: string, path: string, schema: Schema): string {
  const body = createExample('', schema)
  const address = `http://127.0.0.1:41000${path.replaceAll(/\{(\w+)\}/g, '<$1>')}`
  return `curl -X ${method} '${address}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
}

/** Describes in a few words which values a parameter accepts. */
function writeSchema({ type, enum: words, minimum, maximum, default: defaultValue, anyOf, items }: Schema): string {
  // With several accepted forms, the first one is preferred.
  if (Array.isArray(anyOf) && isJsonObject(anyOf[0])) return writeSchema(anyOf[0])
  const kind = Array.isArray(words)
    ? words.length > 12
      ? `one of ${words.length} words`
      : words.join(' | ')
    : isJsonObject(items)
      ? `list of ${writeSchema(items)}`
      : String(type ?? 'any')
  const range =
    minimum === undefined && maximum === undefined ? '' : ` ${String(minimum ?? '')}…${String(maximum ?? '')}`
  return `${kind}${range}${defaultValue === undefined ? '' : ` = ${String(defaultValue)}`}`
}
