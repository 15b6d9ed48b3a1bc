import type { Command } from 'commander'
import type { Streams } from './terminal.ts'

/** Adds a command to the program. */
export type AddVerb = (program: Command, streams: Streams) => void
