/** What became of the guesses of one pattern so far. */
export interface WaveState {
  /** Guesses that got an answer. */
  readonly tried: number
  readonly confirmed: number
  /** Guesses that are on their way. */
  readonly waiting: number
  /** How many there were in the last wave. */
  readonly lastSize: number
  /** Guesses that could still be made. */
  readonly left: number
  /** Share of all countries that the site lists itself, from 0 to 1. */
  readonly listedShare: number
}

/** Guesses of the first wave. */
const FIRST_WAVE = 8
/** A site that lists so much of the world means to list all of it. */
const NEARLY_ALL = 0.9

/** How many guesses to make next: none while others are on their way, or when the pattern turned out to be closed. */
export function sizeNextWave(state: WaveState): number {
  const { tried, waiting, lastSize, left, listedShare } = state
  if (waiting > 0 || left === 0) return 0
  if (listedShare >= NEARLY_ALL) return left
  if (tried === 0) return Math.min(left, lastSize === 0 ? FIRST_WAVE : 0)
  return isMostlyRight(state) ? Math.min(left, Math.max(lastSize, FIRST_WAVE / 2) * 2) : 0
}

/** Whether a pattern holds for the whole world, so that what is not there is missing: otherwise the site lists what it has. */
export function isOpenPattern(state: Pick<WaveState, 'tried' | 'confirmed' | 'listedShare'>): boolean {
  return state.listedShare >= NEARLY_ALL || (state.tried > 0 && isMostlyRight(state))
}

function isMostlyRight({ tried, confirmed }: Pick<WaveState, 'tried' | 'confirmed'>): boolean {
  return confirmed * 2 >= tried
}
