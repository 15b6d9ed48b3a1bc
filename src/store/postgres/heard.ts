/** What is known of somebody who has not answered: still at it, not at it any more, or nothing, because nobody else answers either. */
export type Whereabouts = 'there' | 'gone' | 'unknown'

/** So often nothing may be known, one time after the other: a machine can be busy. */
const MOST_UNKNOWN = 2

/**
 * Waits for an answer. Each time nothing was heard for a while, it is asked whether there is still somebody who will give it; where there
 * is not, the connection counts as lost.
 */
export async function heard<T>(answer: Promise<T>, quietMs: number, look: () => Promise<Whereabouts>): Promise<T> {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  let unknown = 0
  const silence = new Promise<never>((_, reject) => {
    const ask = async (): Promise<void> => {
      const found = await look()
      unknown = found === 'unknown' ? unknown + 1 : 0
      if (isOver) return
      if (found !== 'gone' && unknown < MOST_UNKNOWN) wait()
      else reject(new Error('Connection terminated: its other end does not answer any more'))
    }
    const wait = (): void => {
      timer = setTimeout(ask, quietMs)
    }
    wait()
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    isOver = true
    clearTimeout(timer)
    // What becomes of it once nobody waits any more.
    answer.catch(() => undefined)
  }
}
