/** What is no larger is there already, goes out in one piece, and holds nothing open. */
const WHOLE_BYTES = 64 * 1024

/**
 * Follows an answer to its end, and tells once when that is: everything was taken, or whoever asked has left. What nobody will read
 * any more is not made either, so that a stream that is watched by nobody does not stay open.
 */
export function followAnswer(response: Response, signal: AbortSignal, onEnd: () => void): Response {
  const length = response.headers.get('content-length')
  if (response.body === null || (length !== null && Number(length) <= WHOLE_BYTES)) {
    onEnd()
    return response
  }
  const reader = response.body.getReader()
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', leave)
    onEnd()
  }
  const cancel = async (reason: unknown): Promise<void> => {
    end()
    await reader.cancel(reason)
  }
  // Whatever it says to that, nobody hears it.
  const leave = () => void cancel(signal.reason).catch(() => undefined)
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
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
    // Nothing is made before it can be sent.
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}
