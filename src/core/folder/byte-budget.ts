import type { Limits } from '../limits.ts'

/** Limits for the size of files, alone and together. */
export type ByteLimits = Pick<Limits, 'maxFileBytes' | 'maxTotalBytes'>

/** Accepts files by their sizes, in path order, within the limits. */
export class ByteBudget {
  readonly #limits: ByteLimits
  #total = 0

  constructor(limits: ByteLimits) {
    this.#limits = limits
  }

  /** The limit that a file of this size would exceed now. The total only grows, so a file that exceeds a limit now always will. */
  findExceededLimit(size: number): 'max_file_bytes' | 'max_total_bytes' | undefined {
    if (size > this.#limits.maxFileBytes) return 'max_file_bytes'
    return this.#total + size > this.#limits.maxTotalBytes ? 'max_total_bytes' : undefined
  }

  add(size: number): void {
    this.#total += size
  }

  /** The largest file that would be accepted now. */
  get maxAcceptedBytes(): number {
    return Math.min(this.#limits.maxFileBytes, this.#limits.maxTotalBytes - this.#total)
  }
}

/** Number of files that will be left out: those too large on their own, and those too large for the total. */
export function countRefused(
  sizes: Iterable<number>,
  limits: ByteLimits,
): { readonly tooLarge: number; readonly tooMuch: number } {
  const budget = new ByteBudget(limits)
  let tooLarge = 0
  let tooMuch = 0
  for (const size of sizes) {
    const code = budget.findExceededLimit(size)
    if (code === undefined) budget.add(size)
    else if (code === 'max_file_bytes') tooLarge++
    else tooMuch++
  }
  return { tooLarge, tooMuch }
}
