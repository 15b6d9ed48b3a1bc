import type { Command } from 'commander'
import { NEVER, parseEvery } from '../../library/refresh/schedule.ts'

/** The flag of the refresh schedule. */
export interface EveryFlags {
  /** An object, because the parser of the command line replaces null by an empty text. */
  readonly every?: {
    /** Null for never. */
    readonly ms: number | null
  }
}

/** Adds the flag that refreshes a source by itself. */
export function addEveryOption(command: Command, never: string): Command {
  return command.option(
    '--every <duration>',
    `crawl the source again by itself, this long after its last crawl, such as 12h, 1d or 2w: \`pharos serve\` or \`pharos refresh --due\` does so; ${never}`,
    (text: string) => ({ ms: parseEvery('--every', text) }),
  )
}

/** The interval in the body of a request. */
export function everyBody({ every }: EveryFlags): { readonly every?: string } {
  return every === undefined ? {} : { every: every.ms === null ? NEVER : `${every.ms}ms` }
}
