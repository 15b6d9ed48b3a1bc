import { DocumentError } from '../document.ts'
import { Anchors } from '../markup.ts'

/** Where a name in a document leads to. */
export interface Target {
  /** An address, or a fragment of this document. */
  readonly address: string
  /** The title of what it leads to, if it has one. */
  readonly title: string
}

/** What is said in one place of a document and needed in others. */
export class Facts {
  /** Texts that stand for others: `|name|`. */
  readonly substitutions: Map<string, string> = new Map()
  readonly targets: Map<string, Target> = new Map()
  /** Addresses of links without names, in their order. */
  readonly anonymous: string[] = []
  #nextAnonymous = 0
  #left = MAX_SUBSTITUTED
  /** Labels of notes. */
  readonly notes: Set<string> = new Set()
  readonly anchors: Anchors = new Anchors()
  /** How the titles of sections are marked, outermost first. */
  readonly titleStyles: string[] = []
  /** The language of code that names none. */
  language = ''
  /** The Python module that is described just now. */
  module = ''
  /** How many notes without a label there were, by the sign that stands for one. */
  readonly #unnamed = new Map<string, number>()

  /** The label of a note: its own, or by its place among those that have none. */
  labelOf(mark: string): string {
    if (mark !== '#' && mark !== '*') return mark.replace('#', '')
    const count = (this.#unnamed.get(mark) ?? 0) + 1
    this.#unnamed.set(mark, count)
    return `${mark === '#' ? 'number' : 'sign'}-${count}`
  }

  /** Begins to count notes without a label anew: what leads to them is counted as they are. */
  startOver(): void {
    this.#unnamed.clear()
  }

  get hasAnonymous(): boolean {
    return this.#nextAnonymous < this.anonymous.length
  }

  /** Where the next link without a name leads to. */
  takeAnonymous(): string | undefined {
    const address = this.anonymous[this.#nextAnonymous++]
    return address?.endsWith('_') === true ? (this.resolve(address.slice(0, -1))?.address ?? address) : address
  }

  /** Counts text that stands for other text: a short document may stand for a very long one. */
  spend(characters: number): void {
    this.#left -= characters
    if (this.#left < 0) throw new DocumentError('too-large', 'its substitutions make too much text')
  }

  define(name: string, target: Target): void {
    const key = keyOf(name)
    if (!this.targets.has(key)) this.targets.set(key, target)
  }

  /** Where a name leads to in the end: `a_` may lead to `b_`. */
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
/** Characters that substitutions may stand for in all. */
const MAX_SUBSTITUTED = 300_000

/** Names of targets and substitutions are the same in any case and with any white space. */
export function keyOf(name: string): string {
  return name.trim().replace(/\s+/g, ' ').toLowerCase()
}
