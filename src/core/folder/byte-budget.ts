import type { Limits } from '../limits.ts'

/** How large files may be, alone and together. */
export type ByteLimits = Pick<Limits, 'maxFileBytes' | 'maxTotalBytes'>

/** Takes files by their sizes, in the order of their paths, as long as the limits let them in. */
export class ByteBudget {
  readonly #limits: ByteLimits
  #total = 0

  constructor(limits: ByteLimits) {
    this.#limits = limits
  }

  /** The limit that a file of this size would exceed now. The sum only grows, so a file that exceeds it now always will. */
  refuse(size: number): 'max_file_bytes' | 'max_total_bytes' | undefined {
    if (size > this.#limits.maxFileBytes) return 'max_file_bytes'
    return this.#total + size > this.#limits.maxTotalBytes ? 'max_total_bytes' : undefined
  }

  take(size: number): void {
    this.#total += size
  }

  /** The largest file that would be taken now. */
  get mostBytes(): number {
    return Math.min(this.#limits.maxFileBytes, this.#limits.maxTotalBytes - this.#total)
  }
}

/** How many files will be left out: those that are too large, and those that are too much with all before them. */
export function countRefused(
  sizes: Iterable<number>,
  limits: ByteLimits,
): { readonly tooLarge: number; readonly tooMuch: number } {
  const budget = new ByteBudget(limits)
  let tooLarge = 0
  let tooMuch = 0
  for (const size of sizes) {
    const code = budget.refuse(size)
    if (code === undefined) budget.take(size)
    else if (code === 'max_file_bytes') tooLarge++
    else tooMuch++
  }
  return { tooLarge, tooMuch }
}
