import { FenceReader } from '../markdown/fences.ts'
import { findDefinitions } from '../retrieval/definitions.ts'
import { splitLines } from '../text/lines.ts'
import type { Change, ComparedPage } from './change.ts'

/** Where prose defines a name. */
interface DocumentedName {
  /** How the name is called, or its type; empty if the page does not say. */
  readonly signature: string
  readonly isDeprecated: boolean
  readonly path: string
  /** From 1. */
  readonly line: number
}

/** What the prose of a version says about names. */
export interface DocumentedNames {
  readonly definitions: ReadonlyMap<string, DocumentedName>
  /** Every word in code, and every heading, by page. */
  readonly mentioned: ReadonlyMap<string, ReadonlySet<string>>
  /** Words in code on lines that speak of deprecation, with their place. */
  readonly deprecated: ReadonlyMap<string, { readonly path: string; readonly line: number }>
}

/** A heading that is a call, a member or an option: `## new Server(options)`, `### app.listen()`, `### --port`. */
const NAME_HEADING =
  /^#{2,6}\s+((?:new\s+)?\.?[A-Za-z_$][\w$]*(?:[.#][\w$]+)*\s*\(.*\)|[A-Za-z_$][\w$]*(?:\.[\w$]+)+|--?[\w-]+)\s*$/
/** A heading of one word; it is a name if its type or default value follows. */
const WORD_HEADING = /^#{2,6}\s+`?([A-Za-z_$][\w$]*)`?\s*$/
const CAMEL_CASE = /^[a-z]+[A-Z]\w*$/
const TYPE_LINE = /^(?:\*\*)?(?:Type|Returns|Default)(?:\*\*)?:?\s*(.*)$/
/** An item that begins with a name: ``- `retries` - number of attempts``. */
const NAME_ITEM = /^\s*[-*+]\s+(?:\*\*)?`([^`]+)`(?:\*\*)?(?=\s*(?:$|[-–—:(]|[A-Z]))/
/** Number of lines after a heading in which its type may be. */
const TYPE_DISTANCE = 3

/**
 * Compares the names that the pages of two versions define. A name is gone if the newer version neither defines it nor mentions it in code,
 * and `isKnown` says that no module has it.
 */
export function compareDocumentedNames(
  old: DocumentedNames,
  fresh: DocumentedNames,
  isKnown: (name: string) => boolean,
): Change[] {
  const isMentioned = createMentionCheck(old, fresh)
  const changes: Change[] = []
  const rest = { subject: 'symbol', newName: null, lostNames: [], lines: [] } as const
  for (const [name, { signature, isDeprecated, path, line }] of old.definitions) {
    const now = fresh.definitions.get(name)
    const own = wordsOf(name).at(-1) ?? ''
    const alias = fresh.deprecated.get(own)
    if (now === undefined && alias !== undefined && !isDeprecated) {
      const place = { ...alias, isOldPage: false }
      changes.push({ ...rest, ...place, kind: 'deprecated', name, before: signature || name, after: null })
    } else if (now === undefined) {
      const isGone = own !== '' && !isMentioned(own, path) && !isKnown(own)
      const place = { path, line, isOldPage: true }
      if (isGone) changes.push({ ...rest, ...place, kind: 'removed', name, before: signature || name, after: null })
    } else {
      const hasNewSignature = isOther(signature, now.signature)
      const kind = !isDeprecated && now.isDeprecated ? 'deprecated' : hasNewSignature ? 'changed' : undefined
      const place = { path: now.path, line: now.line, isOldPage: false }
      if (kind !== undefined) changes.push({ ...rest, ...place, kind, name, before: signature, after: now.signature })
    }
  }
  return changes
}

/** Share of its names that a page must still define; otherwise it was rewritten, and all pages are searched for a name. */
const MIN_KEPT_NAMES = 0.5

/** Creates a function that tells whether the newer version mentions a word of an old page: on the same page, or else on any. */
function createMentionCheck(old: DocumentedNames, fresh: DocumentedNames): (word: string, path: string) => boolean {
  const counts = new Map<string, { all: number; kept: number }>()
  for (const [name, { path }] of old.definitions) {
    const { all, kept } = counts.get(path) ?? { all: 0, kept: 0 }
    counts.set(path, { all: all + 1, kept: kept + (fresh.definitions.has(name) ? 1 : 0) })
  }
  const everywhere = new Set([...fresh.mentioned.values()].flatMap((words) => [...words]))
  return (word, path) => {
    const { all = 0, kept = 0 } = counts.get(path) ?? {}
    const samePage = kept >= all * MIN_KEPT_NAMES ? fresh.mentioned.get(path) : undefined
    return (samePage ?? everywhere).has(word)
  }
}

function isOther(before: string, after: string): boolean {
  const plain = (text: string) => text.replace(/[\s;`*\\]/g, '')
  return before !== '' && after !== '' && plain(before) !== plain(after)
}

