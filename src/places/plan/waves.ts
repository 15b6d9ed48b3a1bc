/** Results of one pattern's guesses so far. */
export interface WaveState {
  /** Guesses with a result. */
  readonly tried: number
  readonly confirmed: number
  /** Guesses in progress. */
  readonly waiting: number
  /** Size of the last wave. */
  readonly lastSize: number
  /** Guesses not made yet. */
  readonly left: number
  /** Share of all countries that the site itself lists, from 0 to 1. */
  readonly listedShare: number
}

/** Size of the first wave. */
const FIRST_WAVE_SIZE = 8
/** Share of countries from which a site is expected to list all of them. */
const NEARLY_ALL_SHARE = 0.9

/** Size of the next wave: 0 while guesses are in progress, when none are left, or when most guesses were wrong. */
export function sizeNextWave(state: WaveState): number {
  const { tried, waiting, lastSize, left, listedShare } = state
  if (waiting > 0 || left === 0) return 0
  if (listedShare >= NEARLY_ALL_SHARE) return left
  if (tried === 0) return Math.min(left, lastSize === 0 ? FIRST_WAVE_SIZE : 0)
  return isMostlyRight(state) ? Math.min(left, Math.max(lastSize, FIRST_WAVE_SIZE / 2) * 2) : 0
}

/** Whether a pattern should hold for every country, so that absent hubs count as missing. Otherwise the site has hubs only for some. */
export function isExhaustivePattern(state: Pick<WaveState, 'tried' | 'confirmed' | 'listedShare'>): boolean {
  return state.listedShare >= NEARLY_ALL_SHARE || (state.tried > 0 && isMostlyRight(state))
}

function isMostlyRight({ tried, confirmed }: Pick<WaveState, 'tried' | 'confirmed'>): boolean {
  return confirmed * 2 >= tried
}
