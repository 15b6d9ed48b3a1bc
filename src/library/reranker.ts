/** Judges how well texts answer a question, better than words and vectors can, and more slowly. */
export interface Reranker {
  /** For people: the model, or the service where it does not say. */
  readonly name: string
  /** Most texts that are judged at once. */
  readonly candidates: number
  /** How long an answer may be waited for, in milliseconds: after that the ranking before stands. */
  readonly budgetMs: number
  /** A number for each text, in their order: greater is better. What it measures is the matter of the model. */
  rerank(query: string, texts: readonly string[], signal?: AbortSignal): Promise<number[]>
}
