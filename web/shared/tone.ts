/** The meaning that sets the colour of a label. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet'
