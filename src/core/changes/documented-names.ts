import { findDefinitions } from '../retrieval/definitions.ts'
import { splitLines } from '../text/lines.ts'
import type { Change, ComparedPage } from './change.ts'

/** What the prose of a version says about names. */
interface DocumentedNames {
  readonly definitions: ReadonlyMap<
    string,
    { readonly signature: string; readonly path: string; readonly line: number }
  >
  /** Every word in code, and every heading. */
  readonly mentioned: ReadonlySet<string>
}

/** A heading that is a call, a member or an option: `## new Server(options)`, `### app.listen()`, `### --port`. */
const NAME_HEADING =
  /^#{2,6}\s+((?:new\s+)?\.?[A-Za-z_$][\w$]*(?:[.#][\w$]+)*\s*\(.*\)|[A-Za-z_$][\w$]*(?:\.[\w$]+)+|--?[\w-]+)\s*$/

/**
 * Names that the pages of the older version define, and that the newer one neither defines nor mentions in code. `isKnown` tells whether
 * the newer version still has a name.
 */
export function compareDocumentedNames(
  before: readonly ComparedPage[],
  after: readonly ComparedPage[],
  isKnown: (name: string) => boolean,
): Change[] {
  const [old, fresh] = [readNames(before), readNames(after)]
  const changes: Change[] = []
  const rest = { subject: 'symbol', newName: null, lostNames: [], lines: [] } as const
  for (const [name, { signature, path, line }] of old.definitions) {
    const now = fresh.definitions.get(name)
    if (now === undefined) {
      const own = wordsOf(name).at(-1)
      const isGone = own !== undefined && !fresh.mentioned.has(own) && !isKnown(own)
      if (isGone)
        changes.push({ ...rest, kind: 'removed', name, path, line, isOldPage: true, before: signature, after: null })
    } else if (isOtherCall(signature, now.signature)) {
      const { path: newPath, line: newLine } = now
      changes.push({
        ...rest,
        kind: 'changed',
        name,
        path: newPath,
        line: newLine,
        isOldPage: false,
        before: signature,
        after: now.signature,
      })
    }
  }
  return changes
}

function isOtherCall(before: string, after: string): boolean {
  const plain = (text: string) => text.replace(/[\s;]/g, '')
  return before.includes('(') && after.includes('(') && plain(before) !== plain(after)
}

function readNames(pages: readonly ComparedPage[]): DocumentedNames {
  const definitions = new Map<string, { signature: string; path: string; line: number }>()
  const mentioned = new Set<string>()
  for (const { path, markdown } of pages) {
    const lines = splitLines(markdown)
    const add = (name: string, signature: string, line: number) => {
      if (/[A-Za-z]{2}/.test(name) && name.length < 80 && !definitions.has(name))
        definitions.set(name, { signature, path, line })
    }
    for (const { name, signature, line, isCode } of findDefinitions(markdown))
      if (isCode && isName(name)) add(name, signature, line + 1)
    let isFence = false
    lines.forEach((line, at) => {
      if (/^\s*(?:`{3,}|~{3,})/.test(line)) isFence = !isFence
      const heading = isFence ? null : NAME_HEADING.exec(line.replace(/^(#+\s+)`([^`]+)`/, '$1$2').replace(/\\/g, ''))
      if (heading !== null) add(nameOf(heading[1] ?? ''), heading[1] ?? '', at + 1)
      const code = isFence || line.startsWith('#') ? line : (line.match(/`[^`]+`/g) ?? []).join(' ')
      for (const word of wordsOf(code)) mentioned.add(word)
    })
  }
  return { definitions, mentioned }
}

/** A name of code, and not a value, a path or a command line. */
function isName(name: string): boolean {
  return (
    /^(?:--?)?[.@$\w][\w$.#-]*$/.test(name) && !/^\d/.test(name) && !/\.(?:md|js|ts|json|html?|css|ya?ml)$/.test(name)
  )
}

function nameOf(heading: string): string {
  return (
    heading
      .replace(/^new\s+/, '')
      .split('(', 1)[0]
      ?.trim() ?? ''
  )
}

function wordsOf(text: string): string[] {
  return text.match(/[A-Za-z_$][\w$]*(?:-[\w$]+)*/g) ?? []
}
