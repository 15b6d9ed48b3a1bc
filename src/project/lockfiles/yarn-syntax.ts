import type { ProjectFile } from '../locked-package.ts'
import { createLockfileError } from './parse-syntax.ts'

/** The fields of an entry; a section such as `dependencies` has fields of its own. */
export type YarnFields = Record<string, string | Record<string, string>>

/**
 * Parses the syntax of Yarn 1, which is indented like YAML and has values without a colon. Yields each entry with its key, in which quotes
 * are removed and patterns are separated by a comma and a space.
 */
export function* parseYarnSyntax(file: ProjectFile): Generator<[key: string, fields: YarnFields], void, void> {
  let key: string | undefined
  let fields: YarnFields = {}
  let section: Record<string, string> | undefined
  let line = 0
  for (const text of file.text.replace(/^\uFEFF/, '').split('\n')) {
    line++
    const content = text.trim()
    if (content === '' || content.startsWith('#')) continue
    const indent = text.search(/[^ ]/)
    const words = content.length > MAX_LINE_CHARS ? undefined : readWords(content)
    if (words === undefined) throw createLockfileError(file, 'this is not the syntax of yarn.lock', { line })
    if (indent === 0) {
      if (!content.endsWith(':')) throw createLockfileError(file, 'a colon is missing', { line })
      if (key !== undefined) yield [key, fields]
      key = words.join(', ')
      fields = createFields()
      section = undefined
    } else if (key === undefined) throw createLockfileError(file, 'this belongs to no package', { line })
    else if (indent < 4 && content.endsWith(':')) {
      section = createFields<string>()
      fields[words[0] ?? ''] = section
    } else {
      const target = indent < 4 ? fields : section
      if (target === undefined) throw createLockfileError(file, 'this belongs to no section', { line })
      target[words[0] ?? ''] = words[1] ?? ''
    }
  }
  if (key !== undefined) yield [key, fields]
}

/** An object without a prototype, in which every name is a plain key. */
function createFields<Value>(): Record<string, Value> {
  return Object.create(null)
}

/** A key with all ranges of a package is the longest line. */
const MAX_LINE_CHARS = 100_000

const WORD = /"((?:[^"\\]|\\.)*)"|([^\s",:][^\s",]*?)(?=[\s,]|:?$)/y
const SEPARATOR = /[\s,]*:?[\s,]*/y

/** The words of a line without quotes, commas and the colon at the end; undefined if the line is malformed. */
function readWords(content: string): string[] | undefined {
  const words: string[] = []
  for (let at = 0; at < content.length; at = SEPARATOR.lastIndex) {
    WORD.lastIndex = at
    const match = WORD.exec(content)
    if (match === null) return undefined
    words.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll(/\\(.)/g, '$1'))
    SEPARATOR.lastIndex = WORD.lastIndex
    SEPARATOR.test(content)
  }
  return words
}
