/** The liveness of a server session that has not responded: still active, gone, or unknown because nothing else responds either. */
export type Liveness = 'there' | 'gone' | 'unknown'

/** Maximum number of consecutive unknown results, because a busy machine may fail a probe. */
const MAX_UNKNOWN_PROBES = 2

/**
 * Waits for a response. After each quiet period a probe checks whether the server still works on it; if not, the connection counts as lost.
 */
export async function withLivenessProbe<T>(
  answer: Promise<T>,
  quietMs: number,
  look: () => Promise<Liveness>,
): Promise<T> {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  let unknown = 0
  const silence = new Promise<never>((_, reject) => {
    const ask = async (): Promise<void> => {
      const found = await look()
      unknown = found === 'unknown' ? unknown + 1 : 0
      if (isOver) return
      if (found !== 'gone' && unknown < MAX_UNKNOWN_PROBES) wait()
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
    // A later failure of the abandoned response must not become an unhandled rejection.
    answer.catch(() => undefined)
  }
}
