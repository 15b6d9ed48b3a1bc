import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { PharosError } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json/is-json-object.ts'
import { tryParseJson } from '../../core/json/try-parse-json.ts'
import type { Gazetteer, GazetteerImportResult, GazetteerSource, SourcedPlace } from '../ports/gazetteer.ts'
import { type NumberedLine, readColumns, readRows } from './csv.ts'
import { parsePlace, parseSource, type RawRecord } from './parse-place.ts'

/** A file of places, and its callbacks. */
export interface ImportFileOptions {
  readonly path: string
  readonly now: number
  readonly signal?: AbortSignal
  /** Called for every record that is read. */
  readonly onRecord?: () => void
}

/** Limit of reported problems; further ones are only counted. */
const MAX_PROBLEMS = 20
/** Longer lines cannot be places. */
const MAX_LINE_LENGTH = 1_000_000

/**
 * Imports a user's file into a gazetteer: NDJSON as the export writes it, or CSV whose first line names its columns. Invalid lines are
 * skipped and counted.
 */
export async function importFile(gazetteer: Gazetteer, options: ImportFileOptions): Promise<GazetteerImportResult> {
  const { path, now, signal, onRecord = () => undefined } = options
  const problems: string[] = []
  let refused = 0
  const refuse = (problem: string): void => {
    refused++
    if (problems.length < MAX_PROBLEMS) problems.push(problem)
  }
  try {
    await requireUtf8(path)
    const result = await gazetteer.importMixed(readPlaces(path, refuse, onRecord), now, signal)
    const { problems: others, refused: refusedPlaces, ...total } = result
    const all = [...problems, ...others].slice(0, MAX_PROBLEMS)
    return { ...total, refused: refused + refusedPlaces, problems: all }
  } catch (error) {
    throw explain(error, path)
  }
}

/** Length of a file's start that is checked for being text. */
const SNIFF_BYTES = 65_536
/** Limit of undecodable characters: more mean another encoding, fewer are single errors. */
const MAX_UNDECODABLE = 20
const MAX_UNDECODABLE_SHARE = 0.01

/** Refuses a file that is not UTF-8, judged by its start, because its names would be damaged. */
async function requireUtf8(path: string): Promise<void> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SNIFF_BYTES), 0, SNIFF_BYTES, 0)
    const text = new TextDecoder().decode(buffer.subarray(0, bytesRead), { stream: true })
    const unreadable = text.match(UNDECODABLE)?.length ?? 0
    if (unreadable > MAX_UNDECODABLE || unreadable > MAX_UNDECODABLE_SHARE * text.length) {
      throw new FileFormatError(
        `it is not UTF-8 text: ${unreadable} of its first ${text.length} characters are invalid`,
      )
    }
  } finally {
    await file.close()
  }
}

const UNDECODABLE = /[\0\ufffd]/g

async function* readPlaces(
  path: string,
  refuse: (problem: string) => void,
  onRecord: () => void,
): AsyncGenerator<SourcedPlace> {
  const lines = readLines(path)
  const sources = createSources(basename(path))
  const parseRecord = (line: number, raw: RawRecord): SourcedPlace | undefined => {
    onRecord()
    const record = parsePlace(raw)
    if (typeof record !== 'string') return { record, source: sources.of(raw) }
    refuse(`line ${line}: ${record}`)
    return undefined
  }
  let isJson = false
  let isEmpty = true
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
    const { text, number } = next.value
    if (text.trim() === '') continue
    isEmpty = false
    if (text.length > MAX_LINE_LENGTH) {
      refuse(`line ${number}: too long for a place (${text.length} characters)`)
    } else if (text.trimStart().startsWith('{')) {
      isJson = true
      const raw = tryParseJson(text)
      if (isJsonObject(raw) && Array.isArray(raw['sources'])) {
        sources.add(raw['sources'])
        continue
      }
      if (!isJsonObject(raw)) refuse(`line ${number}: not valid JSON`)
      const place = isJsonObject(raw) ? parseRecord(number, raw) : undefined
      if (place !== undefined) yield place
    } else if (isJson) {
      refuse(`line ${number}: expected a place as JSON, got ${JSON.stringify(text.slice(0, 40))}`)
    } else {
      yield* readTable(text, lines, parseRecord, refuse)
    }
  }
  if (isEmpty) throw new FileFormatError('it is empty')
}

/** Reads the rest of a file as a table with the columns of its first line. */
async function* readTable(
  firstLine: string,
  lines: AsyncIterator<NumberedLine, unknown>,
  parseRecord: (line: number, raw: RawRecord) => SourcedPlace | undefined,
  refuse: (problem: string) => void,
): AsyncGenerator<SourcedPlace> {
  const table = readColumns(firstLine)
  if (typeof table === 'string') throw new FileFormatError(table)
  for await (const row of readRows(lines, table)) {
    if ('problem' in row) {
      refuse(`line ${row.line}: ${row.problem}`)
      continue
    }
    const raw = Object.fromEntries(table.columns.map((column, i) => [column, row.fields[i] ?? '']))
    const place = parseRecord(row.line, raw)
    if (place !== undefined) yield place
  }
}

async function* readLines(path: string): AsyncGenerator<NumberedLine> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY })
  let number = 0
  for await (const text of lines) {
    number++
    yield { number, text: number === 1 ? text.replace(/^\uFEFF/, '') : text }
  }
}

/** The sources of a file's places: the file itself, and those that it names. */
function createSources(name: string): {
  add(named: readonly unknown[]): void
  of(raw: RawRecord): GazetteerSource
} {
  const fileSource: GazetteerSource = {
    name: `file:${name}`,
    version: 'own',
    license: 'unknown',
    attribution: name,
    url: null,
  }
  const sources = new Map<string, GazetteerSource>([[fileSource.name, fileSource]])
  return {
    add: (named) => {
      for (const source of named.map(parseSource)) if (source !== undefined) sources.set(source.name, source)
    },
    of: (raw) => {
      const named = typeof raw['source'] === 'string' ? sources.get(raw['source']) : undefined
      // A place without a source belongs to the file's named source, if there is exactly one.
      const onlyNamed = sources.size === 2 ? [...sources.values()][1] : undefined
      return named ?? onlyNamed ?? fileSource
    },
  }
}

/** Why a whole file cannot be read. */
class FileFormatError extends Error {}

const FORMAT_ADVICE = 'give NDJSON as `pharos gazetteer export` writes it, or CSV whose first line names its columns'

function explain(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (error instanceof FileFormatError) {
    return new PharosError(
      'INPUT_UNREADABLE',
      { source: path, problem: error.message, advice: FORMAT_ADVICE },
      { cause: error },
    )
  }
  if (code === 'ENOENT') return new PharosError('INPUT_NOT_FOUND', { path }, { cause: error })
  if (code === 'EISDIR' || code === 'EACCES') {
    const problem = code === 'EISDIR' ? 'it is a folder' : 'permission denied'
    return new PharosError('INPUT_UNREADABLE', { source: path, problem, advice: FORMAT_ADVICE }, { cause: error })
  }
  return error
}
