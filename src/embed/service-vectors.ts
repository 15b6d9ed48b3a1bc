/** A vector of a response, or the problem with it. */
export type VectorResult = { readonly vector: Float32Array } | { readonly problem: string }

/** Scales a list of numbers to length 1. TEI writes `null` for NaN. */
export function readVector(list: unknown): VectorResult {
  if (!Array.isArray(list)) return { problem: 'its vector is not a list of numbers' }
  const vector = new Float32Array(list.length)
  let squares = 0
  for (let i = 0; i < vector.length; i++) {
    const number: unknown = list[i]
    if (typeof number !== 'number' || !Number.isFinite(number)) {
      return { problem: `its vector holds ${JSON.stringify(number)?.slice(0, MAX_QUOTED_LENGTH)}` }
    }
    vector[i] = number
    squares += number * number
  }
  const length = Math.sqrt(squares)
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) return { problem: `its vector is of length ${length}` }
  for (let i = 0; i < vector.length; i++) vector[i] = (list[i] as number) / length
  return { vector }
}

/** Length limit of a quoted invalid value. */
const MAX_QUOTED_LENGTH = 20
