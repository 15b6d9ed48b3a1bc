/** A response up to this size is sent in one piece, so its end is not tracked. */
const MAX_UNTRACKED_BYTES = 64 * 1024

/**
 * Follows a response to its end and calls `onEnd` once: when it was read completely, or when the client disconnects. On disconnect the
 * source stream is cancelled, so that it does not stay open without a reader.
 */
export function trackResponse(response: Response, signal: AbortSignal, onEnd: () => void): Response {
  const length = response.headers.get('content-length')
  if (response.body === null || (length !== null && Number(length) <= MAX_UNTRACKED_BYTES)) {
    onEnd()
    return response
  }
  const reader = response.body.getReader()
  let hasEnded = false
  const end = () => {
    if (hasEnded) return
    hasEnded = true
    signal.removeEventListener('abort', cancelOnAbort)
    onEnd()
  }
  const cancel = async (reason: unknown): Promise<void> => {
    end()
    await reader.cancel(reason)
  }
  // The client has disconnected, so an error while cancelling is ignored.
  const cancelOnAbort = () => void cancel(signal.reason).catch(() => undefined)
  signal.addEventListener('abort', cancelOnAbort)
  if (signal.aborted) cancelOnAbort()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          end()
          controller.close()
        } catch (error) {
          end()
          throw error
        }
      },
      cancel,
    },
    // A high-water mark of 0 reads nothing before the client can take it.
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}
