import { createInterface } from 'node:readline/promises'

/** The streams of a question: where the answer is read, and where the question is written. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/** Asks a question. Only `y` and `yes` agree; Ctrl-C, Ctrl-D and the end of the input do not. */
export async function confirm(question: string, streams: PromptStreams): Promise<boolean> {
  const prompt = createInterface({ ...streams, terminal: true })
  // Ctrl-C, Ctrl-D and the end of the input close the prompt.
  const closed = new Promise<undefined>((resolve) => prompt.once('close', () => resolve(undefined)))
  const answered = prompt.question(`${question} [y/N] `).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'AbortError') return undefined
    throw error
  })
  try {
    const answer = await Promise.race([answered, closed])
    // What follows begins on its own line.
    if (answer === undefined) streams.output.write('\n')
    return /^y(?:es)?$/i.test((answer ?? '').trim())
  } finally {
    prompt.close()
  }
}
