import { DocumentError } from '../document.ts'
import { Anchors } from '../markup.ts'

/** The target of a name. */
export interface Target {
  /** A URL, or a fragment of this document. */
  readonly address: string
  /** The title of the target, if it has one. */
  readonly title: string
}

/** Definitions that are shared across a document. */
export class RstContext {
  /** Substitutions: `|name|`. */
  readonly substitutions: Map<string, string> = new Map()
  readonly targets: Map<string, Target> = new Map()
  /** URLs of anonymous targets, in order. */
  readonly anonymous: string[] = []
  #nextAnonymous = 0
  #charactersLeft = MAX_SUBSTITUTED
  /** Labels of notes. */
  readonly notes: Set<string> = new Set()
  readonly anchors: Anchors = new Anchors()
  /** Title marks, outermost level first. */
  readonly titleStyles: string[] = []
  /** Default language of code blocks. */
  language = ''
  /** The current Python module. */
  module = ''
  /** Number of automatic footnotes, by symbol. */
  readonly #unnamed = new Map<string, number>()

  /** The label of a footnote: its own, or one derived from its position. */
  labelOf(mark: string): string {
    if (mark !== '#' && mark !== '*') return mark.replace('#', '')
    const count = (this.#unnamed.get(mark) ?? 0) + 1
    this.#unnamed.set(mark, count)
    return `${mark === '#' ? 'number' : 'sign'}-${count}`
  }

  /** Restarts the numbering of automatic footnotes, because references are counted in the same order. */
  restartNumbering(): void {
    this.#unnamed.clear()
  }

  get hasAnonymous(): boolean {
    return this.#nextAnonymous < this.anonymous.length
  }

  /** The URL of the next anonymous reference. */
  takeAnonymous(): string | undefined {
    const address = this.anonymous[this.#nextAnonymous++]
    return address?.endsWith('_') === true ? (this.resolve(address.slice(0, -1))?.address ?? address) : address
  }

  /** Counts the text of substitutions, because a short document may expand to a very long one. */
  spend(characters: number): void {
    this.#charactersLeft -= characters
    if (this.#charactersLeft < 0) throw new DocumentError('too-large', 'its substitutions expand to too much text')
  }

  define(name: string, target: Target): void {
    const key = keyOf(name)
    if (!this.targets.has(key)) this.targets.set(key, target)
  }

  /** Follows a name to its final target: `a_` may lead to `b_`. */
  resolve(name: string): Target | undefined {
    let target = this.targets.get(keyOf(name))
    for (let steps = 0; steps < MAX_STEPS && target?.address.endsWith('_') === true; steps++) {
      const next = this.targets.get(keyOf(target.address.slice(0, -1).replaceAll('`', '')))
      if (next === undefined) break
      target = next
    }
    return target
  }
}

const MAX_STEPS = 5
/** Limit of characters from substitutions in total. */
const MAX_SUBSTITUTED = 300_000

/** Names of targets and substitutions ignore case and white space. */
export function keyOf(name: string): string {
  return name.trim().replace(/\s+/g, ' ').toLowerCase()
}
