/** The colour of a word or a dot. `limit` is a warning with an outline. */
export type Tone = 'good' | 'warn' | 'limit' | 'bad' | 'info' | 'quiet'
