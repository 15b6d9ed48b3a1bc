/** Numbers from 0 up to 1 that are the same for the same seed: `sfc32`, whose state is four words of 32 bits. */
export function createRandom(seed: number): () => number {
  let a = seed | 0
  let b = 0x9e3779b9
  let c = 0x243f6a88
  let counter = 1
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 2 ** 32
  }
  // Skips the first numbers, which are similar for neighboring seeds.
  for (let i = 0; i < 16; i++) next()
  return next
}

/** A whole number from `min` up to `max`. */
export function randomInteger(random: () => number, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1))
}

/** A log-normal factor with a median of 1; `spread` is the standard deviation of its logarithm. */
export function logNormalFactor(random: () => number, spread: number): number {
  const angle = 2 * Math.PI * random()
  return Math.exp(spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(angle))
}

/** Shuffles values in place. */
export function shuffle<T>(values: T[], random: () => number): T[] {
  for (let i = values.length - 1; i > 0; i--) {
    const j = randomInteger(random, 0, i)
    const value = values[i] as T
    values[i] = values[j] as T
    values[j] = value
  }
  return values
}
