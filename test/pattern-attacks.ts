/*
 * Hostile texts for a regular expression. A pattern is dangerous if it may end in several ways or begin at many places, so each text repeats
 * what a quantifier accepts, what leads to it, or both, and then fails.
 */

type Atom =
  /** A single character, as source. */
  | { readonly type: 'character'; readonly source: string }
  | { readonly type: 'group'; readonly branches: readonly (readonly Term[])[] }
  /** An assertion or a back reference, which adds nothing of its own. */
  | { readonly type: 'empty' }

interface Term {
  readonly atom: Atom
  readonly min: number
  readonly max: number
}

/** More repetitions than this can be as costly as any number. */
const MANY = 30

/** Parts of a text by which the time of a pattern is measured. */
export interface Attack {
  readonly prefix: string
  /** Repeated as often as wanted. */
  readonly repeat: string
  readonly suffix: string
}

/** What most patterns do not end with. */
const SUFFIX = '\0'

/** Lists attacks on a pattern, each once. */
export function listAttacks({ source, flags }: RegExp): Attack[] {
  const sampler = new Sampler(source, flags)
  const attacks = new Map<string, Attack>()
  for (const { lead, elements, rest } of sampler.listQuantifiers()) {
    const repeats = new Set(elements)
    for (const element of elements) {
      for (const text of [lead + element, element + rest]) repeats.add(text)
    }
    for (const element of elements.slice(0, 3)) for (const other of elements.slice(0, 3)) repeats.add(element + other)
    if (lead !== '') repeats.add(lead)
    for (const repeat of repeats) {
      for (const prefix of new Set(['', lead])) {
        const attack = { prefix, repeat, suffix: SUFFIX }
        if (repeat !== '') attacks.set(JSON.stringify(attack), attack)
      }
    }
  }
  return [...attacks.values()]
}

/** Characters that stand for all others. */
const SAMPLES = [...' \t\n\0aAz0_-./*"\'`<>()[]{}=:,;#@&\\|!?+~^$%éÉ中·–']

interface Quantifier {
  /** A text that leads to it. */
  readonly lead: string
  /** Texts that it accepts once. */
  readonly elements: readonly string[]
  /** A text that the rest of the pattern accepts. */
  readonly rest: string
}

/** Reads a pattern, and writes texts that its parts accept. */
class Sampler {
  readonly #flags: string
  readonly #pool: readonly string[]
  readonly #branches: readonly (readonly Term[])[]
  readonly #source: string
  #at = 0

  constructor(source: string, flags: string) {
    this.#source = source
    this.#flags = flags.replace(/[gyd]/g, '')
    this.#pool = [...new Set([...[...source].filter((one) => !/[\\^$.*+?()[\]{}|]/.test(one)), ...SAMPLES])]
    this.#branches = this.#readBranches()
  }

  listQuantifiers(): Quantifier[] {
    return this.#branches.flatMap((branch) => this.#findIn(branch, '', ''))
  }

  #findIn(terms: readonly Term[], before: string, after: string): Quantifier[] {
    const found: Quantifier[] = []
    for (const [i, { atom, min, max }] of terms.entries()) {
      const leads = new Set([false, true].map((isFull) => before + this.#write(terms.slice(0, i), isFull)))
      const rest = this.#write(terms.slice(i + 1), false) + after
      for (const lead of leads) {
        if (max >= MANY)
          found.push({
            lead: lead + this.#write([{ atom, min, max: min }], false),
            elements: this.#listElements(atom),
            rest,
          })
        if (atom.type !== 'group') continue
        for (const branch of atom.branches) found.push(...this.#findIn(branch, lead, rest))
      }
    }
    return found
  }

  #listElements(atom: Atom): string[] {
    if (atom.type === 'empty') return []
    if (atom.type === 'character') return this.#charactersOf(atom.source).slice(0, 4)
    return [...new Set(atom.branches.flatMap((branch) => [this.#write(branch, false), this.#write(branch, true)]))]
  }

  /** A text that terms accept; `isFull` repeats the optional ones once. */
  #write(terms: readonly Term[], isFull: boolean): string {
    return terms
      .map(({ atom, min, max }) => this.#writeAtom(atom, isFull).repeat(Math.min(max, Math.max(min, isFull ? 1 : 0))))
      .join('')
  }

  #writeAtom(atom: Atom, isFull: boolean): string {
    if (atom.type === 'empty') return ''
    if (atom.type === 'character') return this.#charactersOf(atom.source)[0] ?? ''
    return this.#write(atom.branches[0] ?? [], isFull)
  }

  #charactersOf(source: string): string[] {
    const pattern = new RegExp(`^${source}$`, this.#flags.replace('m', ''))
    return this.#pool.filter((one) => pattern.test(one))
  }

  #readBranches(): Term[][] {
    const branches: Term[][] = [[]]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at++
        branches.push([])
      } else branches.at(-1)?.push(this.#readTerm())
    }
    return branches
  }

  #readTerm(): Term {
    const atom = this.#readAtom()
    const [text, least, comma, most] = this.#take(/(?:[*+?]|\{(\d+)(,)?(\d+)?\})?\??/y)
    const sign = text[0]
    if (sign === '*' || sign === '+') return { atom, min: sign === '+' ? 1 : 0, max: Number.POSITIVE_INFINITY }
    if (sign === '?') return { atom, min: 0, max: 1 }
    if (least === undefined) return { atom, min: 1, max: 1 }
    const max = comma === undefined ? Number(least) : Number(most ?? Number.POSITIVE_INFINITY)
    return { atom, min: Number(least), max }
  }

  #readAtom(): Atom {
    const [group] = this.#take(/(?:\((?:\?(?::|<?[=!]|<[^>]*>|[a-z-]*:))?)?/y)
    if (group !== '') {
      const branches = this.#readBranches()
      this.#at++
      return /[=!]$/.test(group) ? { type: 'empty' } : { type: 'group', branches }
    }
    if (this.#take(/(?:[$^]|\\[bB]|\\[1-9]|\\k<[^>]*>)?/y)[0] !== '') return { type: 'empty' }
    if (this.#source[this.#at] === '[') return { type: 'character', source: this.#readClass() }
    const [source] = this.#take(/\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Z]|.)|./suy)
    return { type: 'character', source }
  }

  #readClass(): string {
    const start = this.#at
    let depth = 0
    do {
      const one = this.#source[this.#at]
      if (one === '\\') this.#at++
      else if (one === '[' && (depth === 0 || this.#flags.includes('v'))) depth++
      else if (one === ']') depth--
      this.#at++
    } while (depth > 0)
    return this.#source.slice(start, this.#at)
  }

  #take(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (found === null) throw new Error(`${this.#source} cannot be read at ${this.#at}`)
    this.#at = pattern.lastIndex
    return found
  }
}
