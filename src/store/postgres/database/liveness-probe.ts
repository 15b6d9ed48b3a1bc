/** The liveness of a server session that has not responded: still active, gone, or unknown because nothing else responds either. */
export type Liveness = 'there' | 'gone' | 'unknown'

/** Consecutive unknown results after which the connection counts as lost; a busy machine may fail a single probe. */
const MAX_UNKNOWN_PROBES = 2

/**
 * Waits for a response. After each quiet period a probe checks whether the server still works on the query; if not, the connection counts
 * as lost.
 */
export async function withLivenessProbe<T>(
  response: Promise<T>,
  probeDelayMs: number,
  probe: () => Promise<Liveness>,
): Promise<T> {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  let unknownCount = 0
  const connectionLoss = new Promise<never>((_, reject) => {
    const runProbe = async (): Promise<void> => {
      const liveness = await probe()
      unknownCount = liveness === 'unknown' ? unknownCount + 1 : 0
      if (isOver) return
      if (liveness !== 'gone' && unknownCount < MAX_UNKNOWN_PROBES) scheduleProbe()
      else reject(new Error('Connection terminated: the server no longer responds'))
    }
    const scheduleProbe = (): void => {
      timer = setTimeout(runProbe, probeDelayMs)
    }
    scheduleProbe()
  })
  try {
    return await Promise.race([response, connectionLoss])
  } finally {
    isOver = true
    clearTimeout(timer)
    // A later failure of the abandoned response must not become an unhandled rejection.
    response.catch(() => undefined)
  }
}
