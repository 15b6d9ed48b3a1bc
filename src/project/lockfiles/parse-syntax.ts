import { parse as parseTomlText, TomlError } from 'smol-toml'
import { PharosError } from '../../core/errors.ts'
import { maskComments } from '../../core/json/mask-comments.ts'
import { JsonSyntaxError, scanJson } from '../../core/json/scan.ts'
import { sanitizeText } from '../../core/text/sanitize-text.ts'
import type { ProjectFile } from '../locked-package.ts'

/* Parses JSON and TOML. What they return is unknown data: read it with the functions of fields.ts. */

/** Parses JSON, with comments and trailing commas too. */
export function parseJson(file: ProjectFile): unknown {
  try {
    return JSON.parse(file.text)
  } catch {
    // Most files are plain JSON, which needs no masking.
    const text = maskComments(file.text)
    try {
      return JSON.parse(text)
    } catch (cause) {
      if (text.trim() === '') throw createLockfileError(file, 'it is empty', { cause })
      const { line, problem } = findJsonError(text)
      throw createLockfileError(file, `it is not valid JSON${problem}`, { line, cause })
    }
  }
}

/** Parses TOML. */
export function parseToml(file: ProjectFile): unknown {
  try {
    return parseTomlText(file.text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    if (cause instanceof RangeError) throw createLockfileError(file, 'its values are nested too deeply', { cause })
    if (!(cause instanceof TomlError)) throw cause
    const [problem = ''] = cause.message.split('\n')
    throw createLockfileError(file, `it is not valid TOML (${problem})`, { line: cause.line, cause })
  }
}

/** A {@link PharosError} that names a file, the line if it is known, and the problem. */
export function createLockfileError(
  file: Pick<ProjectFile, 'path'>,
  problem: string,
  { line, cause }: { readonly line?: number | undefined; readonly cause?: unknown } = {},
): PharosError {
  const place = line === undefined ? '' : `line ${line}: `
  return new PharosError(
    'LOCKFILE_INVALID',
    { file: sanitizeText(file.path), problem: sanitizeText(place + problem), ...(line !== undefined && { line }) },
    { cause },
  )
}

function findJsonError(text: string): { readonly line?: number; readonly problem: string } {
  try {
    scanJson(text)
    return { problem: '' }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    const { offset } = error
    const found = String.fromCodePoint(text.codePointAt(offset) ?? 0)
    const problem = offset >= text.length ? 'it ends too early' : `unexpected ${found}`
    return { line: countLines(text, offset), problem: ` (${problem})` }
  }
}

/** The number of the line at an offset. */
export function countLines(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}
