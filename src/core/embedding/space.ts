import { sha256 } from '../hash.ts'
import { TEXT_RECIPE } from './embedded-text.ts'
import { MAX_TOKENS, MODEL_DIMENSIONS, MODEL_FILES, MODEL_NAME } from './model.ts'

/** Identifies the model and settings of vectors. Vectors of different spaces cannot be compared. */
export interface VectorSpace {
  /** Name of the model that users see. */
  readonly model: string
  /** SHA-256 over the model and everything else that affects the vector of a text. */
  readonly fingerprint: string
  readonly dimensions: number
}

/** The vector space of the built-in model. */
export const BUILT_IN_SPACE: VectorSpace = {
  model: MODEL_NAME,
  fingerprint: sha256([...Object.values(MODEL_FILES), `mean of at most ${MAX_TOKENS} tokens`, TEXT_RECIPE].join('\n')),
  dimensions: MODEL_DIMENSIONS,
}
