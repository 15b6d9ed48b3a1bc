/** The candidate nearest to a word in spelling, or undefined if none is near: a third of the letters may differ, or one in a short word. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(Math.max(word.length, 3) / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const lowerCandidate = candidate.toLowerCase()
    if (!canBeNearer(wanted, lowerCandidate, bestDistance)) continue
    const distance = editDistance(wanted, lowerCandidate, bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Number of counters for characters; characters with the same remainder share one. */
const BINS = 64

const balance = new Int32Array(BINS)

/** Whether fewer than `limit` changes could suffice, judged by character counts alone, which rules out most candidates. */
function canBeNearer(a: string, b: string, limit: number): boolean {
  balance.fill(0)
  const count = (text: string, by: number) => {
    for (let i = 0; i < text.length; i++) {
      const bin = text.charCodeAt(i) % BINS
      balance[bin] = (balance[bin] ?? 0) + by
    }
  }
  count(a, 1)
  count(b, -1)
  let more = 0
  let less = 0
  for (const difference of balance) {
    if (difference > 0) more += difference
    else less -= difference
  }
  return Math.max(more, less) < limit
}

/**
 * Number of insertions, deletions, replacements and swaps of adjacent characters that turn one word into the other, up to the limit.
 * Positions further apart than the limit are not compared.
 */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  let lastRowMin = 0
  for (let i = 1; i <= a.length; i++) {
    const row = new Array<number>(b.length + 1).fill(limit)
    row[0] = Math.min(i, limit)
    let rowMin = row[0]
    for (let j = Math.max(1, i - limit); j <= Math.min(b.length, i + limit); j++) {
      const replaced = (last[j - 1] ?? limit) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let cost = Math.min(replaced, (last[j] ?? limit) + 1, (row[j - 1] ?? limit) + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? limit) + 1)
      }
      row[j] = cost
      rowMin = Math.min(rowMin, cost)
    }
    // Both rows must reach the limit, because a swap reads two rows back.
    if (rowMin >= limit && lastRowMin >= limit) return limit
    beforeLast = last
    last = row
    lastRowMin = rowMin
  }
  return last[b.length] ?? limit
}

/** `, did you mean x?` or nothing. */
export function suggest(nearest: string | undefined): string {
  return nearest === undefined ? '' : `, did you mean ${/\s/.test(nearest) ? JSON.stringify(nearest) : nearest}?`
}
