import { escapeRegExp } from '../escape-reg-exp.ts'
import type { Change } from './change.ts'

/** Names that code uses of a package. */
export interface UsedNames {
  /** Names that it imports, without local aliases. */
  readonly imported: ReadonlySet<string>
  /** Modules that it imports. */
  readonly modules: ReadonlySet<string>
  /** Names after a dot, keys of objects and named arguments, in files that import the package. */
  readonly members: ReadonlySet<string>
}

/** Collects the names that files use of a package. A file that does not import it counts for nothing. */
export class UsedNameCollector implements UsedNames {
  readonly imported: Set<string> = new Set()
  readonly modules: Set<string> = new Set()
  readonly members: Set<string> = new Set()
  /** Number of files that import the package. */
  files = 0
  readonly #mention: RegExp
  readonly #statements: RegExp

  /** @param name name of the package as code imports it */
  constructor(name: string) {
    const module = `${escapeRegExp(name)}(?:[/.][\\w./-]+)?`
    const python = `${escapeRegExp(name.replaceAll('-', '_'))}(?:\\.[\\w.]+)?`
    this.#mention = new RegExp(`['"]${module}['"]|^\\s*(?:from|import)\\s+${python}\\b`, 'm')
    this.#statements = new RegExp(
      `(?:import|export)\\s([^;'"]*?)\\sfrom\\s*['"](${module})['"]|(?:const|let|var)\\s+([^=;]+?)=\\s*(?:await\\s+)?(?:require|import)\\(\\s*['"](${module})['"]|(?:require|import)\\(?\\s*['"](${module})['"]|^[ \\t]*from\\s+(${python})\\s+import\\s+(\\([^)]*\\)|[^\\n]+)|^[ \\t]*import\\s+(${python})`,
      'gm',
    )
  }

  add(text: string): void {
    if (!this.#mention.test(text)) return
    this.files++
    for (const [, clause, from, pattern, required, bare, python, names, whole] of text.matchAll(this.#statements)) {
      const module = from ?? required ?? bare ?? python ?? whole
      if (module !== undefined) this.modules.add(module)
      for (const word of namesIn(clause ?? pattern ?? names ?? '')) this.imported.add(word)
    }
    for (const [, member = ''] of text.matchAll(/\.\s*([A-Za-z_$][\w$]*)/g)) this.members.add(member)
    for (const [, key = ''] of text.matchAll(
      /(?=['"\w$])(?<![\w$.-]|\b(?:const|let|var)\s+)['"]?([A-Za-z_$][\w$-]*)['"]?\s*[:=](?![=>:])/g,
    ))
      this.members.add(key)
    // Shorthand properties: `{ retries, timeout }`.
    for (const [, keys = ''] of text.matchAll(/\{([\w$\s,]+)\}/g))
      for (const key of namesIn(keys)) this.members.add(key)
  }
}

/** `z, { a as b, type C }` → `z`, `a`, `C`; `* as all` has no name of the package. */
function namesIn(clause: string): string[] {
  return clause
    .replace(/[{}()]/g, ',')
    .split(',')
    .flatMap((part) => /^\s*(?:type\s+)?([A-Za-z_$][\w$]*)(?:\s*(?:\bas\b|:).*)?\s*$/s.exec(part)?.[1] ?? [])
}

/** Whether a change concerns a used name: an imported symbol, or a member that the code mentions. */
export function isUsed({ subject, name, before, lines, lostNames }: Change, used: UsedNames): boolean {
  if (subject === 'module') return used.modules.has(name)
  if (subject === 'symbol') {
    const parts = name.replace(/\.(?:\(\)|constructor)$/, '').split(/[.#]/)
    const own = parts.at(-1) ?? ''
    if (parts.length > 1) return used.members.has(own)
    const isCalled = used.imported.has(own) || used.members.has(own)
    return isCalled || lostNames.some((lost) => used.members.has(lost) && isOption(before ?? '', lost))
  }
  const text = [name, ...lines].join('\n')
  return [...used.imported].some(
    (word) => word.length > 2 && new RegExp(`(?<![\\w$])${escapeRegExp(word)}(?![\\w$])`).test(text),
  )
}

function isOption(signature: string, name: string): boolean {
  return new RegExp(`(?<![\\w$])${escapeRegExp(name)}\\??:`).test(signature)
}
