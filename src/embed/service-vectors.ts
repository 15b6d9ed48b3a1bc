/** A vector of an answer, or what is wrong with it. */
export type ReadVector = { readonly vector: Float32Array } | { readonly problem: string }

/** A vector of length 1 in the direction of a list of numbers. TEI writes `null` for a number that is none. */
export function readVector(list: unknown): ReadVector {
  if (!Array.isArray(list)) return { problem: 'its vector is not a list of numbers' }
  const vector = new Float32Array(list.length)
  let squares = 0
  for (let i = 0; i < vector.length; i++) {
    const number: unknown = list[i]
    if (typeof number !== 'number' || !Number.isFinite(number)) {
      return { problem: `its vector holds ${JSON.stringify(number)?.slice(0, MOST_TOLD)}` }
    }
    vector[i] = number
    squares += number * number
  }
  const length = Math.sqrt(squares)
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) return { problem: `its vector is of length ${length}` }
  for (let i = 0; i < vector.length; i++) vector[i] = (list[i] as number) / length
  return { vector }
}

/** Most characters of what stands where a number should. */
const MOST_TOLD = 20
