/** How something is meant. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet'
