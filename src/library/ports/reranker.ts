/** Judges how well texts answer a question, better but more slowly than words and vectors. */
export interface Reranker {
  /** Display name: the model, or the service if it names none. */
  readonly name: string
  /** Maximum number of texts judged at once. */
  readonly candidates: number
  /** Timeout in milliseconds, after which the previous ranking stands. */
  readonly budgetMs: number
  /** Returns a number for each text, in order: higher is better. The scale depends on the model. */
  rerank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]>
}