/** Reads the names that pages define and mention. */
export function readDocumentedNames(pages: readonly ComparedPage[]): DocumentedNames {
  const definitions = new Map<string, DocumentedName>()
  const mentioned = new Map<string, Set<string>>()
  const deprecated = new Map<string, { path: string; line: number }>()
  for (const { path, markdown } of pages) {
    const lines = splitLines(markdown)
    const words = new Set<string>()
    mentioned.set(path, words)
    const add = (name: string, signature: string, line: number) => {
      if (!isName(name) || definitions.has(name)) return
      const isDeprecated = /\bdeprecated\b/i.test(lines.slice(line - 1, line + 2).join(' '))
      definitions.set(name, { signature: signature.includes('(') ? signature : '', isDeprecated, path, line })
    }
    for (const { name, signature, line, isCode } of findDefinitions(markdown)) {
      if (isCode) add(name, signature, line + 1)
    }
    const fences = new FenceReader()
    lines.forEach((line, at) => {
      const isCode = fences.read(line) !== undefined
      const found = isCode ? undefined : nameIn(line, lines.slice(at + 1, at + 1 + TYPE_DISTANCE))
      if (found !== undefined) add(found.name, found.signature, at + 1)
      const code = isCode || line.startsWith('#') ? line : (line.match(/`[^`]+`/g) ?? []).join(' ')
      const isAboutDeprecation = /\bdeprecated\b/i.test(line)
      for (const word of wordsOf(code)) {
        words.add(word)
        if (isAboutDeprecation && !deprecated.has(word)) deprecated.set(word, { path, line: at + 1 })
      }
    })
  }
  return { definitions, mentioned, deprecated }
}

/** The name that a line defines, if it does. */
function nameIn(line: string, next: readonly string[]): { name: string; signature: string } | undefined {
  const [, heading] = NAME_HEADING.exec(line.replace(/^(#+\s+)`([^`]+)`/, '$1$2').replace(/\\/g, '')) ?? []
  if (heading !== undefined) return { name: nameOf(heading), signature: heading }
  const [, word] = WORD_HEADING.exec(line) ?? []
  const type =
    word === undefined ? undefined : next.map((one) => TYPE_LINE.exec(one)?.[1]).find((one) => one !== undefined)
  if (word !== undefined && type !== undefined) return { name: word, signature: `${word} (${type})` }
  if (word !== undefined && CAMEL_CASE.test(word)) return { name: word, signature: '' }
  const [, item] = NAME_ITEM.exec(line) ?? []
  return item === undefined ? undefined : { name: nameOf(item), signature: item }
}

/** A name of code, and not a value, a path or a command line. */
function isName(name: string): boolean {
  const isPlain = /^(?:--?)?[.@$A-Za-z_][\w$.#-]*$/.test(name) && /[A-Za-z]{2}/.test(name) && name.length < 80
  return isPlain && !/\.(?:md|js|ts|json|html?|css|ya?ml)$/.test(name) && !/^(?:true|false|null|undefined)$/.test(name)
}

function nameOf(text: string): string {
  return (
    text
      .replace(/^new\s+/, '')
      .split(/[(:=\s]/, 1)[0]
      ?.trim() ?? ''
  )
}

function wordsOf(text: string): string[] {
  return text.match(/[A-Za-z_$][\w$]*(?:-[\w$]+)*/g) ?? []
}
