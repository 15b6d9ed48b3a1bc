import { createInterface } from 'node:readline/promises'

/** The streams of a question: where the answer is read, and where the question is written. */
export interface PromptStreams {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}

/** Asks a question. Only `y` and `yes` agree; Ctrl-C, Ctrl-D and the end of the input do not. */
export async function confirm(question: string, streams: PromptStreams): Promise<boolean> {
  const prompt = createInterface({ ...streams, terminal: true })
  try {
    const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')))
    return /^y(?:es)?$/i.test((await Promise.race([prompt.question(`${question} [y/N] `), closed])).trim())
  } catch (error) {
    // Ctrl-C or Ctrl-D instead of an answer.
    if (error instanceof Error && error.name === 'AbortError') return false
    throw error
  } finally {
    prompt.close()
  }
}
