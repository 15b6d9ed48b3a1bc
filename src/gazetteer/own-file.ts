import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import type { PlaceRecord } from '../analysis/place.ts'
import { PharosError } from '../core/errors.ts'
import type { Gazetteer, GazetteerSource, ImportResult } from '../library/gazetteer.ts'
import { joinCsvRows, type OpenRow, readColumns, splitRow } from './csv.ts'
import { isJsonObject, parsePlace, parseSource, type Raw } from './parse-place.ts'

/** A file of places, and who is told of it. */
export interface OwnFileOptions {
  readonly path: string
  readonly now: number
  readonly signal?: AbortSignal
  /** Is told of every record that is read. */
  readonly onRecord?: () => void
}

/** Problems that are told; the others are counted. */
const MAX_PROBLEMS = 20
/** Longer lines are no places. */
const MAX_LINE = 1_000_000

/** A place of a file, and where it is from. */
interface OwnPlace {
  readonly record: PlaceRecord
  readonly source: GazetteerSource
}

/**
 * Takes a file of one's own into a gazetteer: NDJSON as the export writes it, or CSV whose first line names its columns. Lines that
 * are no place are left out and counted.
 */
export async function importFile(gazetteer: Gazetteer, options: OwnFileOptions): Promise<ImportResult> {
  const { path, now, signal, onRecord = () => undefined } = options
  const problems: string[] = []
  let refused = 0
  const places = readPlaces(path, (problem) => {
    refused++
    if (problems.length < MAX_PROBLEMS) problems.push(problem)
  })
  const total = { places: 0, names: 0, added: 0, changed: 0 }
  try {
    let next = await places.next()
    while (next.done !== true) {
      const { source } = next.value
      // One after the other, as long as they are from the same source.
      const group = async function* (): AsyncGenerator<PlaceRecord> {
        for (; next.done !== true && next.value.source.name === source.name; next = await places.next()) {
          onRecord()
          yield next.value.record
        }
      }
      const result = await gazetteer.importPlaces(source, group(), now, signal)
      for (const key of ['places', 'names', 'added', 'changed'] as const) total[key] += result[key]
      refused += result.refused
      problems.push(...result.problems.slice(0, MAX_PROBLEMS - problems.length))
    }
  } catch (error) {
    throw explain(error, path)
  }
  return { ...total, refused, problems }
}

async function* readPlaces(path: string, refuse: (problem: string) => void): AsyncGenerator<OwnPlace> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })
  const name = basename(path)
  const own: GazetteerSource = {
    name: `file:${name}`,
    version: 'own',
    license: 'unknown',
    attribution: name,
    url: null,
  }
  const sources = new Map<string, GazetteerSource>([[own.name, own]])
  const take = (line: number, raw: Raw): OwnPlace | undefined => {
    const place = parsePlace(raw)
    if (typeof place === 'string') {
      refuse(`line ${line}: ${place}`)
      return undefined
    }
    const named = typeof raw['source'] === 'string' ? sources.get(raw['source']) : undefined
    // What names no source is of the one that the file names, where that is a single one.
    const only = sources.size === 2 ? [...sources.values()][1] : undefined
    return { record: place, source: named ?? only ?? own }
  }
  let number = 0
  let columns: readonly string[] | undefined
  let separator = ','
  let open: OpenRow | undefined
  for await (const text of lines) {
    number++
    const line = number === 1 ? text.replace(/^\uFEFF/, '') : text
    if (line.trim() === '' && open === undefined) continue
    if (line.length > MAX_LINE) {
      refuse(`line ${number}: it has ${line.length} characters, more than a place needs`)
      continue
    }
    if (columns === undefined && line.trimStart().startsWith('{')) {
      const raw = parseJson(line)
      const head = isJsonObject(raw) && Array.isArray(raw['sources']) ? raw['sources'] : undefined
      if (head !== undefined) {
        for (const source of head.map(parseSource)) if (source !== undefined) sources.set(source.name, source)
        continue
      }
      if (!isJsonObject(raw)) refuse(`line ${number}: it is not valid JSON`)
      const place = isJsonObject(raw) ? take(number, raw) : undefined
      if (place !== undefined) yield place
      continue
    }
    if (columns === undefined) {
      if (number > 1) {
        refuse(`line ${number}: expected a place as JSON, got ${JSON.stringify(line.slice(0, 40))}`)
        continue
      }
      const found = readColumns(line)
      if (typeof found === 'string') throw new FileProblem(found)
      ;({ columns, separator } = found)
      continue
    }
    // A field in quotes may have line breaks.
    open = joinCsvRows(open, line, number)
    if (open.isOpen && open.text.length <= MAX_LINE) continue
    const row = open
    open = undefined
    const fields = row.isOpen ? undefined : splitRow(row.text, separator)
    if (fields === undefined || fields.length > columns.length) {
      refuse(
        `line ${row.line}: ${fields === undefined ? 'a quotation mark is not closed' : `${fields.length} fields, more than the ${columns.length} columns`}`,
      )
      continue
    }
    const place = take(row.line, Object.fromEntries(columns.map((column, i) => [column, fields[i] ?? ''])))
    if (place !== undefined) yield place
  }
  if (open !== undefined) refuse(`line ${open.line}: a quotation mark is not closed`)
  if (number === 0) throw new FileProblem('it is empty')
}

/** Why a whole file cannot be read. */
class FileProblem extends Error {}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const FORMS = 'give NDJSON as `pharos gazetteer export` writes it, or CSV whose first line names its columns'

function explain(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (error instanceof FileProblem) {
    return new PharosError(
      'INPUT_UNREADABLE',
      { source: path, problem: error.message, advice: FORMS },
      { cause: error },
    )
  }
  if (code === 'ENOENT') return new PharosError('INPUT_NOT_FOUND', { path }, { cause: error })
  if (code === 'EISDIR' || code === 'EACCES') {
    const problem = code === 'EISDIR' ? 'it is a folder' : 'permission denied'
    return new PharosError('INPUT_UNREADABLE', { source: path, problem, advice: FORMS }, { cause: error })
  }
  return error
}
